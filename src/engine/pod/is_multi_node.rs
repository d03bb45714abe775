//! Whether a pod is one of several that work together on different nodes. Only fields that are the same on every pod
//! of a gang count, so that all of them get one answer; an index or a rank never counts.
//!
//! The object that creates the pods is often more exact than they are: a JobSet counts its pods, but a pod of it
//! shows only that there is a JobSet. If a pod leaves the question open, a kind made for work over several nodes
//! counts as such: a rail too many costs less than a gang that trains over TCP.

use super::pod_fields::PodView;
use crate::text::escaped_and_cut;

/// Annotation that settles it: `true` or `false`.
pub const MULTI_NODE_ANNOTATION: &str = "fabric-admission.dev/multi-node";

/// The answer and its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MultiNodeEvidence {
    /// Whether the pod is one of several.
    pub several: bool,
    /// The evidence, in a few words.
    pub words: String,
}

/// How to read a label or annotation.
enum Sign {
    /// A number of pods or jobs above 1.
    Above(&'static str),
    /// Its presence is enough.
    There(&'static str),
}

/// Labels and annotations that controllers set on pods, or that people set for a scheduler. Numbers come first: they
/// are more exact.
const GANG_LABELS_AND_ANNOTATIONS: &[(&str, Sign)] = &[
    // kubernetes-sigs/lws api/leaderworkerset/v1/leaderworkerset_types.go: size of each group.
    ("leaderworkerset.sigs.k8s.io/size", Sign::Above("LeaderWorkerSet group of {} pods")),
    // kubernetes-sigs/kueue pkg/controller/constants: plain pods that are admitted together.
    ("kueue.x-k8s.io/pod-group-total-count", Sign::Above("Kueue pod group of {} pods")),
    // kubernetes-sigs/jobset api/jobset/v1alpha2/jobset_types.go: jobs of the whole set. A pod does not show how many
    // pods each job has; there may be many in a single job.
    ("jobset.sigs.k8s.io/global-replicas", Sign::Above("JobSet with {} jobs")),
    ("jobset.sigs.k8s.io/jobset-name", Sign::There("pod of JobSet {}")),
    // kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go, kubeflow/mpi-operator pkg/apis/kubeflow:
    // on every replica, launcher and master too. The world size shows a master without workers.
    ("training.kubeflow.org/job-name", Sign::There("pod of training job {}")),
    // kubeflow/mpi-operator v1 pkg/controllers.
    ("mpi-job-name", Sign::There("pod of MPIJob {}")),
    // volcano-sh/apis pkg/apis/batch/v1alpha1/labels.go.
    ("volcano.sh/job-name", Sign::There("pod of Volcano Job {}")),
    // ray-project/kuberay ray-operator/controllers/ray/utils/constant.go.
    ("ray.io/cluster", Sign::There("pod of RayCluster {}")),
    // kubernetes-sigs/scheduler-plugins pkg/coscheduling, and its forerunner, which koordinator still reads.
    ("scheduling.x-k8s.io/pod-group", Sign::There("pod of PodGroup {}")),
    ("pod-group.scheduling.sigs.k8s.io/min-available", Sign::Above("pod group of {} pods")),
    // koordinator-sh/koordinator apis/extension/coscheduling.go.
    ("gang.scheduling.koordinator.sh/min-available", Sign::Above("Koordinator gang of {} pods")),
    // k8s.io/api batch/v1 JobCompletionIndexAnnotation: ranks by index. A Job without indexes is a queue of
    // independent work.
    ("batch.kubernetes.io/job-completion-index", Sign::There("pod of an indexed Job")),
];

/// What a pod or a pod template shows; `None` if nothing.
#[must_use]
pub fn multi_node_evidence_of_pod(pod: &PodView<'_>) -> Option<MultiNodeEvidence> {
    match pod.annotation(MULTI_NODE_ANNOTATION) {
        Some("true") => {
            return Some(MultiNodeEvidence {
                several: true,
                words: format!("{MULTI_NODE_ANNOTATION}: true"),
            });
        }
        Some("false") => {
            return Some(MultiNodeEvidence {
                several: false,
                words: format!("{MULTI_NODE_ANNOTATION}: false"),
            });
        }
        _ => {}
    }
    evidence_of_world_size_variables(pod).or_else(|| {
        GANG_LABELS_AND_ANNOTATIONS
            .iter()
            .find_map(|(key, sign)| evidence_of_label_or_annotation(pod, key, sign))
    })
}

fn evidence_of_label_or_annotation(pod: &PodView<'_>, key: &str, sign: &Sign) -> Option<MultiNodeEvidence> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let value = labels.and_then(|l| l.get(key)).map(|v| &**v).or_else(|| pod.annotation(key))?;
    let words = match sign {
        Sign::Above(words) => words.replace("{}", &number(value).filter(|n| *n > 1)?.to_string()),
        Sign::There(_) if value.is_empty() => return None,
        Sign::There(words) => words.replace("{}", &escaped_and_cut(value, 63)),
    };
    Some(MultiNodeEvidence { several: true, words })
}

/// The size of the world in a container's variables. `NNODES` and torchrun's `PET_NNODES` count nodes, whoever sets
/// them (kubeflow/training-operator pkg/controller.v1/pytorch/envvar.go, kubeflow/trainer
/// pkg/runtime/framework/plugins/torch); a range such as `1:4` is left open. `WORLD_SIZE` counts ranks, of which one
/// node has several, so only the value 1 decides.
fn evidence_of_world_size_variables(pod: &PodView<'_>) -> Option<MultiNodeEvidence> {
    let literal = |name: &str| {
        pod.containers().iter().find_map(|c| {
            let (_, variable) = c.last_entry_of_variable(name)?;
            number(variable.literal_or_empty()?)
        })
    };
    for name in ["PET_NNODES", "NNODES"] {
        if let Some(nodes) = literal(name).filter(|n| *n > 0) {
            return Some(MultiNodeEvidence { several: nodes > 1, words: format!("{name}={nodes}") });
        }
    }
    literal("WORLD_SIZE")
        .filter(|ranks| *ranks == 1)
        .map(|_| MultiNodeEvidence { several: false, words: "WORLD_SIZE=1".to_owned() })
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests;
