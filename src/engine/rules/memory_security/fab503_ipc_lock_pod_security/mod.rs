//! FAB503: IPC_LOCK is not added because Pod Security would reject the pod.

use crate::plan::IpcLockRefusal;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB503", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, refusal) in &context.plan.ipc_lock_refusals {
        if let IpcLockRefusal::PodSecurity(level) = refusal {
            findings.add(
                pointers_in_pod::in_container(*index, "securityContext"),
                format!("IPC_LOCK is not added: Pod Security level {level} of namespace {:?} would refuse the pod", context.subject.namespace),
                "Raise the runtime's limit (containerd: LimitMEMLOCK=infinity), or use a privileged namespace.",
            );
        }
    }
}
