//! The pods of one job that NCCL treats as one world.

use crate::rules::workload::WorkloadContext;

/// Whether the replica types of a kind make one world of ranks, each with the variables of its own container. The groups
/// of other kinds, such as RayCluster and JobSet, may be separate jobs; ranks of an MPIJob get what mpirun passes on.
pub(super) fn is_one_world(context: &WorkloadContext<'_>) -> bool {
    matches!(
        (context.maker.group.as_str(), context.maker.kind.as_str()),
        ("kubeflow.org", "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob" | "MXJob")
            | ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    )
}
