//! The result of `user_fabric`: the counted networks and units of a pod, and the conclusion. Data only; the counting is
//! there.

mod in_words;

use crate::demands::claimed_devices::ClaimOn;

/// The counts, and the conclusion for networks and units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFabric {
    /// Rails that the profile has for this pod (count).
    pub rails: usize,
    /// Attachments to networks of the profile (count).
    pub own: usize,
    /// Attachments over the profile's resources through other networks (count).
    pub stand_ins: usize,
    /// Networks of the annotation with the resource of their attachments, each once.
    pub networks: Vec<CountedNetwork>,
    /// Units of extended resources other than accelerators, by name.
    pub units: Vec<CountedUnits>,
    /// The conclusion.
    pub completeness: OwnFabricResult,
}

/// A network that the pod names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedNetwork {
    /// `namespace/name`, or only the name in the pod's own namespace.
    pub name: String,
    /// How often the pod names it.
    pub times: usize,
    /// The device that each attachment takes.
    pub over: DeviceOfAttachment,
}

/// The device that an attachment takes, if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceOfAttachment {
    /// A unit of a resource.
    Resource(String),
    /// No device: macvlan, ipvlan, IPoIB and the like.
    NoDevice,
    /// The network is not known.
    Unknown,
}

/// Units of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedUnits {
    /// Resource.
    pub resource: String,
    /// Units of the target containers (count).
    pub targets: i64,
    /// Units of other running containers (count).
    pub others: i64,
}

/// The conclusion for networks and units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFabricResult {
    /// The rails that are missing are added.
    Incomplete,
    /// Attachments over the profile's resources stand in for its rails: no network is added.
    Complete,
    /// Networks that are not known have a unit each: they count as the pod's rails, and no network is added.
    CompleteByUnits,
    /// The pod has another fabric: neither networks nor units are added, and no variables of this one.
    OtherFabric(OtherFabric),
}

/// The evidence that a pod has another fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherFabric {
    /// A unit of a resource with an RDMA device that is not the profile's.
    Unit(String),
    /// A claim on NICs.
    Claim(ClaimOn),
    /// A claim on unclassified devices.
    UnknownClaim(ClaimOn),
    /// A macvlan, ipvlan or IPoIB network beside a unit of an RDMA resource: network, resource.
    Child(String, String),
    /// As many attachments through devices of another resource as the profile has rails: count, resource.
    Networks(usize, String),
}

impl UserFabric {
    /// Whether the pod has another fabric than the profile's.
    #[must_use]
    pub fn other_fabric(&self) -> Option<&OtherFabric> {
        match &self.completeness {
            OwnFabricResult::OtherFabric(other) => Some(other),
            _ => None,
        }
    }
}
