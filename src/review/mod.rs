//! The one way in: an object, a snapshot, a decision. The webhook, `review` and `audit` all come through
//! here, so what one says the others say.

pub mod decode;
pub mod envelope;
pub mod response;
pub mod webhook;

use crate::fabric::profile::Inject;
use crate::fabric::why::{Why, why};
use crate::fabric::{Because, Evidence, Profile, Question, Resolution, default_profile, resolve};
use crate::multus::{self, AnnotationError, Networks};
use crate::patch::{Operation, operations};
use crate::plan::overlay::Overlay;
use crate::plan::{Edit, GKE_DOMAIN, Plan, Scene, plan};
use crate::pod::gang::Gang;
use crate::pod::{Demands, PodView};
use crate::rules::{Finding, ObjectContext, PodContext, Severity, check_object, check_pod};
use crate::snapshot::{Mode, PROFILE_ANNOTATION, Snapshot};
use decode::DecodeError;
use std::sync::Arc;

/// At which point of admission a pod is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Offline, or in an audit namespace: the plan is laid over the pod, and the rules judge what comes out.
    Whole,
    /// The mutating webhook: as `Whole`, but only what no later webhook can mend is refused.
    Mutate,
    /// The validating webhook: the pod as it will be stored is judged as it is.
    Final,
}

/// A pod, or the template of one, to decide on.
#[derive(Debug, Clone, Copy)]
pub struct PodRequest<'a> {
    /// JSON text of the object that holds `metadata` and `spec`.
    pub json: &'a str,
    /// Namespace; never empty.
    pub namespace: &'a str,
    /// Point of admission.
    pub stage: Stage,
    /// Whether errors deny.
    pub mode: Mode,
    /// Whether the namespace opted in. Where it did not, the API server would not ask.
    pub opted_in: bool,
    /// A profile given on the command line.
    pub profile: Option<&'a Arc<Profile>>,
    /// Whether the answer goes to the pod's owner, who may not read other namespaces; false for operators.
    pub tenant_view: bool,
    /// Whether the workload around the template starts its ranks over ssh. The pods themselves carry labels
    /// that say so; a template does not yet.
    pub ranks_over_ssh: bool,
    /// Whether the workload around the template is for several pods that work together, where it says so.
    pub gang: Option<&'a Gang>,
}

/// What is decided on one object.
#[derive(Debug, Default)]
pub struct Decision {
    /// Whether the object asks for anything we look at.
    pub in_scope: bool,
    /// Name of the profile.
    pub profile: Option<String>,
    /// What named it, or why there is none, in a few words.
    pub evidence: Option<String>,
    /// Intended changes.
    pub plan: Plan,
    /// The same as RFC 6902 operations on the object.
    pub patch: Vec<Operation>,
    /// Findings, most severe first, then in the order of the rules.
    pub findings: Vec<Finding>,
    /// Whether the object is refused.
    pub denied: bool,
    /// Whether it would be refused in mode enforce, but is not in this one.
    pub would_deny: bool,
}

/// Tells how the profile of a pod was found, for people; `None` where the pod is out of scope.
///
/// # Errors
/// As [`decide_pod`].
pub fn why_pod(request: PodRequest<'_>, snapshot: &Snapshot) -> Result<Option<Why>, DecodeError> {
    let pod: PodView<'_> = decode::object(request.json)?;
    let demands = Demands::of(&pod, request.namespace, snapshot);
    if !in_scope(&pod, &demands, request, snapshot) {
        return Ok(None);
    }
    let networks = pod.annotation(multus::NETWORKS_ANNOTATION).and_then(|text| multus::parse(text).ok());
    Ok(Some(why(question(&pod, networks.as_ref(), request, &demands), snapshot)))
}

fn in_scope(pod: &PodView<'_>, demands: &Demands, request: PodRequest<'_>, snapshot: &Snapshot) -> bool {
    demands.any()
        || pod.annotation(PROFILE_ANNOTATION).is_some()
        || pod.annotation(multus::NETWORKS_ANNOTATION).is_some()
            && serves_networks(request.namespace, snapshot)
}

/// Whether pods of a namespace get what the networks need that they name, accelerators or not.
fn serves_networks(namespace: &str, snapshot: &Snapshot) -> bool {
    let default = default_profile(snapshot.namespace(namespace), snapshot);
    default.and_then(|(name, _)| snapshot.profile(name)).is_some_and(|p| p.inject == Inject::Networks)
}

fn question<'a>(
    pod: &'a PodView<'a>,
    networks: Option<&'a Networks<'a>>,
    request: PodRequest<'a>,
    demands: &Demands,
) -> Question<'a> {
    Question {
        pod,
        networks,
        namespace: request.namespace,
        flag: request.profile,
        accelerators: demands.whole(),
        gang: request.gang,
    }
}

/// Decides on a pod.
///
/// # Errors
/// [`DecodeError`] when a field has another type than the API gives it; the API server refuses such objects
/// before it asks us.
pub fn decide_pod(request: PodRequest<'_>, snapshot: &Snapshot) -> Result<Decision, DecodeError> {
    let pod: PodView<'_> = decode::object(request.json)?;
    let demands = Demands::of(&pod, request.namespace, snapshot);
    if !in_scope(&pod, &demands, request, snapshot) {
        return Ok(Decision::default());
    }
    let networks: Option<Result<Networks<'_>, AnnotationError>> =
        pod.annotation(multus::NETWORKS_ANNOTATION).map(multus::parse);
    let networks = networks.as_ref();
    let resolution =
        resolve(question(&pod, networks.and_then(|n| n.as_ref().ok()), request, &demands), snapshot);
    let namespace_facts = snapshot.namespace(request.namespace);
    let ranks_over_ssh = request.ranks_over_ssh || crate::pod::ranks::over_ssh(&pod);
    let scene = Scene {
        pod: &pod,
        demands: &demands,
        networks,
        namespace: request.namespace,
        namespace_facts,
        snapshot,
        ranks_over_ssh,
        pin: matches!(resolution.profile(), Some((_, Evidence::Priority))),
    };
    let plan = match resolution.profile() {
        Some((profile, evidence)) if request.opted_in => plan(scene, profile, evidence),
        _ => Plan::default(),
    };
    let not_injected = request.stage == Stage::Final && lacks_everything(scene, &plan, &resolution);
    let plan = if request.stage == Stage::Final { plan.without_changes() } else { plan };
    let overlay = Overlay::new(&pod, &plan);
    let planned = overlay.planned_networks().map(multus::parse);
    let context = PodContext {
        tenant_view: request.tenant_view,
        not_injected,
        overlay,
        plan: &plan,
        demands: &demands,
        resolution: &resolution,
        networks,
        final_networks: planned.as_ref().or(networks),
        namespace: request.namespace,
        namespace_facts,
        snapshot,
        devices: std::cell::OnceCell::new(),
    };
    let findings = check_pod(&context);
    let patch = operations(&pod, &plan);
    let mut decision = Decision {
        in_scope: true,
        profile: resolution.profile().map(|(p, _)| p.name.clone()),
        evidence: Some(words(&resolution)),
        plan,
        patch,
        findings,
        ..Decision::default()
    };
    judge(&mut decision, request.stage, request.mode, request.opted_in);
    Ok(decision)
}

/// Whether the profile wants networks or resources on the pod and none of them is there: the sign of a
/// mutating webhook that did not run.
fn lacks_everything(scene: Scene<'_>, plan: &Plan, resolution: &Resolution) -> bool {
    let Some((profile, _)) = resolution.profile() else { return false };
    let attaches = |edit: &Edit| match edit {
        Edit::Networks { .. } | Edit::Quantity { .. } => true,
        Edit::Annotation { key, .. } => key.starts_with(GKE_DOMAIN),
        _ => false,
    };
    let planned = plan.changes.iter().any(|c| attaches(&c.edit));
    planned
        && !scene
            .pod
            .containers()
            .iter()
            .any(|c| c.resource_names().any(|name| profile.serves_resource(name)))
        && !scene.networks.and_then(|n| n.as_ref().ok()).is_some_and(|networks| {
            networks.items.iter().any(|item| {
                let namespace = item.namespace.as_deref().unwrap_or(scene.namespace);
                profile.rails.iter().any(|r| r.network.is(namespace, &item.name, scene.namespace))
            })
        })
}

/// Decides on an object that is no pod.
#[must_use]
pub fn decide_object(context: &ObjectContext<'_>, mode: Mode) -> Decision {
    let mut decision = Decision { in_scope: true, findings: check_object(context), ..Decision::default() };
    judge(&mut decision, Stage::Final, mode, true);
    decision
}

fn words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Profile { evidence, .. } => evidence.words(),
        Resolution::Refused { reason, .. } => reason.clone(),
        Resolution::Outside { profile, reason, .. } => {
            format!("profile {} does not apply: {reason}", profile.name)
        }
        Resolution::Ambiguous { because, .. } => match because {
            Because::Nodes => "the nodes it can land on carry several profiles".to_owned(),
            Because::Selectors => {
                "no node it can land on exists, and its selectors fit several profiles".to_owned()
            }
            Because::Own => "its own resources and networks belong to several profiles".to_owned(),
        },
        Resolution::NotApplicable { .. } => "nothing names a profile".to_owned(),
    }
}

/// Turns severities into a verdict. Where the namespace did not opt in nothing is refused, and nothing is
/// louder than information.
fn judge(decision: &mut Decision, stage: Stage, mode: Mode, opted_in: bool) {
    if !opted_in {
        for finding in &mut decision.findings {
            finding.severity = Severity::Info;
        }
    }
    decision.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    // Before the last mutating webhook has run, an error may still be mended; these cannot.
    let counts =
        |f: &&Finding| stage != Stage::Mutate || matches!(f.rule, "FAB101" | "FAB804" | "FAB810" | "FAB814");
    let errors = decision.findings.iter().filter(counts).any(|f| f.severity == Severity::Error);
    decision.denied = errors && mode == Mode::Enforce;
    decision.would_deny = errors && mode == Mode::Audit;
    if decision.denied {
        // A refused object is not changed. The plan goes with the patch: nothing would be done.
        decision.patch.clear();
        decision.plan.changes.clear();
    }
}
