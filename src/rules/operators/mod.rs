//! FAB3xx: objects of the SR-IOV and NVIDIA network operators, and device plugin configurations.

mod device_plugin_config;
mod vfio_with_rdma;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] =
    &[&vfio_with_rdma::VfioWithRdma, &device_plugin_config::DevicePluginConfig];
