//! FAB507: an RDMA device without IPC_LOCK, where the profile asks for it.

use crate::fabric::Memlock;
use crate::pod::Container;
use crate::pod::view::runs_as_root;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB507", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for (index, container) in context.pod().containers().iter().enumerate() {
        // Another user than root, and one in a namespace of its own, gets nothing from it (FAB502, FAB504).
        let heeded = runs_as_root(context.pod(), container) != Some(false) && !context.pod().own_users();
        if !heeded
            || !context.is_target(index)
            || has_leave(context, index, container)
            || !context.has_rdma(index)
        {
            continue;
        }
        // That the plan adds nothing for a reason is told with the reason.
        if context.plan.ipc_lock_refusal(index).is_some() {
            continue;
        }
        let profile = context.resolution.profile().map(|(p, _)| p);
        if profile.is_some_and(|p| matches!(p.memlock, Some(Memlock::IpcLock | Memlock::Nri))) {
            findings.add(
                paths::in_container(index, "securityContext"),
                "an RDMA device and no IPC_LOCK: the runtime's memlock limit holds, registering memory fails",
                "add IPC_LOCK to securityContext.capabilities.add, or raise the runtime's limit",
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
