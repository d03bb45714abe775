//! FAB413: NCCL_NET names a transport that the container cannot or does not use.

use super::transport::pins_verbs;
use crate::nccl::number::{is_open, is_word, leading_number};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::rules::variables::{ContainerVariables, Given, Place};

pub(super) static RULE: Rule = Rule {
    id: "FAB413",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, "NCCL may still run: over TCP, or with a device from elsewhere"),
        (Severity::Info, "other libraries may use the device"),
    ],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for variables in context.variables() {
        if let Some(net) = pins_verbs(variables) {
            pinned(context, variables, net, findings);
            continue;
        }
        let socket = variables.said("NCCL_NET");
        let socket = socket.filter(|g| g.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("Socket")));
        let Some(net) = socket.filter(|_| context.has_rdma(variables.index)) else { continue };
        // Other libraries use the device whatever NCCL does.
        let elsewhere =
            variables.own().any(|g| ["UCX_", "NVSHMEM_", "FI_"].iter().any(|p| g.name.starts_with(p)));
        let severity = if elsewhere { Severity::Info } else { Severity::Warning };
        findings.add_as(
            severity,
            variables.path(net),
            format!(
                "NCCL_NET=Socket{} with an RDMA device: NCCL runs over TCP, and the NIC stays idle",
                variables.place(net)
            ),
            "Remove NCCL_NET, or the RDMA device.",
        );
    }
}

fn pinned(
    context: &PodContext<'_>,
    variables: &ContainerVariables<'_>,
    net: &Given<'_>,
    findings: &mut Findings<'_>,
) {
    let off = variables.last("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
    if let Some((off, value)) = off.filter(|(_, v)| !is_open(v) && !is_word(v) && leading_number(v) != 0) {
        // A script may set it on a branch that never runs.
        let sure = |g: &Given<'_>| matches!(g.place, Place::Env(_) | Place::EnvFrom(..));
        let severity =
            if sure(net) && sure(off) && !variables.open { Severity::Error } else { Severity::Warning };
        let value = leading_number(value);
        findings.add_as(
            severity,
            variables.path(off),
            format!(
                "NCCL_IB_DISABLE={value}{} with NCCL_NET=IB: NCCL fails at start-up",
                variables.place(off)
            ),
            "Remove NCCL_IB_DISABLE for RDMA, or NCCL_NET for TCP.",
        );
        return;
    }
    if gets_nothing(context, variables) {
        findings.add_as(
            Severity::Warning,
            variables.path(net),
            format!(
                "NCCL_NET=IB{}, but the container requests no RDMA device: NCCL fails at start-up",
                variables.place(net)
            ),
            "Request the fabric's RDMA resource, or remove NCCL_NET.",
        );
    }
}

/// Whether nothing is seen that could bring an RDMA device to a container. Some clouds hand devices to every container
/// that asks for accelerators; their manifests add `IPC_LOCK` all the same.
fn gets_nothing(context: &PodContext<'_>, variables: &ContainerVariables<'_>) -> bool {
    let (pod, container) = (context.pod(), variables.container);
    let known = |name: &str| {
        !name.contains('/')
            || ["nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu"].iter().any(|p| name.starts_with(p))
    };
    let annotations = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let hints = |key: &str| key.contains("network") || key.contains("device") || key.contains("cdi");
    context.subject.demands.app(variables.index).any
        && container.resource_names().all(known)
        && !pod.host_network()
        && !container.privileged()
        && !container.adds_capability("IPC_LOCK")
        && pod.spec.as_ref().is_some_and(|s| s.resource_claims.is_none())
        && context.resolution.profile().is_none()
        && annotations.is_none_or(|a| !a.iter().any(|(key, _)| hints(key)))
        && !container
            .volume_mounts()
            .iter()
            .any(|m| m.mount_path.as_deref().is_some_and(|p| p.starts_with("/dev/infiniband")))
}
