//! The kinds of objects that create pods: where each holds its pods, how many of them work together, and how their ranks
//! start. Templates of a kind that is not listed are found by their shape.

use super::gang_size::{
    CronJob, Job, JobSet, LeaderWorkerSet, MpiJob, RayCluster, RayOwner, TrainJob, TrainingJob,
    TrainingRuntime, VolcanoJob, gang_size_of_object,
};
use super::is_multi_node::MultiNodeEvidence;
use crate::text::count_with_noun;

/// A kind of object that creates pods.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadKind {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Where it holds its pods.
    pub holds: WherePodsAre,
    /// How many of its pods work together; `None` where the kind is as often several servers as one gang.
    together: Option<Together>,
    /// What its pods are to one another.
    pub ranks: Ranks,
    /// Whether its controller writes a host name of its own into each pod.
    pub names_hosts: bool,
    /// Whether it runs one pod on each node, so that no field has their number.
    pub one_per_node: bool,
    /// Whether the webhooks are registered for it (deploy/base/webhooks.yaml): what it creates is judged with it.
    pub judged: bool,
}

/// Where an object holds its pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WherePodsAre {
    /// In pod templates, which are found by their shape.
    Templates,
    /// In `spec.trainer`, which is laid over a template of its runtime.
    Trainer,
    /// In pod specs without a template around them, which its controller lays over others.
    BareSpecs,
}

/// What the pods of an object are to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// All replica types make one world of ranks, each with the variables of its own container.
    OneWorld,
    /// A launcher starts the ranks on workers over ssh, with the variables that it hands on.
    OverSsh,
    /// Not known: the groups of a RayCluster and of a JobSet may be separate jobs.
    Unknown,
}

/// How many pods work together.
#[derive(Debug, Clone, Copy)]
struct Together {
    /// Their number, from the object's JSON text.
    pods: fn(&str) -> Option<u64>,
    /// How a message begins that ends with this number.
    words: &'static str,
}

impl WorkloadKind {
    const DEFAULT: Self = Self {
        group: "",
        kind: "",
        holds: WherePodsAre::Templates,
        together: None,
        ranks: Ranks::Unknown,
        names_hosts: false,
        one_per_node: false,
        judged: true,
    };

    const fn of(group: &'static str, kind: &'static str) -> Self {
        Self { group, kind, ..Self::DEFAULT }
    }

    const fn with(self, words: &'static str, pods: fn(&str) -> Option<u64>) -> Self {
        Self { together: Some(Together { pods, words }), ..self }
    }

    /// A job of the training operator with replica types (kubeflow/training-operator pkg/apis/kubeflow.org/v1).
    const fn training(kind: &'static str, words: &'static str) -> Self {
        Self { ranks: Ranks::OneWorld, ..Self::of("kubeflow.org", kind) }
            .with(words, |json| gang_size_of_object::<TrainingJob<'_>>(json))
    }

    /// Whether this is the kind of an object.
    #[must_use]
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

/// The JobSet, which the controller of a TrainJob creates (kubernetes-sigs/jobset api/jobset/v1alpha2).
pub const JOB_SET: WorkloadKind = WorkloadKind::of("jobset.x-k8s.io", "JobSet")
    .with("JobSet with", |json| gang_size_of_object::<JobSet<'_>>(json));

/// Every kind that is known.
pub const KINDS: &[WorkloadKind] = &[
    // k8s.io/api batch/v1 and apps/v1.
    WorkloadKind { names_hosts: true, ..WorkloadKind::of("batch", "Job") }
        .with("indexed Job with", |json| gang_size_of_object::<Job<'_>>(json)),
    WorkloadKind { names_hosts: true, ..WorkloadKind::of("batch", "CronJob") }
        .with("indexed CronJob with", |json| gang_size_of_object::<CronJob<'_>>(json)),
    WorkloadKind::of("apps", "Deployment"),
    WorkloadKind::of("apps", "StatefulSet"),
    WorkloadKind { one_per_node: true, ..WorkloadKind::of("apps", "DaemonSet") },
    WorkloadKind::of("apps", "ReplicaSet"),
    JOB_SET,
    // kubernetes-sigs/lws api/leaderworkerset/v1.
    WorkloadKind {
        ranks: Ranks::OneWorld,
        ..WorkloadKind::of("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    }
    .with("LeaderWorkerSet with groups of", |json| gang_size_of_object::<LeaderWorkerSet>(json)),
    WorkloadKind::training("PyTorchJob", "PyTorchJob with"),
    WorkloadKind::training("TFJob", "TFJob with"),
    WorkloadKind::training("XGBoostJob", "XGBoostJob with"),
    WorkloadKind::training("PaddleJob", "PaddleJob with"),
    WorkloadKind::training("JAXJob", "JAXJob with"),
    WorkloadKind::training("MXJob", "MXJob with"),
    // kubeflow/mpi-operator pkg/apis/kubeflow/v2beta1.
    WorkloadKind { ranks: Ranks::OverSsh, ..WorkloadKind::of("kubeflow.org", "MPIJob") }
        .with("MPIJob with", |json| gang_size_of_object::<MpiJob<'_>>(json)),
    // kubeflow/trainer pkg/apis/trainer/v1alpha1.
    WorkloadKind { holds: WherePodsAre::Trainer, ..WorkloadKind::of("trainer.kubeflow.org", "TrainJob") }
        .with("TrainJob with", |json| gang_size_of_object::<TrainJob>(json)),
    WorkloadKind::of("trainer.kubeflow.org", "TrainingRuntime")
        .with("TrainingRuntime with", |json| gang_size_of_object::<TrainingRuntime>(json)),
    // An object without a namespace is in none that opted in.
    WorkloadKind { judged: false, ..WorkloadKind::of("trainer.kubeflow.org", "ClusterTrainingRuntime") }
        .with("ClusterTrainingRuntime with", |json| gang_size_of_object::<TrainingRuntime>(json)),
    // ray-project/kuberay ray-operator/apis/ray/v1.
    WorkloadKind::of("ray.io", "RayCluster")
        .with("RayCluster with", |json| gang_size_of_object::<RayCluster>(json)),
    WorkloadKind::of("ray.io", "RayJob").with("RayJob with", |json| gang_size_of_object::<RayOwner>(json)),
    WorkloadKind::of("ray.io", "RayService")
        .with("RayService with", |json| gang_size_of_object::<RayOwner>(json)),
    // volcano-sh/apis pkg/apis/batch/v1alpha1.
    WorkloadKind { names_hosts: true, ..WorkloadKind::of("batch.volcano.sh", "Job") }
        .with("Volcano Job with", |json| gang_size_of_object::<VolcanoJob>(json)),
    WorkloadKind::of("workload.codeflare.dev", "AppWrapper"),
    // kserve/kserve pkg/apis/serving/v1alpha2.
    WorkloadKind {
        holds: WherePodsAre::BareSpecs,
        ..WorkloadKind::of("serving.kserve.io", "LLMInferenceService")
    },
];

/// A known kind.
#[must_use]
pub fn find_workload_kind(group: &str, kind: &str) -> Option<&'static WorkloadKind> {
    KINDS.iter().find(|known| known.is(group, kind))
}

/// The known kinds of one name, whatever their group.
pub fn workload_kinds_named(kind: &str) -> impl Iterator<Item = &'static WorkloadKind> {
    KINDS.iter().filter(move |known| known.kind == kind)
}

/// What the object around a pod template shows. Ask [`super::is_multi_node::multi_node_evidence_of_pod`] of the template first. `None`:
/// another kind, or a number that cannot be read.
#[must_use]
pub fn multi_node_evidence_of_workload(group: &str, kind: &str, json: &str) -> Option<MultiNodeEvidence> {
    let Together { pods, words } = find_workload_kind(group, kind)?.together?;
    let pods = pods(json)?;
    let number = count_with_noun(usize::try_from(pods).unwrap_or(usize::MAX), "pod");
    Some(MultiNodeEvidence { several: pods > 1, words: format!("{words} {number}") })
}

#[cfg(test)]
mod tests;
