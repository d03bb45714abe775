//! FAB2xx: device resources, quantities and claims, and what they need of networks and nodes.

mod claimed_functions;
mod claims;
mod containers;
mod host_network;
mod imex;
mod master;
mod mtu;
mod no_interface;
mod quantities;
mod rdma_mode;
mod shared_ids;
mod slices;
mod units;
mod without_rdma;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &quantities::Quantity,
    &quantities::FewerUnits,
    &units::OtherContainer,
    &units::MoreUnits,
    &containers::SharedQuantity,
    &containers::HugePages,
    &no_interface::NoInterface,
    &shared_ids::SharedIds,
    &rdma_mode::IsolationInSharedMode,
    &rdma_mode::NoIsolationInExclusiveMode,
    &rdma_mode::SharedPoolInExclusiveMode,
    &without_rdma::FunctionsWithoutRdma,
    &without_rdma::InterfaceAlone,
    &master::OtherNic,
    &mtu::MixedMtu,
    &slices::Slices,
    &claims::ClaimNames,
    &claims::SharedClaim,
    &claimed_functions::Unattached,
    &claimed_functions::AttachedTwice,
    &claimed_functions::ClaimedVfio,
    &claims::Twice,
    &imex::NoChannel,
    &host_network::UnusedDevice,
    &host_network::NodeDns,
];
