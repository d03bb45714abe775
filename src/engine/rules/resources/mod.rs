//! FAB2xx: device resources, quantities and claims, and the networks and nodes that they need.
//! Rules on `/dev/shm` and capabilities are in `memory_security`.

mod claims_on_sriov_vfs;
mod fab201_refused_quantity;
mod fab202_fewer_units_than_attachments;
mod fab203_rdma_on_other_container;
mod fab204_more_units_than_attachments;
mod fab205_several_units_of_shared_device;
mod fab206_huge_pages_alone;
mod fab207_mistyped_resource;
mod fab208_quantity_without_value;
mod fab220_roce_device_without_network;
mod fab221_device_network_over_shared_device;
mod fab222_isolation_in_shared_mode;
mod fab223_no_isolation_in_exclusive_mode;
mod fab224_shared_pool_in_exclusive_mode;
mod fab225_vf_without_rdma;
mod fab226_network_without_rdma_device;
mod fab227_macvlan_over_other_nic;
mod fab228_mixed_mtu;
mod fab229_accelerator_slice_with_rdma;
mod fab245_unknown_claim;
mod fab246_one_claim_for_gang;
mod fab247_claimed_vf_without_network;
mod fab248_vf_attached_twice;
mod fab249_claimed_vfio_vf;
mod fab250_accelerators_claimed_twice;
mod fab251_no_imex_channel;
mod fab260_host_network_with_vf;
mod fab261_host_network_dns;
mod other_ways_to_rdma_device;
mod rdma_driver;
pub(super) mod rdma_mode;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab201_refused_quantity::RULE,
    &fab202_fewer_units_than_attachments::RULE,
    &fab203_rdma_on_other_container::RULE,
    &fab204_more_units_than_attachments::RULE,
    &fab205_several_units_of_shared_device::RULE,
    &fab206_huge_pages_alone::RULE,
    &fab207_mistyped_resource::RULE,
    &fab208_quantity_without_value::RULE,
    &fab220_roce_device_without_network::RULE,
    &fab221_device_network_over_shared_device::RULE,
    &fab222_isolation_in_shared_mode::RULE,
    &fab223_no_isolation_in_exclusive_mode::RULE,
    &fab224_shared_pool_in_exclusive_mode::RULE,
    &fab225_vf_without_rdma::RULE,
    &fab226_network_without_rdma_device::RULE,
    &fab227_macvlan_over_other_nic::RULE,
    &fab228_mixed_mtu::RULE,
    &fab229_accelerator_slice_with_rdma::RULE,
    &fab245_unknown_claim::RULE,
    &fab246_one_claim_for_gang::RULE,
    &fab247_claimed_vf_without_network::RULE,
    &fab248_vf_attached_twice::RULE,
    &fab249_claimed_vfio_vf::RULE,
    &fab250_accelerators_claimed_twice::RULE,
    &fab251_no_imex_channel::RULE,
    &fab260_host_network_with_vf::RULE,
    &fab261_host_network_dns::RULE,
];
