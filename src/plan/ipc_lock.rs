//! `IPC_LOCK`: lets a root process pin memory for RDMA beyond the memlock limit, which container runtimes set
//! to 8 MiB or less. It is the only capability that is ever added.

use super::{Change, Edit, IpcLockRefusal, Plan, Scene, Target};
use crate::facts::PodSecurity;
use crate::pod::runs_as_root;
use crate::pod::view::Container;
use crate::profile::{Memlock, Profile};

/// Name of the capability as Kubernetes writes it.
pub(crate) const IPC_LOCK: &str = "IPC_LOCK";

pub(super) fn plan(scene: Scene<'_>, profile: &Profile, target: Target, plan: &mut Plan) {
    let Some(container) = scene.pod.containers().get(target.index) else { return };
    let wanted = matches!(profile.memlock, Some(Memlock::IpcLock | Memlock::Nri));
    if !wanted || container.privileged() || container.adds_capability(IPC_LOCK) {
        return;
    }
    // A non-root process has an empty effective set whatever is added: Kubernetes does not support ambient
    // capabilities (kubernetes/enhancements KEP-2763; measured in NVIDIA/nvidia-container-toolkit#2037).
    if runs_as_root(scene.pod, container) == Some(false) {
        plan.ipc_lock_refusals.push((target.index, IpcLockRefusal::NonRoot));
        return;
    }
    // The kernel checks pinned memory against the limit unless `capable(CAP_IPC_LOCK)`, which asks in the first user
    // namespace (torvalds/linux drivers/infiniband/core/umem.c, ib_umem_get; kernel/capability.c).
    if scene.pod.own_users() {
        plan.ipc_lock_refusals.push((target.index, IpcLockRefusal::UserNamespace));
        return;
    }
    // Pod Security validates after mutation. Neither baseline nor restricted admits IPC_LOCK
    // (k8s.io/pod-security-admission policy/check_capabilities_baseline.go).
    let labelled = scene.namespace_facts.and_then(|f| f.pod_security());
    let level = labelled.unwrap_or(scene.snapshot.settings().pod_security_default);
    if level != PodSecurity::Privileged {
        plan.ipc_lock_refusals.push((target.index, IpcLockRefusal::PodSecurity(level)));
        return;
    }
    plan.changes.push(Change {
        edit: Edit::Capability { container: target.index, index: added(container) },
        reason: "RDMA pins memory beyond the runtime's memlock limit".to_owned(),
    });
}

fn added(container: &Container<'_>) -> usize {
    let capabilities = container.security_context.as_ref().and_then(|s| s.capabilities.as_ref());
    capabilities.and_then(|c| c.add.as_deref()).map_or(0, <[_]>::len)
}
