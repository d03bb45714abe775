//! FAB507: RDMA device without IPC_LOCK under a profile that relies on it.

use crate::pod::runs_as_root;
use crate::pod::view::Container;
use crate::profile::Memlock;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB507", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for (index, container) in context.pod().containers().iter().enumerate() {
        // It has no effect for another user than root and in a user namespace (FAB502, FAB504).
        let heeded = runs_as_root(context.pod(), container) != Some(false) && !context.pod().own_users();
        if !heeded
            || !context.is_target(index)
            || has_leave(context, index, container)
            || !context.has_rdma(index)
        {
            continue;
        }
        // Another rule reports why the plan adds nothing.
        if context.plan.ipc_lock_refusal(index).is_some() {
            continue;
        }
        let profile = context.resolution.profile().map(|(p, _)| p);
        if profile.is_some_and(|p| matches!(p.memlock, Some(Memlock::IpcLock | Memlock::Nri))) {
            findings.add(
                paths::in_container(index, "securityContext"),
                "RDMA device without IPC_LOCK: the runtime's memlock limit applies and registering memory fails",
                "Add IPC_LOCK to securityContext.capabilities.add, or raise the runtime's limit.",
            );
        }
    }
}

/// Whether a container may pin memory, now or once the plan is carried out.
fn has_leave(context: &PodContext<'_>, index: usize, container: &Container<'_>) -> bool {
    container.privileged()
        || container.adds_capability("IPC_LOCK")
        || context.overlay.adds_ipc_lock(index)
        || context.overlay.sets_memlock(container)
}
