//! `IPC_LOCK`: lets a root process pin memory for RDMA beyond the memlock limit, which container runtimes set
//! to 8 MiB or less. It is the only capability that is ever added.

use super::{Change, Edit, IpcLockRefusal, Target};
use crate::demands::Subject;
use crate::facts::PodSecurity;
use crate::pod::pod_fields::Container;
use crate::pod::runs_as_root;
use crate::profile::{Memlock, Profile};

/// Name of the capability as Kubernetes writes it.
pub(crate) const IPC_LOCK: &str = "IPC_LOCK";

/// The change of a target; `None` where it needs none.
///
/// # Errors
/// [`IpcLockRefusal`] where it needs the capability and cannot have it.
pub(super) fn plan(
    subject: &Subject<'_>,
    profile: &Profile,
    target: Target,
) -> Result<Option<Change>, IpcLockRefusal> {
    let Some(container) = subject.pod.containers().get(target.index) else { return Ok(None) };
    let wanted = matches!(profile.memlock, Some(Memlock::IpcLock | Memlock::Nri));
    if !wanted || container.privileged() || container.adds_capability(IPC_LOCK) {
        return Ok(None);
    }
    // A non-root process has an empty effective set whatever is added: Kubernetes does not support ambient
    // capabilities (kubernetes/enhancements KEP-2763; measured in NVIDIA/nvidia-container-toolkit#2037).
    if runs_as_root(subject.pod, container) == Some(false) {
        return Err(IpcLockRefusal::NonRoot);
    }
    // What is pinned is held against the limit unless `capable(CAP_IPC_LOCK)`, which asks in the first user namespace
    // (torvalds/linux drivers/infiniband/core/umem.c, ib_umem_get; kernel/capability.c).
    if subject.pod.has_own_user_namespace() {
        return Err(IpcLockRefusal::UserNamespace);
    }
    // Pod Security validates after mutation. Neither baseline nor restricted admits IPC_LOCK
    // (k8s.io/pod-security-admission policy/check_capabilities_baseline.go).
    let labelled = subject.namespace_facts.and_then(|f| f.pod_security());
    let level = labelled.unwrap_or(subject.snapshot.settings().pod_security_default);
    if level != PodSecurity::Privileged {
        return Err(IpcLockRefusal::PodSecurity(level));
    }
    Ok(Some(Change {
        edit: Edit::Capability { container: target.index, index: index_after_own_capabilities(container) },
        reason: "RDMA pins memory beyond the runtime's memlock limit".into(),
    }))
}

fn index_after_own_capabilities(container: &Container<'_>) -> usize {
    let capabilities = container.security_context.as_ref().and_then(|s| s.capabilities.as_ref());
    capabilities.and_then(|c| c.add.as_deref()).map_or(0, <[_]>::len)
}
