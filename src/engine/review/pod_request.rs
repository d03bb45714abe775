//! What is asked about a pod or a pod template: the point of admission, the mode, and facts that are not in its text.

use crate::decision_limits::{DecisionLimits, NEVER};
use crate::facts::EnforcementMode;
use crate::pod::PodView;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::templates_by_shape::DevShm;
use crate::profile::Profile;
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
    pub mode: EnforcementMode,
    /// Whether the namespace opted in. If not, the API server does not call the webhook.
    pub opted_in: bool,
    /// A profile given on the command line.
    pub profile: Option<&'a Arc<Profile>>,
    /// Whether the workload around the template starts its ranks over ssh. The pods themselves carry labels
    /// that say so; a template does not yet.
    pub ranks_over_ssh: bool,
    /// Whether the workload around the template is for several pods that work together, where it says so.
    pub gang: Option<&'a MultiNodeEvidence>,
    /// Pods that are made from the template at a time (count), where that is known.
    pub siblings: Option<u64>,
    /// Whether the workload around the template is suspended.
    pub suspended: bool,
    /// How the containers of a template come to their `/dev/shm`.
    pub dev_shm: DevShm,
    /// The time limit. If it is over in between, the decision is incomplete.
    pub deadline: &'a DecisionLimits<'a>,
    /// Whether the patch is written. Templates of a workload get none.
    pub writes_patch: bool,
    /// The stored pod, where its networks annotations change: only rules on such a change look at it, and only what is new
    /// counts.
    pub before: Option<&'a PodView<'a>>,
    /// Whether ib-kubernetes may have written GUIDs into the pod's networks annotation, as it does in stored pods.
    pub may_carry_guids: bool,
}

impl<'a> PodRequest<'a> {
    /// A pod by itself, in a namespace that enforces.
    #[must_use]
    pub fn in_enforcing_namespace(namespace: &'a str) -> Self {
        Self {
            namespace,
            stage: Stage::Whole,
            mode: EnforcementMode::Enforce,
            opted_in: true,
            profile: None,
            ranks_over_ssh: false,
            gang: None,
            siblings: None,
            suspended: false,
            dev_shm: DevShm::AsWritten,
            deadline: &NEVER,
            writes_patch: true,
            before: None,
            may_carry_guids: false,
        }
    }
}
