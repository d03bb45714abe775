//! FAB502: IPC_LOCK has no effect for a non-root user.

use super::does_container_need_ipc_lock::does_manifest_set_ipc_lock_and_need_it;
use crate::plan::IpcLockRefusal;
use crate::pod::runs_as_root;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB502",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let refused = context.plan.ipc_lock_refusal(index) == Some(&IpcLockRefusal::NonRoot);
        let added = runs_as_root(context.pod(), container) == Some(false)
            && does_manifest_set_ipc_lock_and_need_it(context, index, container);
        if !refused && !added {
            continue;
        }
        let message = if refused {
            "IPC_LOCK is not added, because the container runs as non-root: memlock stays at the runtime's limit"
        } else {
            "IPC_LOCK has no effect, because the container runs as non-root: memlock stays at the runtime's limit"
        };
        findings.add(
            pointers_in_pod::in_container(index, "securityContext"),
            message,
            "Raise the runtime's limit (containerd: LimitMEMLOCK=infinity), or set runAsUser: 0.",
        );
    }
}
