//! FAB512: hostIPC on a pod with accelerators.

use crate::plan::SHM_PATH;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB512", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    if !pod.host_ipc() {
        return;
    }
    let mut asking = pod
        .containers()
        .iter()
        .enumerate()
        .filter(|(index, _)| context.subject.demands.of_app_container(*index).any);
    let Some((_, first)) = asking.next() else { return };
    let own = first.mount_at(SHM_PATH).is_some() && asking.all(|(_, c)| c.mount_at(SHM_PATH).is_some());
    let message = match own {
        true => format!(
            "hostIPC is true, but a volume is at {SHM_PATH}: shared memory uses the volume, so hostIPC is not needed"
        ),
        false => format!(
            "hostIPC is true: the pod uses the node's {SHM_PATH}, which also contains files that other jobs left behind"
        ),
    };
    findings.add(
        "/spec/hostIPC",
        message,
        "Remove hostIPC. If nothing is mounted at /dev/shm, mount an emptyDir with medium: Memory.",
    );
}
