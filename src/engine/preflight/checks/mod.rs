//! The checks, one folder each. Their ids have groups: 0 preflight itself, 1 devices and ports, 2 addresses and GIDs,
//! 3 limits and shared memory, 4 GPUDirect, 5 libraries of the image, 6 environment, 7 peers.

mod pf001_expectation;
mod pf002_written_files;
mod pf101_usable_devices;
mod pf102_port_state;
mod pf103_port_rate;
mod pf104_link_layer;
mod pf105_namespace_mode;
mod pf106_subnet_manager;
mod pf107_rail_devices;
mod pf108_mtu;
mod pf201_rail_interfaces;
mod pf202_gid_rows;
mod pf203_gid_index;
mod pf301_memlock;
mod pf302_shared_memory;
mod pf303_stale_segments;
mod pf401_gpudirect;
mod pf402_gpus;
mod pf403_distance;
mod pf501_verbs_library;
mod pf502_verbs_providers;
mod pf504_nccl_version;
mod pf601_hca_list;
mod pf602_socket_interfaces;
mod pf603_rdma_switched_off;
mod pf604_net_plugin;
mod pf605_bootstrap_devices;
mod pf606_topology_file;
mod pf701_peers;

use super::check_declaration::Check;

/// All checks, by id.
pub static CHECKS: &[&Check] = &[
    &pf001_expectation::CHECK,
    &pf002_written_files::CHECK,
    &pf101_usable_devices::CHECK,
    &pf102_port_state::CHECK,
    &pf103_port_rate::CHECK,
    &pf104_link_layer::CHECK,
    &pf105_namespace_mode::CHECK,
    &pf106_subnet_manager::CHECK,
    &pf107_rail_devices::CHECK,
    &pf108_mtu::CHECK,
    &pf201_rail_interfaces::CHECK,
    &pf202_gid_rows::CHECK,
    &pf203_gid_index::CHECK,
    &pf301_memlock::CHECK,
    &pf302_shared_memory::CHECK,
    &pf303_stale_segments::CHECK,
    &pf401_gpudirect::CHECK,
    &pf402_gpus::CHECK,
    &pf403_distance::CHECK,
    &pf501_verbs_library::CHECK,
    &pf502_verbs_providers::CHECK,
    &pf504_nccl_version::CHECK,
    &pf601_hca_list::CHECK,
    &pf602_socket_interfaces::CHECK,
    &pf603_rdma_switched_off::CHECK,
    &pf604_net_plugin::CHECK,
    &pf605_bootstrap_devices::CHECK,
    &pf606_topology_file::CHECK,
    &pf701_peers::CHECK,
];

/// A check by its id, in any case.
#[must_use]
pub fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.id.eq_ignore_ascii_case(id)).copied()
}
