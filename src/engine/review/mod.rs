//! The one way in: an object, a snapshot, a decision. The webhook, `review` and `audit` all come through here, so what
//! one says the others say. It calls resolution, plan, rules and patch in this order and joins their results; what they
//! decide is in their own modules.

mod alike;
#[cfg(test)]
mod alike_tests;
#[cfg(test)]
mod audience_tests;
mod change_of_pod_networks;
#[cfg(test)]
mod change_of_pod_networks_tests;
mod changes_in_words;
#[cfg(test)]
mod comparison_limit_tests;
mod cost_of_small_bodies;
#[cfg(test)]
mod deadline_tests;
mod decide_pod;
mod decide_workload;
pub mod envelope;
mod facts_for_request;
mod join_template_decisions;
#[cfg(test)]
mod json_reader_tests;
mod mpi_launcher;
mod names_in_metadata;
mod new_findings;
pub mod response;
#[cfg(test)]
mod scope_tests;
mod strategic_merge_patch;
mod template_progress;
mod train_job;
mod verdict;
mod warnings;
pub mod webhook;
mod who_asked_for_what;
mod workload_request;
mod workloads_without_template;

pub use cost_of_small_bodies::{read_beside, templates};
pub use decide_pod::{decide_pod, why_pod};
pub use decide_workload::decide_workload;
pub use verdict::Verdict;
pub use who_asked_for_what::RequestNames;
pub use workload_request::{WorkloadDecision, WorkloadRequest, gang_of};

use crate::deadline::{Deadline, NEVER};
use crate::facts::Mode;
use crate::json::annotations_of_object::Annotated;
use crate::patch::Patch;
use crate::plan::Plan;
use crate::pod::PodView;
use crate::pod::is_multi_node::Gang;
use crate::pod::templates_by_shape::DevShm;
use crate::profile::Profile;
use crate::resolve::Outcome;
use crate::rules::suppression::{Limit, Suppressed, apply_ignores};
use crate::rules::{self, Finding, ObjectContext, Severity, check_object};
use std::sync::Arc;

/// At which point of admission a pod is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Offline, or in an audit namespace: the plan is laid over the pod, and the rules judge what comes out.
    Whole,
    /// The mutating webhook: as `Whole`, but it refuses only problems that no later webhook can fix.
    Mutate,
    /// The validating webhook: the pod as it will be stored is judged as it is.
    Final,
}

/// The facts about a pod, or about a pod template, that are not in its text.
#[derive(Debug, Clone, Copy)]
pub struct PodRequest<'a> {
    /// Namespace; never empty.
    pub namespace: &'a str,
    /// Point of admission.
    pub stage: Stage,
    /// Whether errors deny.
    pub mode: Mode,
    /// Whether the namespace opted in. If not, the API server does not call the webhook.
    pub opted_in: bool,
    /// A profile given on the command line.
    pub profile: Option<&'a Arc<Profile>>,
    /// Whether the workload around the template starts its ranks over ssh. The pods themselves carry labels
    /// that say so; a template does not yet.
    pub ranks_over_ssh: bool,
    /// Whether the workload around the template is for several pods that work together, where it says so.
    pub gang: Option<&'a Gang>,
    /// Pods that are made from the template at a time (count), where that is known.
    pub siblings: Option<u64>,
    /// How the containers of a template come to their `/dev/shm`.
    pub dev_shm: DevShm,
    /// The time limit. If it is over in between, the decision is incomplete.
    pub deadline: &'a Deadline<'a>,
    /// The stored pod, where its networks annotations change: only rules on such a change look at it, and only what is new
    /// counts.
    pub before: Option<&'a PodView<'a>>,
}

impl<'a> PodRequest<'a> {
    /// A pod by itself, in a namespace that enforces.
    #[must_use]
    pub fn new(namespace: &'a str) -> Self {
        Self {
            namespace,
            stage: Stage::Whole,
            mode: Mode::Enforce,
            opted_in: true,
            profile: None,
            ranks_over_ssh: false,
            gang: None,
            siblings: None,
            dev_shm: DevShm::AsWritten,
            deadline: &NEVER,
            before: None,
        }
    }
}

/// What is decided on one object.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// Whether the object has anything that is looked at.
    pub in_scope: bool,
    /// Whether its pods ask for no accelerators: rules look at them, and no profile is for them.
    pub rules_only: bool,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Names of the profiles of its nodes whose `require` and `forbid` hold beside it.
    pub also_held: Vec<String>,
    /// What named it, or why there is none, in a few words.
    pub evidence: Option<String>,
    /// How the search for a profile ended; `None` where no profile was searched.
    pub outcome: Option<Outcome>,
    /// Intended changes.
    pub plan: Plan,
    /// The same as RFC 6902 operations on the object.
    pub patch: Patch,
    /// Findings, most severe first, then in the order of the rules.
    pub findings: Vec<Finding>,
    /// Findings that annotations set aside; they count for nothing.
    pub suppressed: Vec<Suppressed>,
    /// Whether the object is refused.
    pub denied: bool,
    /// Whether it would be refused in mode enforce, but is not in this one.
    pub would_deny: bool,
}

/// What is looked at in the parts of an object.
#[derive(Debug, Default, Clone, Copy)]
struct Looked {
    /// Whether anything is.
    any: bool,
    /// Whether a profile may be for any of it.
    of_profile: bool,
}

impl Looked {
    fn add(&mut self, decision: &Decision) {
        self.any |= decision.in_scope;
        self.of_profile |= decision.in_scope && !decision.rules_only;
    }
}

/// Decides on an object that is not a pod.
#[must_use]
pub fn decide_object(context: &ObjectContext<'_>, mode: Mode) -> Decision {
    let mut findings = check_object(context);
    let limit = Limit { ignorable: context.snapshot.settings().ignorable, profile: None };
    let suppressed =
        apply_ignores(Annotated::of(context.json).iter(), limit, &mut findings, context.deadline);
    let mut decision = Decision { in_scope: true, findings, suppressed, ..Decision::default() };
    judge(&mut decision, Stage::Final, mode, true);
    decision
}

/// Turns severities into a verdict. Where the namespace did not opt in nothing is refused, and nothing is
/// louder than information.
fn judge(decision: &mut Decision, stage: Stage, mode: Mode, opted_in: bool) {
    if !opted_in {
        decision.findings.iter_mut().for_each(Finding::lower_without_opt_in);
    }
    decision.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    // Before the last mutating webhook has run, most errors may still be fixed.
    let counts =
        |f: &Finding| stage != Stage::Mutate || rules::find(f.rule).is_some_and(|r| r.denies_before_final);
    let errors = decision.findings.iter().any(|f| f.severity == Severity::Error && counts(f));
    decision.apply_verdict(errors, mode);
}

impl Decision {
    /// Sets the verdict. A denied object loses its patch and planned changes: nothing is done to it.
    pub fn apply_verdict(&mut self, errors: bool, mode: Mode) {
        self.denied = errors && mode == Mode::Enforce;
        self.would_deny = errors && mode == Mode::Audit;
        if self.denied {
            self.drop_changes();
        }
    }

    /// Removes the patch and the planned changes: nothing is done to a denied object.
    fn drop_changes(&mut self) {
        self.patch.clear();
        self.plan.changes.clear();
    }

    /// The same without plan and patch, whose memory is free again.
    fn without_changes(self) -> Self {
        Self { plan: Plan::default(), patch: Patch::default(), ..self }
    }
}
