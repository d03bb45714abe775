//! FAB504: IPC_LOCK has no effect in a pod with its own user namespace.

use super::does_container_need_ipc_lock::does_manifest_set_ipc_lock_and_need_it;
use crate::plan::IpcLockRefusal;
use crate::pod::runs_as_root;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB504",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let refused = context.plan.ipc_lock_refusal(index) == Some(&IpcLockRefusal::UserNamespace);
        // FAB502 reports users other than root.
        let added = context.pod().has_own_user_namespace()
            && runs_as_root(context.pod(), container) != Some(false)
            && does_manifest_set_ipc_lock_and_need_it(context, index, container);
        if !refused && !added {
            continue;
        }
        let what = if refused { "IPC_LOCK is not added to" } else { "IPC_LOCK has no effect in" };
        findings.add(
            "/spec/hostUsers",
            format!(
                "{what} container {:?} (hostUsers: false): memlock stays at the runtime's limit",
                container.name()
            ),
            "Remove hostUsers: false, or raise the limit (containerd: LimitMEMLOCK=infinity).",
        );
    }
}
