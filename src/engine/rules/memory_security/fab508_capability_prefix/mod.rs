//! FAB508: capability IPC_LOCK written with the prefix CAP_.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};

pub(super) static RULE: Rule = Rule {
    id: "FAB508",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let added = container.security_context.as_ref().and_then(|s| s.capabilities.as_ref()?.add.as_deref());
        let added = added.unwrap_or_default();
        let has = |name: &str| added.iter().position(|c| c.eq_ignore_ascii_case(name));
        let Some(at) = has("CAP_IPC_LOCK") else { continue };
        if has("IPC_LOCK").is_none() && has("ALL").is_none() && !container.privileged() {
            findings.add(
                pointers_in_pod::in_container(index, format_args!("securityContext/capabilities/add/{at}")),
                "capability CAP_IPC_LOCK: containerd expects names without CAP_, so the container does not get the capability",
                "Write IPC_LOCK.",
            );
        }
    }
}

fn cel() -> Cel {
    let prefixed = "!c.?securityContext.?privileged.orValue(false) &&\n\
                        c.?securityContext.?capabilities.?add.orValue([]).exists(n, n.lowerAscii() == 'cap_ipc_lock') &&\n\
                        !c.securityContext.capabilities.add.exists(n, n.lowerAscii() in ['ipc_lock', 'all'])";
    let check = CelCheck {
        severity: Severity::Warning,
        wrong: CelCondition::Containers(prefixed.into()),
        message: "capability CAP_IPC_LOCK: containerd expects names without CAP_, so the container does not get the capability; write IPC_LOCK",
    };
    Cel { variables: Vec::new(), checks: vec![check], beyond: None }
}
