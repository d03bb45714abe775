//! Containers that add IPC_LOCK, and other ways to lift the memlock limit.

use crate::pod::nic_resource_names::is_efa_resource;
use crate::pod::pod_fields::Container;
use crate::profile::Memlock;
use crate::profile::schema::Transport;
use crate::resolve::Resolution;
use crate::rules::pod_context::PodContext;

/// Whether the container's memlock limit is lifted another way: by its profile's runtime, or by the NRI plugin.
pub(super) fn is_memlock_limit_lifted(context: &PodContext<'_>, index: usize) -> bool {
    let profile = context.resolution.profile().map(|(p, _)| p);
    profile.is_some_and(|p| p.memlock == Some(Memlock::Runtime))
        || context.overlay.nri_plugin_sets_memlock(index)
}

/// Whether a container registers memory with a device, so that the memlock limit matters. The nodes for EFA lift it
/// (bottlerocket-os/bottlerocket-core-kit CHANGELOG.md v2.7.0; awslabs/amazon-eks-ami), unless the profile says otherwise.
pub(super) fn registers_memory_under_limit(
    context: &PodContext<'_>,
    index: usize,
    container: &Container<'_>,
) -> bool {
    let limited = || {
        let (Resolution::Profile { profile, .. } | Resolution::Outside { profile, .. }) = &context.resolution
        else {
            return false;
        };
        profile.transport == Transport::Efa
            && matches!(profile.memlock, Some(Memlock::IpcLock | Memlock::Nri))
    };
    let mut names = context.own_and_planned_resource_names(index);
    context.has_verbs_device(index)
        || names.any(|name| {
            is_efa_resource(name) && context.overlay.final_units_in_limits(index, container, name) > 0
        }) && limited()
}

/// Whether a container adds the capability for RDMA, and needs it.
pub(super) fn does_manifest_set_ipc_lock_and_need_it(
    context: &PodContext<'_>,
    index: usize,
    container: &Container<'_>,
) -> bool {
    container.adds_capability("IPC_LOCK")
        && !container.privileged()
        && registers_memory_under_limit(context, index, container)
        && !is_memlock_limit_lifted(context, index)
}
