//! A webhook body to a decision: what the four paths do.

use super::envelope::{self, EnvelopeError, Request};
use super::{Decision, PodRequest, Stage, decide_object, decide_pod};
use crate::rules::{Event, Finding, ObjectContext, Severity, check_object, checks_kind};
use crate::snapshot::{Mode, Snapshot};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A webhook entry, by its path. The mode is the entry's, which the API server matched by the namespace's
/// label; what a cache believes has no part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// `/mutate`: patches pods of enforcing namespaces.
    Mutate,
    /// `/validate`: judges the final pods of enforcing namespaces.
    Validate,
    /// `/audit`: tells about pods of auditing namespaces; changes and denies nothing.
    Audit,
    /// `/validate-object`: judges network objects and profiles, in this mode.
    Object(Mode),
}

/// A decision and the request it answers.
#[derive(Debug)]
pub struct Outcome {
    /// `uid` of the request.
    pub uid: String,
    /// Entry that was called.
    pub entry: Entry,
    /// What is decided. Out of scope where the request is none of the entry's business.
    pub decision: Decision,
}

/// Decides on the body of an AdmissionReview.
///
/// # Errors
/// [`EnvelopeError`] when the body is no request that can be answered.
pub fn handle(body: &[u8], entry: Entry, snapshot: &Snapshot) -> Result<Outcome, EnvelopeError> {
    let request = envelope::parse(body)?;
    let decision = match entry {
        Entry::Mutate => pod(&request, Stage::Mutate, Mode::Enforce, snapshot)?,
        Entry::Validate => pod(&request, Stage::Final, Mode::Enforce, snapshot)?,
        Entry::Audit => pod(&request, Stage::Whole, Mode::Audit, snapshot)?,
        Entry::Object(mode) => object(&request, mode, snapshot)?,
    };
    Ok(Outcome { uid: request.uid.to_string(), entry, decision })
}

fn pod(
    request: &Request<'_>,
    stage: Stage,
    mode: Mode,
    snapshot: &Snapshot,
) -> Result<Decision, EnvelopeError> {
    let kind = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    if kind != ("", "Pod") || &*request.operation != "CREATE" || !whole {
        return Ok(Decision::default());
    }
    let object = request.object.ok_or(EnvelopeError::NoObject)?;
    let namespace = request.namespace.as_deref().unwrap_or("default");
    let pod = PodRequest {
        json: object.get(),
        namespace,
        stage,
        mode,
        opted_in: true,
        profile: None,
        tenant_view: true,
        ranks_over_ssh: false,
        gang: None,
    };
    let mut decision = decide_pod(pod, snapshot).map_err(EnvelopeError::Object)?;
    if stage != Stage::Mutate {
        // A validating answer must not carry a patch (k8s.io/apiserver webhook/request/admissionreview.go).
        decision.patch.clear();
    }
    Ok(decision)
}

#[derive(Default, Deserialize)]
struct ObjectShape<'a> {
    #[serde(default)]
    metadata: Option<ObjectMeta>,
    #[serde(borrow, default)]
    spec: Option<&'a serde_json::value::RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMeta {
    #[serde(default)]
    deletion_timestamp: Option<IgnoredAny>,
}

fn object(request: &Request<'_>, mode: Mode, snapshot: &Snapshot) -> Result<Decision, EnvelopeError> {
    let (group, kind) = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    if !checks_kind(group, kind) || !whole {
        return Ok(Decision::default());
    }
    let context = |json, event| ObjectContext::new((group, kind), json, event, snapshot);
    match (&*request.operation, request.old_object) {
        ("CREATE" | "UPDATE", _) => {}
        ("DELETE", Some(old)) => return Ok(decide_object(&context(old.get(), Event::Deleted), mode)),
        _ => return Ok(Decision::default()),
    }
    let new = request.object.ok_or(EnvelopeError::NoObject)?;
    let old = request.old_object;
    let shape: ObjectShape<'_> = super::decode::object(new.get()).map_err(EnvelopeError::Object)?;
    // Nobody mends an object that goes away, and its finalizers must be able to leave.
    if shape.metadata.is_some_and(|m| m.deletion_timestamp.is_some()) {
        return Ok(Decision::default());
    }
    let Some(old) = old else {
        return Ok(decide_object(&context(new.get(), Event::Given), mode));
    };
    let before: ObjectShape<'_> = super::decode::object(old.get()).unwrap_or_default();
    if before.spec.map(serde_json::value::RawValue::get) == shape.spec.map(serde_json::value::RawValue::get) {
        return Ok(Decision::default());
    }
    let known = check_object(&context(old.get(), Event::Given));
    let mut decision = decide_object(&context(new.get(), Event::Updated { old: old.get() }), mode);
    ratchet(&mut decision, &known);
    Ok(decision)
}

/// An update is refused for what it brings, not for what was there already.
fn ratchet(decision: &mut Decision, known: &[Finding]) {
    let was_there =
        |f: &Finding| known.iter().any(|k| k.rule == f.rule && k.path == f.path && k.message == f.message);
    let errors = decision.findings.iter().filter(|f| f.severity == Severity::Error);
    if errors.clone().count() > 0 && errors.clone().all(was_there) {
        decision.denied = false;
        decision.would_deny = false;
    }
}
