//! FAB415: interfaces that the pod will not have.

use super::pod::{attachments, other_networks};
use crate::nccl::list::NameList;
use crate::nccl::number::is_open;
use crate::pod::gang::multi_node;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB415.
pub(super) struct Interfaces;

static INTERFACES: Meta = Meta {
    id: "FAB415",
    severity: Severity::Warning,
    summary: "NCCL_SOCKET_IFNAME names an interface that the pod will not have, or the loopback",
    what: "`NCCL_SOCKET_IFNAME` in a pod with a network namespace of its own, beside what is there: `eth0`, `lo` and the \
           interfaces of the networks annotation with the profile's. Also `lo` in a pod that is one of several. Information \
           where the name is one of Multus' own (`net1`) and the pod has no annotation yet, which a controller may add. Pods \
           with networks of a provider or by claim are left alone.",
    why: "NCCL ends as it starts: `no socket interface found` (2.27 shows an address family instead). Names of the node such as \
          `ens1f0` or `bond0` are not in the pod. Over `lo` ranks of other pods are never reached, and all wait.",
    fix: "Write `eth0`, the cluster's network in every pod, or the interface that the annotation gives.",
    bad: pod!("    - {name: NCCL_SOCKET_IFNAME, value: ens1f0}\n"),
    good: pod!("    - {name: NCCL_SOCKET_IFNAME, value: eth0}\n"),
    sources: &[
        "NVIDIA/nccl#1837 (what is logged), src/misc/socket.cc (ncclFindInterfaces)",
        "containerd/containerd internal/cri/server (the pod's interface is eth0)",
        "kubeflow/kubeflow#5143 (lo copied as a workaround)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB13", "NB14"],
    waiver: Waiver::Allowed,
};

const NAME: &str = "NCCL_SOCKET_IFNAME";

impl Rule for Interfaces {
    fn meta(&self) -> &'static Meta {
        &INTERFACES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.pod().host_network() {
            return;
        }
        for spoken in context.spoken() {
            let Some(given) = spoken.said(NAME) else { continue };
            let Some(value) = given.value.as_deref().filter(|v| v.len() > 1 && !is_open(v)) else { continue };
            let list = NameList::parse(value);
            if list.excludes || list.fault().is_some() {
                continue;
            }
            let place = spoken.place(given);
            if list.names().all(|n| n == "lo") {
                if multi_node(context.pod()).is_some_and(|g| g.several) {
                    findings.add(
                        spoken.path(given),
                        format!("{NAME}=lo{place} in a pod that is one of several: ranks of other pods are never reached"),
                        "write eth0",
                    );
                }
                continue;
            }
            let Some(networks) = attachments(context).interfaces.filter(|_| !other_networks(context)) else {
                return;
            };
            let there = |name: &str| list.chooses(name);
            if ["eth0", "lo"].into_iter().any(there) || networks.iter().any(|n| there(n)) {
                continue;
            }
            // A controller may still give a template its annotation.
            let named = list
                .names()
                .any(|n| n.strip_prefix("net").is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit())));
            let severity = if named && networks.is_empty() { Severity::Info } else { Severity::Warning };
            let have: Vec<String> = networks.iter().take(4).map(|n| printable(n, 15)).collect();
            let have = if have.is_empty() { "eth0".to_owned() } else { format!("eth0, {}", have.join(", ")) };
            findings.add_as(
                severity,
                spoken.path(given),
                format!(
                    "{NAME}={}{place}, but the pod has {have} alone: NCCL ends without an interface",
                    printable(value, 40)
                ),
                "write eth0, or the interface that the networks annotation gives",
            );
        }
    }
}
