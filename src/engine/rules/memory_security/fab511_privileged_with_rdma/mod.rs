//! FAB511: privileged training container with an RDMA device of its own.

use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB511",
    severity: Severity::Warning,
    files: files!(),
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Only NCCL with accelerators takes all NICs that it sees. Agents, health checks and benchmarks name theirs. On the host's
/// network the addresses of all NICs are the pod's.
fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if context.pod().host_network() {
        return;
    }
    for (index, container) in context.pod().containers().iter().enumerate() {
        let takes_all = context.subject.demands.app(index).any && !names_devices(context, index);
        if takes_all && container.privileged() && context.has_rdma(index) {
            findings.add(
                paths::in_container(index, "securityContext/privileged"),
                "privileged with an RDMA device: the container sees every NIC of the node, also those of other pods",
                "Remove privileged and add IPC_LOCK, or name the devices in NCCL_IB_HCA.",
            );
        }
    }
}

fn cel() -> Cel {
    let privileged = "!object.spec.?hostNetwork.orValue(false) &&\n\
                          c.?securityContext.?privileged.orValue(false) && {accelerated} && {rdma} &&\n\
                          !c.?env.orValue([]).exists(e, e.name == 'NCCL_IB_HCA') &&\n\
                          !('fabric-admission.dev/file.nccl.conf' in variables.annotations)";
    let check = Check {
        severity: Severity::Warning,
        wrong: Wrong::Containers(privileged.into()),
        message: "privileged with an RDMA device: the container sees every NIC of the node, also those of other pods; remove privileged and add IPC_LOCK, or name the devices in NCCL_IB_HCA",
    };
    let beyond = Some("resources that only a profile knows to be RDMA, and what stands in /etc/nccl.conf");
    Cel { variables: Vec::new(), checks: vec![check], beyond }
}

/// Whether an app container selects devices for NCCL, itself or by the plan.
fn names_devices(context: &PodContext<'_>, index: usize) -> bool {
    let container = context.pod().containers().get(index);
    container.is_some_and(|c| context.overlay.variable(index, c, "NCCL_IB_HCA").is_some())
}
