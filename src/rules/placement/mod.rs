//! FAB7xx: placement, topology, gangs, capacity and quota.

mod host_names;
mod kueue;
pub(super) mod landing;
mod nodes;
mod operators;
mod owner_annotations;
mod replica_types;
mod service_mesh;
mod shared_claim;
mod without_rdma;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &replica_types::Variables,
    &replica_types::Devices,
    &service_mesh::Mesh,
    &host_names::HostNames,
    &without_rdma::WithoutRdma,
    &owner_annotations::OwnerAnnotations,
    &shared_claim::SharedClaim,
    &kueue::Kueue,
    &nodes::NotListed,
    &operators::MixedLinks,
    &nodes::DriverAwaited,
    &operators::Unsettled,
];
