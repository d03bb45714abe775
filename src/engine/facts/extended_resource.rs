//! An extended resource: its provider, and its devices.

use crate::multus::{LinkLayer, ResourceName};
use std::sync::Arc;

/// The provider of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceProvider {
    /// The SR-IOV operator's device plugin, by a SriovNetworkNodePolicy.
    SriovOperator,
    /// An SR-IOV network device plugin with its own configuration.
    SriovDevicePlugin,
    /// The RDMA shared device plugin.
    SharedDevicePlugin,
    /// A DRA driver, by a DeviceClass.
    DeviceClass,
}

/// The known facts about an extended resource. If several objects disagree on a fact, it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFact {
    /// Name; the prefix of the SR-IOV operator's resources is not known.
    pub name: ResourceName,
    /// Its provider.
    pub server: ResourceProvider,
    /// Link layer of the devices.
    pub link: Option<LinkLayer>,
    /// Whether a container gets an RDMA device with it.
    pub rdma: Option<bool>,
    /// Whether several pods use one device at once.
    pub shared: Option<bool>,
    /// Units per NIC (count): virtual functions, or `rdmaHcaMax` pods.
    pub per_nic: Option<u32>,
    /// Interfaces of the nodes that it is limited to; empty if it does not select by name.
    pub interfaces: Vec<String>,
    /// PCI vendor of the devices (four hexadecimal digits), if it is limited to one.
    pub vendor: Option<String>,
    /// Objects with these facts, by kind and name; the first few.
    pub origins: Vec<Arc<str>>,
}

/// Whether a name says DPDK.
#[must_use]
pub fn names_dpdk(name: &str) -> bool {
    name.to_ascii_lowercase().contains("dpdk")
}

impl ResourceFact {
    /// Whether its name or that of its policy says that its devices are for DPDK. DPDK over an NVIDIA NIC uses the RDMA
    /// device and sends raw Ethernet frames: it needs no address (OpenShift's example has policy `mlx-dpdk-node-policy`
    /// with resource `mlxnics`).
    #[must_use]
    pub fn is_for_dpdk(&self) -> bool {
        names_dpdk(&self.name.to_string()) || self.origins.iter().any(|origin| names_dpdk(origin))
    }

    /// Its provider and the objects with its facts, for a message. Tenants see only the kinds: the objects are the
    /// operators'.
    #[must_use]
    pub fn describe_provider(&self, tenant: bool) -> String {
        let by = match self.server {
            ResourceProvider::SriovOperator => "SR-IOV operator",
            ResourceProvider::SriovDevicePlugin => "SR-IOV device plugin",
            ResourceProvider::SharedDevicePlugin => "RDMA shared device plugin",
            ResourceProvider::DeviceClass => "DRA driver",
        };
        if tenant || self.origins.is_empty() {
            return by.to_owned();
        }
        let first = self.origins.first().map(|origin| &**origin).unwrap_or_default();
        match self.origins.len() {
            0 | 1 => format!("{by}, see {first}"),
            2 => format!("{by}, see {first} and 1 other"),
            n => format!("{by}, see {first} and {} others", n - 1),
        }
    }
}
