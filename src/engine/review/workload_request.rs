//! A workload under review, and the decision on it.

use super::{Decision, PodRequest};
use crate::decision_limits::DecisionLimits;
use crate::facts::EnforcementMode;
use crate::json::decode_with_place::DecodeError;
use crate::pod::is_multi_node::MultiNodeEvidence;
use crate::pod::templates_by_shape::Template;
use crate::pod::workload_kinds::{self, Ranks};
use crate::profile::Profile;
use crate::rules::Finding;
use crate::snapshot::Snapshot;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Most findings of one object: it has a part or two.
const MAX_FINDINGS: usize = 500;

/// The findings of all parts of an object: what several share stands in it once.
pub(super) fn distinct_findings_up_to_limit(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let (hashes, mut known) = (RandomState::new(), HashSet::new());
    findings.filter(|finding| known.insert(hashes.hash_one(finding))).take(MAX_FINDINGS).collect()
}

/// Decides on a workload. A TrainJob is judged as the JobSet that its controller makes, so it gets this function.
pub(super) type Decide = for<'a> fn(WorkloadRequest<'a>, &Snapshot) -> WorkloadDecision<'a>;

/// An object that may make pods.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadRequest<'a> {
    /// API group.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// JSON text of the object.
    pub json: &'a str,
    /// Namespace; never empty.
    pub namespace: &'a str,
    /// Whether errors deny.
    pub mode: EnforcementMode,
    /// Whether the namespace opted in.
    pub opted_in: bool,
    /// A profile given on the command line.
    pub profile: Option<&'a Arc<Profile>>,
    /// Whether a suspended object counts as one that runs. The old version of an object does: a queue that resumes it must not
    /// seem to add what was a warning before.
    pub as_if_running: bool,
    /// The time limit. If it is over in between, the decision is incomplete.
    pub deadline: &'a DecisionLimits<'a>,
}

impl<'a> WorkloadRequest<'a> {
    /// The request for a pod of it.
    pub(super) fn pod_request(self) -> PodRequest<'a> {
        PodRequest {
            mode: self.mode,
            opted_in: self.opted_in,
            profile: self.profile,
            deadline: self.deadline,
            ..PodRequest::in_enforcing_namespace(self.namespace)
        }
    }

    /// The request for a pod of one of its templates. A template says less of its pods than the pods will.
    #[must_use]
    pub fn pod_request_of_template(
        self,
        template: &Template<'a>,
        gang: Option<&'a MultiNodeEvidence>,
    ) -> PodRequest<'a> {
        PodRequest {
            // mpi-operator starts sshd in workers that name no command, and marks their pods by label.
            ranks_over_ssh: template.role == "Worker"
                && workload_kinds::workload_kinds_named(&template.maker.kind)
                    .any(|kind| kind.ranks == Ranks::OverSsh),
            gang,
            siblings: template.pods,
            suspended: template.suspended && !self.as_if_running,
            dev_shm: template.dev_shm,
            ..self.pod_request()
        }
    }
}

/// What is decided on it.
#[derive(Debug)]
pub struct WorkloadDecision<'a> {
    /// Its templates, in the order of the text; an error where one cannot be read.
    pub templates: Vec<(Template<'a>, Result<Decision, DecodeError>)>,
    /// What is said of the object itself; `None` where that is nothing.
    pub own: Option<Decision>,
}

/// Whether the pods of a template work together, as the object around it says.
#[must_use]
pub fn gang_of(request: WorkloadRequest<'_>, template: &Template<'_>) -> Option<MultiNodeEvidence> {
    let maker = &template.maker;
    match maker.kind.as_str() {
        "" => workload_kinds::multi_node_evidence_of_workload(request.group, request.kind, request.json),
        kind => workload_kinds::multi_node_evidence_of_workload(&maker.group, kind, maker.json),
    }
}
