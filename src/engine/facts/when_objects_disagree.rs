//! What counts where several objects speak of the same resource, interface or pool and disagree: the fact is unknown.
//! `collect_facts_of_all_objects` asks here. One object may come from several places, such as a file and the
//! cluster: then only its nearest copy counts (`snapshot::nearest_layer_wins`).

use super::extended_resource::ResourceFact;
use super::facts_from_all_nodes::{InterfaceOnAllNodes, ResourceOnAllNodes};
use super::resource_slice::DevicePool;
use std::sync::Arc;

/// A value on which two sources agree.
pub(super) fn agreed<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<T> {
    if a == b { a } else { None }
}

/// Most interfaces of one pool; with more, it counts as one that selects any.
pub(super) const MAX_INTERFACES: usize = 256;
/// Most objects that are named for one resource.
const MAX_ORIGINS: usize = 2;

impl ResourceFact {
    /// The facts of this and another object about one resource.
    pub(super) fn merge_with_unknown_where_differing(&mut self, other: &Self) {
        self.server = self.server.min(other.server);
        self.link = agreed(self.link, other.link);
        self.rdma = agreed(self.rdma, other.rdma);
        self.shared = agreed(self.shared, other.shared);
        self.per_nic = agreed(self.per_nic, other.per_nic);
        self.vendor = agreed(self.vendor.take(), other.vendor.clone());
        let room = MAX_ORIGINS.saturating_sub(self.origins.len());
        let new = other.origins.iter().filter(|o| !self.origins.contains(o)).take(room).cloned();
        let new: Vec<Arc<str>> = new.collect();
        self.origins.extend(new);
        // A source without names selects any interface.
        if self.interfaces.is_empty() || other.interfaces.is_empty() {
            self.interfaces.clear();
        } else {
            self.interfaces.extend(other.interfaces.iter().cloned());
            self.interfaces.sort_unstable();
            self.interfaces.dedup();
            // No pool has so many NICs. Without a bound, a list of selectors would be sorted once for each of them.
            if self.interfaces.len() > MAX_INTERFACES {
                self.interfaces.clear();
            }
        }
    }
}

impl ResourceOnAllNodes {
    pub(super) fn merge_with_unknown_where_differing(&mut self, other: &Self) {
        self.exclusive = agreed(self.exclusive, other.exclusive);
        self.settled |= other.settled;
        self.mtu = match (self.mtu, other.mtu) {
            (Some((low, high)), Some((l, h))) => Some((low.min(l), high.max(h))),
            _ => None,
        };
    }
}

impl InterfaceOnAllNodes {
    pub(super) fn keep_only_agreed_facts(&mut self, other: Self) {
        self.link = agreed(self.link, other.link);
        self.exclusive = agreed(self.exclusive, other.exclusive);
        self.largest_mtu = self.largest_mtu.zip(other.largest_mtu).map(|(one, other)| one.max(other));
    }
}

impl DevicePool {
    /// Adds the devices of another slice of the pool.
    pub(super) fn add_devices_of_slice(&mut self, other: &Self) {
        self.link = match (self.devices, other.devices) {
            (0, _) => other.link,
            (_, 0) => self.link,
            _ => agreed(self.link, other.link),
        };
        self.node = agreed(self.node.take(), other.node.clone());
        self.devices = self.devices.saturating_add(other.devices);
        self.rdma = self.rdma.saturating_add(other.rdma);
    }
}
