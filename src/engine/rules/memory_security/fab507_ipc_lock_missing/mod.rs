//! FAB507: RDMA device without IPC_LOCK.

use super::does_container_need_ipc_lock::registers_memory_under_limit;
use crate::pod::pod_fields::Container;
use crate::pod::runs_as_root;
use crate::profile::{Memlock, Profile};
use crate::resolve::Resolution;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::{PodContext, WhyPodIsChecked};
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB507",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        // It has no effect for another user than root and in a user namespace (FAB502, FAB504).
        let heeded =
            runs_as_root(context.pod(), container) != Some(false) && !context.pod().has_own_user_namespace();
        if !heeded
            || context.scope == WhyPodIsChecked::Injection
                && !context.is_target_or_requests_accelerators_without_plan(index)
            || may_pin_memory(context, index, container)
            || !registers_memory_under_limit(context, index, container)
        {
            continue;
        }
        // Another rule reports why the plan adds nothing.
        if context.plan.ipc_lock_refusal(index).is_some() {
            continue;
        }
        let message = match &context.resolution {
            Resolution::Profile { profile, .. } => match profile.memlock {
                Some(Memlock::IpcLock | Memlock::Nri) => {
                    "RDMA device without IPC_LOCK: the runtime's memlock limit applies, and registering memory fails"
                }
                _ => continue,
            },
            Resolution::Outside { profile, .. } if does_runtime_lift_limit(profile) => continue,
            Resolution::Ambiguous { candidates, .. }
                if candidates.iter().any(|p| does_runtime_lift_limit(p)) =>
            {
                continue;
            }
            _ => {
                "RDMA device without IPC_LOCK: registering memory fails unless the container runtime lifts the memlock limit"
            }
        };
        findings.add(
            pointers_in_pod::in_container(index, "securityContext"),
            message,
            "Add IPC_LOCK to securityContext.capabilities.add, or raise the runtime's memlock limit.",
        );
    }
}

/// Whether the runtime of a profile's nodes lifts the limit.
fn does_runtime_lift_limit(profile: &Profile) -> bool {
    profile.memlock == Some(Memlock::Runtime)
}

/// Whether a container may pin memory, now or once the plan is carried out.
fn may_pin_memory(context: &PodContext<'_>, index: usize, container: &Container<'_>) -> bool {
    container.privileged()
        || container.adds_capability("IPC_LOCK")
        || context.overlay.adds_ipc_lock(index)
        || context.overlay.nri_plugin_sets_memlock(index)
}
