//! Facts from all nodes about one of their resources, and about an interface. Combined once, so that no decision
//! reads single nodes.

use super::sriov_node_state::{SriovNodeState, VfGroup};
use crate::multus::LinkLayer;

/// Facts from the nodes that provide a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceOnAllNodes {
    /// RDMA mode, if all of them agree.
    pub exclusive: Option<bool>,
    /// Whether the operator has finished with any of them (`Succeeded`), or reports no status.
    pub settled: bool,
    /// Least and greatest MTU of the NICs (bytes), if all report one.
    pub mtu: Option<(u32, u32)>,
}

impl ResourceOnAllNodes {
    pub(super) fn from_one_node(state: &SriovNodeState, group: &VfGroup) -> Self {
        Self {
            exclusive: state.rdma_exclusive,
            settled: state.sync_status.as_deref().is_none_or(|status| status == "Succeeded"),
            mtu: group.mtu.map(|mtu| (mtu, mtu)),
        }
    }
}

/// Facts from the nodes that have an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceOnAllNodes {
    /// Link layer, if all agree.
    pub link: Option<LinkLayer>,
    /// RDMA mode of the nodes, if all agree.
    pub exclusive: Option<bool>,
    /// The largest MTU on any node (bytes), if all report one.
    pub largest_mtu: Option<u32>,
}
