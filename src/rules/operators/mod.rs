//! FAB3xx: objects of the SR-IOV and NVIDIA network operators, and device plugin configurations.

mod device_plugin_config;
mod device_plugin_texts;
mod host_device_network;
mod network_texts;
mod nic_cluster_policy;
mod shared_network_master;
mod vfio_with_rdma;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &vfio_with_rdma::VfioWithRdma,
    &device_plugin_config::DevicePluginConfig,
    &device_plugin_config::DevicePluginPools,
    &device_plugin_config::OperatorRefuses,
    &nic_cluster_policy::NicPolicy,
    &host_device_network::HostDeviceNetwork,
    &shared_network_master::Master,
    &network_texts::NetworkTexts,
];
