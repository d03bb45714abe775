//! Which driver the RDMA devices of the nodes have. MLNX_OFED and DOCA-OFED refuse a RoCE address (GID) if its
//! interface is not in the caller's network namespace (mlnx-ofa_kernel drivers/infiniband/core,
//! rdma_check_gid_user_access). The kernel's own driver has no such check. It resolves the address in the namespace of
//! the GID's interface, so a pod with a shared NIC may use the addresses that the NIC has on the host.

use crate::nodes::{LabelRequirement, Relation, Values};
use crate::snapshot::Snapshot;

/// Why a finding is a warning if the driver is not known to be MLNX_OFED or DOCA-OFED.
pub(super) const UNKNOWN_DRIVER: &str = "only drivers MLNX_OFED and DOCA-OFED check the network namespace of the GID, and the nodes' driver is not known";

/// Label of nodes on which the NVIDIA Network Operator runs its driver container (Mellanox/network-operator
/// docs/automatic-ofed-upgrade.md). `network.nvidia.com/operator.mofed.wait: "false"` is also on nodes without it
/// (controllers/nicclusterpolicy_controller.go, handleWaitLabelsNoConfig).
const DRIVER_CONTAINER: &str = "nvidia.com/ofed-driver-upgrade-state";

/// Whether every node with a resource is known to have MLNX_OFED or DOCA-OFED.
pub(super) fn do_all_nodes_with_resource_have_ofed(snapshot: &Snapshot, resource: &str) -> bool {
    if snapshot.cluster_facts_for_audience().ofed_everywhere() {
        return true;
    }
    let classes = snapshot.nodes_for_audience().classes();
    let Some(offering) = classes.classes_offering(resource) else { return false };
    let mut listed = classes.empty_set();
    offering.add_to_set(&mut listed);
    let mut with = listed.clone();
    let values = Values::Strings(&[]);
    let present = LabelRequirement { key: DRIVER_CONTAINER, relation: Relation::Exists, values };
    classes.remove_classes_not_satisfying(&mut with, present);
    !listed.is_clear() && with == listed
}
