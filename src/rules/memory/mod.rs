//! FAB5xx: /dev/shm, locked memory and the security context.

mod host_ipc;
mod ipc_lock;
mod no_ipc_lock;
mod security;
mod shared_memory;
mod shm_limits;
mod shm_volumes;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &shared_memory::SharedMemory,
    &ipc_lock::IpcLockNonRoot,
    &ipc_lock::IpcLockPodSecurity,
    &ipc_lock::IpcLockUserNamespace,
    &shm_limits::BeyondMemory,
    &shm_limits::ReadOnly,
    &no_ipc_lock::NoIpcLock,
    &security::CapabilityPrefix,
    &security::NodeDevices,
    &security::PodSecurityRefuses,
    &security::Privileged,
    &host_ipc::HostIpc,
];
