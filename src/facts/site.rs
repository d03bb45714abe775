//! What the nodes say together of a resource of theirs, and of an interface. Laid together once, so that no decision
//! looks at nodes one by one.

use super::node_state::{NodeState, VfGroup};
use super::resource::agreed;
use crate::multus::LinkLayer;

/// What the nodes that make a resource say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// RDMA mode, where all of them say the same.
    pub exclusive: Option<bool>,
    /// Whether the operator has finished with any of them (`Succeeded`), or does not say.
    pub settled: bool,
    /// Least and greatest MTU of the NICs (bytes), where all say one.
    pub mtu: Option<(u32, u32)>,
}

impl Site {
    pub(super) fn of(state: &NodeState, group: &VfGroup) -> Self {
        Self {
            exclusive: state.rdma_exclusive,
            settled: state.sync_status.as_deref().is_none_or(|status| status == "Succeeded"),
            mtu: group.mtu.map(|mtu| (mtu, mtu)),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.exclusive = agreed(self.exclusive, other.exclusive);
        self.settled |= other.settled;
        self.mtu = match (self.mtu, other.mtu) {
            (Some((low, high)), Some((l, h))) => Some((low.min(l), high.max(h))),
            _ => None,
        };
    }
}

/// What the nodes that have an interface say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Link layer, where all say the same.
    pub link: Option<LinkLayer>,
    /// RDMA mode of the nodes, where all say the same.
    pub exclusive: Option<bool>,
}

impl Port {
    pub(super) fn merge(&mut self, other: Self) {
        self.link = agreed(self.link, other.link);
        self.exclusive = agreed(self.exclusive, other.exclusive);
    }
}
