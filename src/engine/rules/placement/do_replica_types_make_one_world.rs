//! The pods of one job that NCCL treats as one world.

use crate::pod::workload_kinds::{self, Ranks};
use crate::rules::workload_context::WorkloadContext;

/// Whether the replica types of a kind make one world of ranks, each with the variables of its own container. The groups
/// of other kinds, such as RayCluster and JobSet, may be separate jobs; ranks of an MPIJob get what mpirun passes on.
pub(super) fn do_replica_types_make_one_world(context: &WorkloadContext<'_>) -> bool {
    let kind = workload_kinds::find_workload_kind(&context.maker.group, &context.maker.kind);
    kind.is_some_and(|kind| kind.ranks == Ranks::OneWorld)
}
