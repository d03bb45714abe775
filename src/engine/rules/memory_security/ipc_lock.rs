//! Containers that add IPC_LOCK, and other ways to lift the memlock limit.

use crate::pod::view::Container;
use crate::profile::Memlock;
use crate::rules::pod::PodContext;

/// Whether the container's memlock limit is lifted another way: by its profile's runtime, or by the NRI plugin.
pub(super) fn is_lifted(context: &PodContext<'_>, container: &Container<'_>) -> bool {
    let profile = context.resolution.profile().map(|(p, _)| p);
    profile.is_some_and(|p| p.memlock == Some(Memlock::Runtime)) || context.overlay.sets_memlock(container)
}

/// Whether a container adds the capability for RDMA, and needs it.
pub(super) fn adds(context: &PodContext<'_>, index: usize, container: &Container<'_>) -> bool {
    container.adds_capability("IPC_LOCK")
        && !container.privileged()
        && context.has_rdma(index)
        && !is_lifted(context, container)
}
