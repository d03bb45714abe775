//! An extended resource: who serves it, and what its devices are.

use crate::multus::{LinkLayer, ResourceName};
use std::sync::Arc;

/// Who advertises a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// The SR-IOV operator's device plugin, by a SriovNetworkNodePolicy.
    SriovOperator,
    /// A SR-IOV network device plugin with a configuration of its own.
    SriovDevicePlugin,
    /// The RDMA shared device plugin.
    SharedDevicePlugin,
    /// A DRA driver, by a DeviceClass.
    DeviceClass,
}

/// What is known of an extended resource. What several objects say of one resource differently is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFact {
    /// Name; the prefix of the SR-IOV operator's resources is not known.
    pub name: ResourceName,
    /// Who advertises it.
    pub server: Server,
    /// Link layer of the devices.
    pub link: Option<LinkLayer>,
    /// Whether a container gets an RDMA device with it.
    pub rdma: Option<bool>,
    /// Whether several pods use one device at a time.
    pub shared: Option<bool>,
    /// Units that one NIC gives (count): virtual functions, or `rdmaHcaMax` pods.
    pub per_nic: Option<u32>,
    /// Interfaces of the nodes that it is limited to; empty where names are not what it goes by.
    pub interfaces: Vec<String>,
    /// Objects that say so, by kind and name; the first few.
    pub origins: Vec<Arc<str>>,
}

/// Objects that are named for one resource.
const MAX_ORIGINS: usize = 2;

impl ResourceFact {
    /// What this and another object say of one resource together.
    pub(super) fn merge(&mut self, other: &Self) {
        self.server = self.server.min(other.server);
        self.link = agreed(self.link, other.link);
        self.rdma = agreed(self.rdma, other.rdma);
        self.shared = agreed(self.shared, other.shared);
        self.per_nic = agreed(self.per_nic, other.per_nic);
        let room = MAX_ORIGINS.saturating_sub(self.origins.len());
        let new = other.origins.iter().filter(|o| !self.origins.contains(o)).take(room).cloned();
        let new: Vec<Arc<str>> = new.collect();
        self.origins.extend(new);
        // A source without names takes any interface.
        if self.interfaces.is_empty() || other.interfaces.is_empty() {
            self.interfaces.clear();
        } else {
            self.interfaces.extend(other.interfaces.iter().cloned());
            self.interfaces.sort_unstable();
            self.interfaces.dedup();
        }
    }
}

impl ResourceFact {
    /// Who serves it and which objects say so, for a message. For tenants only the kinds: the objects are the
    /// operators'.
    #[must_use]
    pub fn describe(&self, tenant: bool) -> String {
        let by = match self.server {
            Server::SriovOperator => "the SR-IOV operator",
            Server::SriovDevicePlugin => "the SR-IOV device plugin",
            Server::SharedDevicePlugin => "the RDMA shared device plugin",
            Server::DeviceClass => "a DRA driver",
        };
        if tenant || self.origins.is_empty() {
            return by.to_owned();
        }
        format!("{by}, {}", self.origins.join(" and "))
    }
}

/// A value that two sources give alike.
pub(super) fn agreed<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<T> {
    if a == b { a } else { None }
}
