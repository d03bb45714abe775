//! Decides on an object that makes pods: each of its templates as a pod would be, and all of them together.

use super::decide_pod::ExaminedPod;
use super::group_equal_templates_and_limit_work::{Pods, TemplateGroups};
use super::template_progress::{SeenTemplate, State};
use super::workload_request::{WorkloadDecision, WorkloadRequest, gang_of};
use super::{
    Decision, PodRequest, ScopeOfParts, Stage, findings_on_variables_of_mpi_launcher,
    lower_severities_then_sort_and_judge, workloads_without_template,
};
use crate::json::annotations_of_object::AnnotationsOfObject;
use crate::json::decode_with_place::DecodeError;
use crate::json::types_of_decoded_fields::optional_struct;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::limits_and_costs_of_pods::MAX_CHECKED_VALUES;
use crate::pod::limits_of_template_search::{MAX_TEMPLATES, PartNotSearched};
use crate::pod::pod_fields::Metadata;
use crate::pod::templates_by_shape::{self, DevShm, PodCreator, Template};
use crate::pod::workload_kinds::{self, WherePodsAre};
use crate::profile::Ignorable;
use crate::rules::which_findings_annotations_ignore::{
    HowFarFindingsMayBeIgnored, set_aside_ignored_findings,
};
use crate::rules::{Finding, NotChecked, WorkloadContext, WorkloadTemplate, run_rules_on_workload};
use crate::snapshot::Snapshot;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is decided on a workload.
pub(super) struct DecisionsOnTemplates<'a, T> {
    /// Templates, each with the result for it.
    pub(super) decided: Vec<(Template<'a>, Result<T, DecodeError>)>,
    /// The decision on the object itself.
    pub(super) own: Option<Decision>,
    /// The first part of the object that a limit of the search for templates leaves out.
    not_searched: Option<PartNotSearched<'a>>,
}

/// Decides on a workload. Templates of a kind that nobody knows are found by their shape.
#[must_use]
pub fn decide_workload<'a>(request: WorkloadRequest<'a>, snapshot: &Snapshot) -> WorkloadDecision<'a> {
    let limits = TemplateLimits { writes_patches: true, most_checked: MAX_CHECKED_VALUES };
    let all = decide_templates_and_workload(request, snapshot, limits, |decision| decision);
    let not_searched = all.not_searched.map(template_that_cannot_be_read);
    WorkloadDecision { templates: all.decided.into_iter().chain(not_searched).collect(), own: all.own }
}

/// A part that is not searched, as a template that cannot be read.
fn template_that_cannot_be_read(part: PartNotSearched<'_>) -> (Template<'_>, Result<Decision, DecodeError>) {
    let template = Template {
        pointer: part.pointer,
        json: part.json,
        pods: None,
        role: String::new(),
        maker: PodCreator::default(),
        suspended: false,
        dev_shm: DevShm::AsWritten,
    };
    (template, Err(DecodeError { pointer: String::new(), message: part.limit.to_string() }))
}

/// Values in the templates of a training runtime above which no further one is checked. A short TrainJob asks for this check up to four
/// times.
const MAX_CHECKED_IN_RUNTIME: usize = 4_000;

/// The same without plans and patches, for whoever reads the findings only.
fn decide_workload_without_plans<'a>(
    request: WorkloadRequest<'a>,
    snapshot: &Snapshot,
) -> WorkloadDecision<'a> {
    let limits = TemplateLimits { writes_patches: false, most_checked: MAX_CHECKED_IN_RUNTIME };
    let all = decide_templates_and_workload(request, snapshot, limits, Decision::without_plan_and_patch);
    WorkloadDecision { templates: all.decided, own: all.own }
}

/// What is done with the templates of a workload.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemplateLimits {
    /// Whether there are any patches.
    pub(super) writes_patches: bool,
    /// Values in different templates above which no further template is checked; at most [`MAX_CHECKED_VALUES`].
    pub(super) most_checked: usize,
}

/// Decides on a workload, and turns the decision on each template into a result as soon as it is made: the plans and
/// patches of all templates together are many times the size of the object.
pub(super) fn decide_templates_and_workload<'a, T: Clone>(
    request: WorkloadRequest<'a>,
    snapshot: &Snapshot,
    TemplateLimits { writes_patches, most_checked }: TemplateLimits,
    result: impl Fn(Decision) -> T,
) -> DecisionsOnTemplates<'a, T> {
    let (mut templates, not_searched) =
        templates_by_shape::find_templates_within_deadline(request.json, request.deadline);
    // Offline, the part is an error of the input.
    let part = not_searched.as_ref().filter(|_| !writes_patches);
    let unseen = UnseenTemplates {
        too_many: templates.len() > MAX_TEMPLATES,
        part,
        not_checked: None,
        reports_unread: !writes_patches,
    };
    templates.truncate(MAX_TEMPLATES);
    let gangs = gangs(request, &templates);
    let for_several = (templates.len() > 1).then(|| snapshot.sharing_answers_between_pods());
    let snapshot = for_several.as_ref().unwrap_or(snapshot);
    let in_time = || !request.deadline.is_over();
    let pods = Pods::read_each_text_once(&templates, in_time);
    let mut groups = TemplateGroups::new(most_checked, result);
    let seen = templates.iter().zip(pods.iter()).take_while(|_| in_time()).map(|(template, pod)| {
        let gang = gangs.get(template.maker.pointer.as_str()).and_then(Option::as_ref);
        let of_pod =
            PodRequest { writes_patch: writes_patches, ..request.pod_request_of_template(template, gang) };
        let (number, state) = groups.examine_and_limit_new_template(pod, of_pod, snapshot);
        (number, SeenTemplate { template, pod: pod.1, gang, state })
    });
    let (numbers, seen): (Vec<usize>, Vec<SeenTemplate<'_>>) = seen.unzip();
    let own = decide_workload_itself(request, (&seen, unseen), snapshot);
    // The states are in use no more.
    let seen: Vec<_> = seen.into_iter().map(|s| (s.template, s.pod, s.gang)).collect();
    let decisions = numbers.into_iter().zip(seen).take_while(|_| in_time());
    let decisions = decisions.map(|(number, (template, pod, gang))| match pod {
        Err(error) => Some(Err(error.clone())),
        Ok(_) => groups.decide_group_once(number, request.pod_request_of_template(template, gang)).map(Ok),
    });
    // A template that is not checked has no decision: FAB820 names the first one, and counts them.
    let decisions: Vec<Option<Result<T, DecodeError>>> = decisions.collect();
    drop(groups);
    drop(pods);
    let decided = templates.into_iter().zip(decisions);
    let decided = decided.filter_map(|(template, decision)| Some((template, decision?))).collect();
    DecisionsOnTemplates { decided, own, not_searched }
}

/// The same for each object that makes pods, by its pointer.
fn gangs(
    request: WorkloadRequest<'_>,
    templates: &[Template<'_>],
) -> BTreeMap<String, Option<MultiNodeEvidence>> {
    let mut gangs = BTreeMap::new();
    for template in templates.iter().take_while(|_| !request.deadline.is_over()) {
        let pointer = &template.maker.pointer;
        if !gangs.contains_key(pointer) {
            gangs.insert(pointer.clone(), gang_of(request, template));
        }
    }
    gangs
}

/// Which templates of an object nobody looks at.
#[derive(Clone, Copy)]
struct UnseenTemplates<'a> {
    /// Whether the object has more than [`MAX_TEMPLATES`].
    too_many: bool,
    /// The first part that the search leaves out.
    part: Option<&'a PartNotSearched<'a>>,
    /// What else is not checked.
    not_checked: Option<&'a NotChecked>,
    /// Whether nothing else reports a template that cannot be read.
    reports_unread: bool,
}

impl UnseenTemplates<'_> {
    /// Whether all that makes pods may be unseen.
    fn may_be_all(self) -> bool {
        self.part.is_some() || self.not_checked.is_some()
    }
}

/// What is said of the object itself.
fn decide_workload_itself(
    request: WorkloadRequest<'_>,
    (seen, unseen): (&[SeenTemplate<'_>], UnseenTemplates<'_>),
    snapshot: &Snapshot,
) -> Option<Decision> {
    let holds = workload_kinds::find_workload_kind(request.group, request.kind)
        .map_or(WherePodsAre::Templates, |kind| kind.holds);
    let has_parts = holds != WherePodsAre::Templates;
    let (mut looked, mut findings) = match has_parts {
        true => workloads_without_template::findings(request, holds, snapshot, decide_workload_without_plans),
        false => (ScopeOfParts::default(), Vec::new()),
    };
    let not_checked = looked.not_checked.take();
    let unseen = UnseenTemplates { not_checked: not_checked.as_ref(), ..unseen };
    let unread = unseen.reports_unread && seen.iter().any(|s| s.pod.is_err());
    let examined = || seen.iter().filter_map(SeenTemplate::examined_if_may_get_profile);
    looked.any |= seen.iter().any(|s| !matches!(s.state, State::Unseen));
    // Nobody knows what a template that is not checked asks for.
    let incomplete = unseen.too_many || unseen.may_be_all() || unread;
    let unchecked = incomplete || seen.iter().any(|s| matches!(s.state, State::Unchecked));
    looked.any |= incomplete;
    looked.of_profile |= unchecked || examined().next().is_some();
    let mut suppressed = Vec::new();
    if looked.of_profile || !findings.is_empty() {
        findings.extend(check_workload_rules_of_each_maker(request, (seen, unseen), snapshot));
        findings.extend(findings_on_variables_of_mpi_launcher::findings(request, seen, snapshot));
        // An error of several templates is let go where the profile of each does.
        let limits = examined().map(ExaminedPod::limit_of_ignored_findings);
        let limit = limits.min_by_key(|l| l.ignorable == Ignorable::Errors);
        let limit = limit.unwrap_or(HowFarFindingsMayBeIgnored {
            ignorable: snapshot.settings().ignorable,
            profile: None,
        });
        suppressed = set_aside_ignored_findings(
            AnnotationsOfObject::read_or_empty(request.json).iter(),
            limit,
            &mut findings,
            request.deadline,
        );
    }
    if findings.is_empty() && suppressed.is_empty() && !has_parts {
        return None;
    }
    let rules_only = looked.any && !looked.of_profile;
    let mut decision =
        Decision { in_scope: looked.any, rules_only, findings, suppressed, ..Decision::default() };
    lower_severities_then_sort_and_judge(&mut decision, Stage::Whole, request.mode, request.opted_in);
    Some(decision)
}

/// The head of an object.
#[derive(Deserialize)]
struct Headed<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<Metadata<'a>>,
}

/// What the rules on workloads say of each object that makes pods.
fn check_workload_rules_of_each_maker(
    request: WorkloadRequest<'_>,
    (seen, unseen): (&[SeenTemplate<'_>], UnseenTemplates<'_>),
    snapshot: &Snapshot,
) -> Vec<Finding> {
    type Made<'a> = (PodCreator<'a>, Option<&'a MultiNodeEvidence>, Vec<WorkloadTemplate<'a>>);
    let mut makers: BTreeMap<&str, Made<'_>> = BTreeMap::new();
    let mut unread: BTreeMap<&str, (&str, &DecodeError)> = BTreeMap::new();
    let last = seen.last().filter(|_| unseen.too_many).map(|s| s.template.maker.pointer.as_str());
    let whole = || {
        let (group, kind) = (request.group.to_owned(), request.kind.to_owned());
        PodCreator { pointer: String::new(), group, kind, json: request.json }
    };
    for one in seen {
        let SeenTemplate { template, pod, gang, .. } = one;
        let pointer = template.maker.pointer.as_str();
        if let Err(error) = pod {
            if unseen.reports_unread {
                unread.entry(pointer).or_insert((template.pointer.as_str(), error));
            } else if last != Some(pointer) {
                continue;
            }
        }
        let maker = || match template.maker.kind.as_str() {
            "" => whole(),
            _ => template.maker.clone(),
        };
        let (_, _, views) = makers.entry(pointer).or_insert_with(|| (maker(), *gang, Vec::new()));
        let Ok(pod) = pod else { continue };
        views.push(WorkloadTemplate {
            pointer: &template.pointer,
            role: &template.role,
            pods: template.pods,
            pod,
            asked: one.examined_if_still_compared().and_then(ExaminedPod::view_for_workload_rules),
            compared: !matches!(one.state, State::Judged | State::Unchecked),
            checked: !matches!(one.state, State::Unchecked),
        });
    }
    // What is left out may be all that makes pods.
    if unseen.may_be_all() {
        makers.entry("").or_insert_with(|| (whole(), None, Vec::new()));
    }
    let mut findings = Vec::new();
    // The templates that nobody looks at may ask for a fabric, although those before them do not.
    let asked = |(maker, _, views): &&Made<'_>| {
        last == Some(maker.pointer.as_str())
            || maker.pointer.is_empty() && unseen.may_be_all()
            || unread.contains_key(maker.pointer.as_str())
            || views.iter().any(|v| v.asked.is_some() || !v.compared)
    };
    for (maker, gang, templates) in makers.values().filter(asked).take_while(|_| !request.deadline.is_over())
    {
        // The API server refuses a value that is not a mapping.
        let metadata = crate::json::reader::read::<Headed<'_>>(maker.json).ok().and_then(|h| h.metadata);
        findings.extend(run_rules_on_workload(&WorkloadContext {
            deadline: request.deadline,
            maker,
            metadata: metadata.as_ref(),
            gang: *gang,
            namespace: request.namespace,
            namespace_facts: snapshot.namespace(request.namespace),
            templates,
            incomplete: last == Some(maker.pointer.as_str()),
            not_searched: unseen.part.filter(|_| maker.pointer.is_empty()),
            not_checked: unseen.not_checked.filter(|_| maker.pointer.is_empty()),
            unread: unread.get(maker.pointer.as_str()).copied(),
            snapshot,
        }));
    }
    findings
}
