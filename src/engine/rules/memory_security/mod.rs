//! FAB5xx: memory and security settings of the pod: `/dev/shm`, the memlock limit, `IPC_LOCK`, privileges and Pod
//! Security.

mod accelerators_of_containers;
mod does_container_need_ipc_lock;
mod fab501_shared_memory_size;
mod fab502_ipc_lock_non_root;
mod fab503_ipc_lock_pod_security;
mod fab504_ipc_lock_user_namespace;
mod fab505_shm_beyond_memory;
mod fab506_shm_read_only;
mod fab507_ipc_lock_missing;
mod fab508_capability_prefix;
mod fab509_node_infiniband_devices;
mod fab510_pod_security_refuses;
mod fab511_privileged_with_rdma;
mod fab512_host_ipc;
mod tools_without_nccl;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab501_shared_memory_size::RULE,
    &fab502_ipc_lock_non_root::RULE,
    &fab503_ipc_lock_pod_security::RULE,
    &fab504_ipc_lock_user_namespace::RULE,
    &fab505_shm_beyond_memory::RULE,
    &fab506_shm_read_only::RULE,
    &fab507_ipc_lock_missing::RULE,
    &fab508_capability_prefix::RULE,
    &fab509_node_infiniband_devices::RULE,
    &fab510_pod_security_refuses::RULE,
    &fab511_privileged_with_rdma::RULE,
    &fab512_host_ipc::RULE,
];
