//! FAB512: hostIPC beside accelerators.

use crate::plan::SHM_PATH;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB512", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let pod = context.pod();
    if !pod.host_ipc() {
        return;
    }
    let mut asking = pod.containers().iter().enumerate().filter(|(index, _)| context.demands.app(*index).any);
    let Some((_, first)) = asking.next() else { return };
    let own = first.mount_at(SHM_PATH).is_some() && asking.all(|(_, c)| c.mount_at(SHM_PATH).is_some());
    let message = match own {
        true => format!(
            "hostIPC with a volume at {SHM_PATH}: the volume is what is used, hostIPC is not needed for it"
        ),
        false => format!("hostIPC: {SHM_PATH} is the node's own, with what other jobs left there"),
    };
    findings.add("/spec/hostIPC", message, "drop hostIPC and mount an emptyDir with medium: Memory");
}
