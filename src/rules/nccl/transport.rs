//! FAB413: a transport that is pinned and cannot be had.

use super::given::{Given, Place, Spoken};
use crate::nccl::number::{is_open, is_word, leading_number};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB413.
pub(super) struct TransportChoice;

static TRANSPORT_CHOICE: Meta = Meta {
    id: "FAB413",
    severity: Severity::Error,
    summary: "NCCL_NET names a transport that the container does not have or use",
    what: "`NCCL_NET=IB` beside a `NCCL_IB_DISABLE` that switches the same transport off: an error where both are in `env`. \
           A warning for `NCCL_NET=IB` where the pod asks for nothing that could bring an RDMA device (no resource beside \
           accelerators, no claim, no network, no `IPC_LOCK`, neither privileged nor on the host's network), and for \
           `NCCL_NET=Socket` where it asks for one.",
    why: "A pinned transport that finds no device ends the start: `Failed to initialize any NET plugin`, up to 2.26 `network \
          IB not found`. With `Socket` the NIC is reserved and idle.",
    fix: "Drop one of the two, or ask for the device.",
    bad: pod!(
        "    - {name: NCCL_NET, value: IB}\n    - {name: NCCL_IB_DISABLE, value: \"1\"}\n",
        ", rdma/rdma_shared_device_a: 1"
    ),
    good: pod!("    - {name: NCCL_NET, value: IB}\n", ", rdma/rdma_shared_device_a: 1"),
    sources: &["NVIDIA/nccl src/plugin/net.cc (ncclNetInit), src/transport/net_ib (ncclParamIbDisable)"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB02", "NB03", "NB04"],
    waiver: Waiver::Allowed,
};

/// Whether the container itself pins the verbs transport.
pub(super) fn pins_verbs<'s>(spoken: &'s Spoken<'_>) -> Option<&'s Given<'s>> {
    let given = spoken.said("NCCL_NET")?;
    given.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("IB")).then_some(given)
}

impl Rule for TransportChoice {
    fn meta(&self) -> &'static Meta {
        &TRANSPORT_CHOICE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            if let Some(net) = pins_verbs(spoken) {
                pinned(context, spoken, net, findings);
                continue;
            }
            let socket = spoken.said("NCCL_NET");
            let socket =
                socket.filter(|g| g.value.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("Socket")));
            let Some(net) = socket.filter(|_| context.has_rdma(spoken.index)) else { continue };
            // Other libraries use the device whatever NCCL does.
            let elsewhere =
                spoken.own().any(|g| ["UCX_", "NVSHMEM_", "FI_"].iter().any(|p| g.name.starts_with(p)));
            let severity = if elsewhere { Severity::Info } else { Severity::Warning };
            findings.add_as(
                severity,
                spoken.path(net),
                format!("NCCL_NET=Socket{} with an RDMA device: NCCL runs over TCP", spoken.place(net)),
                "drop NCCL_NET, or the RDMA device",
            );
        }
    }
}

fn pinned(context: &PodContext<'_>, spoken: &Spoken<'_>, net: &Given<'_>, findings: &mut Findings<'_>) {
    let off = spoken.last("NCCL_IB_DISABLE").and_then(|g| Some((g, g.value.as_deref()?)));
    if let Some((off, value)) = off.filter(|(_, v)| !is_open(v) && !is_word(v) && leading_number(v) != 0) {
        // What a script sets it may set on a branch that is never taken.
        let sure = |g: &Given<'_>| matches!(g.place, Place::Env(_) | Place::EnvFrom(..));
        let severity =
            if sure(net) && sure(off) && !spoken.open { Severity::Error } else { Severity::Warning };
        let value = leading_number(value);
        findings.add_as(
            severity,
            spoken.path(off),
            format!(
                "NCCL_IB_DISABLE={value}{} beside NCCL_NET=IB: NCCL ends as it starts",
                spoken.place(off)
            ),
            "drop NCCL_IB_DISABLE for RDMA, or NCCL_NET for TCP",
        );
        return;
    }
    if gets_nothing(context, spoken) {
        findings.add_as(
            Severity::Warning,
            spoken.path(net),
            format!("NCCL_NET=IB{}, but the container asks for no RDMA device: NCCL ends as it starts without one", spoken.place(net)),
            "ask for the RDMA resource of the fabric, or drop NCCL_NET",
        );
    }
}

/// Whether nothing is seen that could bring an RDMA device to a container. Some clouds hand devices to every container
/// that asks for accelerators; their manifests add `IPC_LOCK` all the same.
fn gets_nothing(context: &PodContext<'_>, spoken: &Spoken<'_>) -> bool {
    let (pod, container) = (context.pod(), spoken.container);
    let known = |name: &str| {
        !name.contains('/')
            || ["nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu"].iter().any(|p| name.starts_with(p))
    };
    let annotations = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let hints = |key: &str| key.contains("network") || key.contains("device") || key.contains("cdi");
    context.demands.app(spoken.index).any
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
