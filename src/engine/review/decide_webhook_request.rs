//! A webhook body to a decision: what the paths do.

use super::admission_review::{self, Request, RequestError};
use super::decide_pod::decide_decoded_pod;
pub use super::join_template_decisions::TemplateOutcome;
use super::join_template_decisions::WholeWorkload;
use super::names_in_metadata::{Named, ObjectMeta};
pub use super::snapshot_for_audience::SnapshotForAudience;
use super::{
    Decision, PodRequest, RequestNames, Stage, WorkloadRequest,
    decide_object_that_makes_no_pods::decide_object_that_makes_no_pods, decide_update_of_pod_networks,
    lower_severities_then_sort_and_judge, only_new_findings_of_updates_count, workloads_without_template,
};
use crate::decision_limits::DecisionLimits;
use crate::facts::EnforcementMode;
use crate::pod::PodView;
use crate::pod::pod_fields::TextOfPod;
use crate::pod::prescan_for_fabric_signs::may_have_fabric_signs;
use crate::pod::workload_kinds;
use crate::rules::{
    Finding, ObjectContext, ObjectEvent, does_any_object_rule_run_on_kind, run_rules_on_object,
};
use crate::snapshot::{Audience, Snapshot};

/// A webhook entry, by its path. The mode is the entry's, which the API server matched by the namespace's
/// label; what a cache believes has no part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookEntry {
    /// `/mutate`: patches pods of enforcing namespaces.
    Mutate,
    /// `/validate`: judges the final pods of enforcing namespaces.
    Validate,
    /// `/audit`: reports on pods and workloads of namespaces in mode `audit`; changes and denies nothing.
    Audit,
    /// `/validate-workload`: judges what makes pods, in this mode.
    Workload(EnforcementMode),
    /// `/validate-networks`: judges the networks of stored pods of enforcing namespaces whose annotations change.
    Networks,
    /// `/validate-object`: judges network objects and profiles, in this mode.
    Object(EnforcementMode),
}

/// A decision and the request it answers.
#[derive(Debug)]
pub struct Answer {
    /// `uid` of the request.
    pub uid: String,
    /// WebhookEntry that was called.
    pub entry: WebhookEntry,
    /// Namespace as the request names it; empty for an object of the cluster, and for one out of scope.
    pub namespace: String,
    /// Who asked for what; `None` for a request out of scope, of which the log says nothing unless it is asked to.
    pub names: Option<RequestNames>,
    /// Whether changes are reported only, and none is made.
    pub withheld: bool,
    /// What is decided. Out of scope where the request is none of the entry's business.
    pub decision: Decision,
    /// Pod templates of a workload; empty for a pod. The decision's findings are those of all of them.
    pub templates: Vec<TemplateOutcome>,
}

/// Decides on the body of an AdmissionReview that anyone may have sent.
///
/// # Errors
/// [`RequestError`] when the body is not a request that can be answered.
pub fn decide_body_for_anyone(
    body: &[u8],
    entry: WebhookEntry,
    snapshot: &Snapshot,
) -> Result<Answer, RequestError> {
    decide_body_within_deadline(
        body,
        entry,
        SnapshotForAudience { snapshot, audience: Audience::Anyone },
        &DecisionLimits::without_clock(),
    )
}

/// The same for an audience, under a time limit.
///
/// # Errors
/// [`RequestError`], also when the time is over before the decision is complete.
pub fn decide_body_within_deadline(
    body: &[u8],
    entry: WebhookEntry,
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Answer, RequestError> {
    let DecisionAndRequestNames { uid, namespace, names, decision, templates } = match entry {
        WebhookEntry::Mutate => decide_pod_of_body(body, Stage::Mutate, known, deadline)?,
        WebhookEntry::Validate => decide_pod_of_body(body, Stage::Final, known, deadline)?,
        WebhookEntry::Audit => decide_audited_pod_or_workload(body, known, deadline)?,
        WebhookEntry::Workload(mode) => {
            parse_body_and_decide(body, |request| decide_change_of_workload(request, mode, known, deadline))?
        }
        WebhookEntry::Networks => parse_body_and_decide(body, |request| {
            Ok((
                decide_update_of_pod_networks::decide_update_of_pod_networks(request, known, deadline)?,
                Vec::new(),
            ))
        })?,
        WebhookEntry::Object(mode) => parse_body_and_decide(body, |request| {
            Ok((decide_change_of_object(request, mode, known, deadline)?, Vec::new()))
        })?,
    };
    // A decision that was cut short is incomplete: a finding that refuses the object may be missing.
    if deadline.is_over() {
        return Err(RequestError::Late);
    }
    let withheld = entry == WebhookEntry::Audit || known.snapshot.settings().withhold_changes;
    Ok(Answer { uid, entry, namespace, names, withheld, decision, templates })
}

/// Answers a request that an entry has no part in because a setting switches it off: no object is looked at.
///
/// # Errors
/// [`RequestError`] when the body is not a request that can be answered.
pub fn admit_without_decision(body: &[u8], entry: WebhookEntry) -> Result<Answer, RequestError> {
    let uid = admission_review::parse(body)?.uid.to_string();
    let decision = Decision::default();
    let (namespace, names, templates) = (String::new(), None, Vec::new());
    Ok(Answer { uid, entry, namespace, names, withheld: true, decision, templates })
}

/// A decision, with those on the templates of a workload.
type Decided = (Decision, Vec<TemplateOutcome>);

/// A decision, and what the answer needs of the request.
struct DecisionAndRequestNames {
    uid: String,
    namespace: String,
    names: Option<RequestNames>,
    decision: Decision,
    templates: Vec<TemplateOutcome>,
}

impl DecisionAndRequestNames {
    fn new<O: Named>(request: &Request<'_, O>, (decision, templates): Decided) -> Self {
        // Requests out of scope are the most, and nothing counts them by namespace.
        let namespace = request.namespace.as_deref().filter(|_| decision.in_scope);
        let namespace = namespace.unwrap_or_default().to_owned();
        let names = decision.in_scope.then(|| RequestNames::of(request));
        Self { uid: request.uid.to_string(), namespace, names, decision, templates }
    }
}

/// The decision on a request.
fn parse_body_and_decide(
    body: &[u8],
    decide: impl FnOnce(&Request<'_>) -> Result<Decided, RequestError>,
) -> Result<DecisionAndRequestNames, RequestError> {
    let request = admission_review::parse(body)?;
    let decided = decide(&request)?;
    Ok(DecisionAndRequestNames::new(&request, decided))
}

/// The same for a pod of an enforcing namespace, which is most often read in one pass with the request.
fn decide_pod_of_body(
    body: &[u8],
    stage: Stage,
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<DecisionAndRequestNames, RequestError> {
    let stage = (stage, EnforcementMode::Enforce);
    let text = admission_review::text(body)?;
    // A sign anywhere in the body may be one of the pod.
    let signs = may_have_fabric_signs(text);
    if let Some(found) =
        signs.then(|| decide_pod_read_with_request(text, stage, known, deadline)).transpose()?.flatten()
    {
        return Ok(found);
    }
    parse_body_and_decide(body, |request| match signs {
        true => Ok((decide_undecoded_pod(request, stage, known, deadline)?, Vec::new())),
        false => created_pod(request).map(|_| Decided::default()),
    })
}

/// The decision on a pod that is read together with its request; `None` where that does not succeed, or where the object is
/// not a pod.
fn decide_pod_read_with_request(
    text: &str,
    stage: (Stage, EnforcementMode),
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Option<DecisionAndRequestNames>, RequestError> {
    let request = admission_review::parse_with_pod(text).filter(is_for_pod);
    let Some(mut request) = request else { return Ok(None) };
    if let Some(pod) = &mut request.object {
        // Reading it again says why it is refused.
        if pod.has_too_many_entries_of_resources() {
            return Ok(None);
        }
        pod.source = TextOfPod::Review(text);
    }
    let created = created_pod(&request)?;
    let decision = created.map(|pod| decide_created_pod(pod, request.namespace(), stage, known, deadline));
    Ok(Some(DecisionAndRequestNames::new(&request, (decision.unwrap_or_default(), Vec::new()))))
}

/// Whether a request is for a pod.
fn is_for_pod<O>(request: &Request<'_, O>) -> bool {
    (&*request.kind.group, &*request.kind.kind) == ("", "Pod")
}

/// The same for a pod or a workload of an auditing namespace.
fn decide_audited_pod_or_workload(
    body: &[u8],
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<DecisionAndRequestNames, RequestError> {
    let stage = (Stage::Whole, EnforcementMode::Audit);
    let text = admission_review::text(body)?;
    // The API server writes the kind so. What is read here as a pod and is none is read again.
    let pod = text.contains(r#""kind":"Pod""#) && may_have_fabric_signs(text);
    if let Some(found) =
        pod.then(|| decide_pod_read_with_request(text, stage, known, deadline)).transpose()?.flatten()
    {
        return Ok(found);
    }
    parse_body_and_decide(body, |request| match is_for_pod(request) {
        true => Ok((decide_undecoded_pod(request, stage, known, deadline)?, Vec::new())),
        false => decide_change_of_workload(request, EnforcementMode::Audit, known, deadline),
    })
}

/// A decision on a pod that is not decoded yet.
fn decide_undecoded_pod(
    request: &Request<'_>,
    stage: (Stage, EnforcementMode),
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Decision, RequestError> {
    let object = created_pod(request)?.filter(|object| may_have_fabric_signs(object.get()));
    let Some(object) = object else { return Ok(Decision::default()) };
    let pod = PodView::read(object.get()).map_err(RequestError::Object)?;
    Ok(decide_created_pod(&pod, request.namespace(), stage, known, deadline))
}

/// The pod that a request creates; `None` where the request does something else.
fn created_pod<'r, O>(request: &'r Request<'_, O>) -> Result<Option<&'r O>, RequestError> {
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    if !is_for_pod(request) || &*request.operation != "CREATE" || !whole {
        return Ok(None);
    }
    request.object.as_ref().map(Some).ok_or(RequestError::NoObject)
}

/// A decision on a pod that is to be created.
fn decide_created_pod(
    pod: &PodView<'_>,
    namespace: &str,
    (stage, mode): (Stage, EnforcementMode),
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Decision {
    let snapshot = &known.seen_from_namespace(namespace);
    let withheld = snapshot.settings().withhold_changes;
    let stage = match stage {
        // The pod comes without its changes. What it would be with them is judged, so that it is refused only if it would
        // be refused anyway.
        Stage::Final if withheld => Stage::Whole,
        stage => stage,
    };
    let request = PodRequest { stage, mode, deadline, ..PodRequest::in_enforcing_namespace(namespace) };
    let mut decision = decide_decoded_pod(pod, request, snapshot);
    if stage != Stage::Mutate || withheld {
        // A validating answer must not carry a patch (k8s.io/apiserver webhook/request/admissionreview.go).
        decision.patch.clear();
    }
    decision
}

fn decide_change_of_object(
    request: &Request<'_>,
    mode: EnforcementMode,
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Decision, RequestError> {
    let (group, kind) = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    if !does_any_object_rule_run_on_kind(group, kind) || !whole {
        return Ok(Decision::default());
    }
    let namespace = request.namespace.as_deref().filter(|namespace| !namespace.is_empty());
    let snapshot = &known.snapshot.seen_from_object(namespace, known.audience);
    let context = |json, event| {
        ObjectContext::new((group, kind), json, event, snapshot)
            .already_checked_by_api_server()
            .with_deadline(deadline)
    };
    match (&*request.operation, request.old_object) {
        ("CREATE" | "UPDATE", _) => {}
        ("DELETE", Some(old)) => {
            return Ok(decide_object_that_makes_no_pods(&context(old.get(), ObjectEvent::Deleted), mode));
        }
        _ => return Ok(Decision::default()),
    }
    let new = request.object.ok_or(RequestError::NoObject)?.get();
    let old = request.old_object.map(serde_json::value::RawValue::get);
    if !only_new_findings_of_updates_count::changes_more_than_metadata_and_status(new, old)
        .map_err(RequestError::Object)?
    {
        return Ok(Decision::default());
    }
    let Some(old) = old else {
        return Ok(decide_object_that_makes_no_pods(&context(new, ObjectEvent::Given), mode));
    };
    let mut decision = decide_object_that_makes_no_pods(&context(new, ObjectEvent::Updated { old }), mode);
    let whole = [String::new()];
    let version = |json| only_new_findings_of_updates_count::Version { json, parts: &whole };
    let below = |findings: Vec<Finding>| findings.into_iter().map(|f| (0, f)).collect::<Vec<_>>();
    let mut findings = below(std::mem::take(&mut decision.findings));
    let reported = below(run_rules_on_object(&context(old, ObjectEvent::Given)));
    let known = only_new_findings_of_updates_count::FindingsBeforeUpdate { reported, ..Default::default() };
    only_new_findings_of_updates_count::keep_new(&mut findings, &known, version(new), version(old));
    decision.findings = findings.into_iter().map(|(_, finding)| finding).collect();
    lower_severities_then_sort_and_judge(&mut decision, Stage::Final, mode, true);
    Ok(decision)
}

/// Whether a controller says that it created the object from a workload that is reviewed itself: the user has seen its
/// findings there. Anyone may write such a reference, so it only spares warnings that nobody reads.
fn owned_by_reviewed(json: &str) -> bool {
    ObjectMeta::of(json).controller().is_some_and(|owner| {
        let group = owner.api_version.as_deref().and_then(|v| v.split_once('/')).map_or("", |(g, _)| g);
        let kind = owner.kind.as_deref().unwrap_or_default();
        workload_kinds::find_workload_kind(group, kind).is_some_and(|kind| kind.judged)
    })
}

fn decide_change_of_workload(
    request: &Request<'_>,
    mode: EnforcementMode,
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Decided, RequestError> {
    let nothing = Decided::default();
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    // An object without a namespace has not opted in.
    let Some(namespace) = request.namespace.as_deref().filter(|n| !n.is_empty() && whole) else {
        return Ok(nothing);
    };
    if !matches!(&*request.operation, "CREATE" | "UPDATE") {
        return Ok(nothing);
    }
    let new = request.object.ok_or(RequestError::NoObject)?.get();
    let old = request.old_object.map(serde_json::value::RawValue::get);
    let reported_before = mode == EnforcementMode::Audit && owned_by_reviewed(new);
    let (group, kind) = (&*request.kind.group, &*request.kind.kind);
    let changes = only_new_findings_of_updates_count::changes_more_than_metadata_and_status(new, old)
        .map_err(RequestError::Object)?
        || workloads_without_template::changes_annotation_of_pods(group, kind, new, old);
    if reported_before || !changes {
        return Ok(nothing);
    }
    let snapshot = &known.seen_from_namespace(namespace);
    let decide = |json, as_if_running, deadline| {
        let (opted_in, profile) = (true, None);
        let request = WorkloadRequest {
            group,
            kind,
            json,
            namespace,
            mode,
            opted_in,
            profile,
            as_if_running,
            deadline,
        };
        WholeWorkload::decide_all_templates(request, 1 + usize::from(old.is_some()), snapshot)
    };
    let mut whole = decide(new, false, deadline);
    // Without findings, there is nothing to compare.
    if let Some(old) = old.filter(|_| whole.has_findings_or_injections()) {
        // With looks of its own: an object that is not looked at in full counts as fitting every profile, and what is said
        // of the old object is not said of the new one.
        let deadline_of_old = deadline.for_another();
        whole.keep_new_findings_and_clear_injections(new, decide(old, true, &deadline_of_old), old);
        deadline.cut_short_if_over(&deadline_of_old);
    }
    Ok(whole.join_findings_and_set_verdict(mode))
}
