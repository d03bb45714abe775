//! FAB227: the address on one NIC, the RDMA device on another.

use crate::facts::Index;
use crate::multus::LinkLayer;
use crate::multus::Sharing;
use crate::rules::examples::{macvlan_network, pod, shared_pool};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB227.
pub(super) struct OtherNic;

macro_rules! nics {
    () => {
        "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-1, namespace: sriov-network-operator}
status:
  syncStatus: Succeeded
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, mtu: 9000}
  - {name: ens2f0np0, pciAddress: '0000:3b:00.0', linkType: ETH, mtu: 9000}
---
"
    };
}

static OTHER_NIC: Meta = Meta {
    id: "FAB227",
    severity: Severity::Error,
    summary: "macvlan over another NIC than the RDMA device",
    what: "The pod holds shared RDMA devices over named interfaces, and all its macvlan, ipvlan and IPoIB networks are \
           over other ones. An error where SriovNetworkNodeStates know all of them as NICs; else a warning, since one \
           NIC may have two names. Silent for bonds, bridges and VLANs.",
    why: "The address is on one NIC and the verbs are on another: the HCA that NCCL opens has no GID in the pod, and \
          connecting fails with `Failed to modify QP to RTR`.",
    fix: "Let `master` of the network and `ifNames` of the pool name the same NIC.",
    bad: concat!(
        nics!(),
        shared_pool!(),
        macvlan_network!("ens2f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    good: concat!(
        nics!(),
        shared_pool!(),
        macvlan_network!("ens1f0np0"),
        pod!(networks: "macvlan", limits: ", rdma/hca_a: 1")
    ),
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin README.md (ifNames)",
        "containernetworking/plugins plugins/main/macvlan (master)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-009"],
    waiver: Waiver::Allowed,
};

/// Interfaces that are made over others: which NIC is below is not told by their names.
const UPPER: [&str; 5] = ["bond", "team", "br", "vlan", "ovs"];

/// Whether an interface may be over one of those of the pools.
fn may_be_over(master: &str, pools: &[&str]) -> bool {
    let below =
        |nic: &&str| master.strip_prefix(*nic).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    pools.iter().any(below) || UPPER.iter().any(|upper| master.starts_with(upper)) || master.contains('.')
}

impl Rule for OtherNic {
    fn meta(&self) -> &'static Meta {
        &OTHER_NIC
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let devices = context.devices();
        let pools = || devices.held.iter().filter(|held| held.fact.shared == Some(true));
        if pools().next().is_none() || context.pod().host_network() {
            return;
        }
        // InfiniBand needs no address: its GIDs come from the subnet manager.
        if pools().any(|held| held.fact.link != Some(LinkLayer::Ethernet)) {
            return;
        }
        // A pool without names takes any NIC.
        if pools().any(|held| held.fact.interfaces.is_empty()) {
            return;
        }
        let nics: Vec<&str> =
            pools().flat_map(|held| held.fact.interfaces.iter().map(String::as_str)).collect();
        let mut masters = Vec::new();
        for network in &devices.networks {
            let Some(known) = network.known else { return };
            match (known.class.sharing, known.fact.class.interface.as_deref()) {
                (Some(Sharing::Shared), Some(master)) if !may_be_over(master, &nics) => {
                    masters.push((network, master));
                }
                (Some(Sharing::Shared), _) | (None, _) => return,
                (Some(_), _) => {}
            }
        }
        let facts: &Index = context.snapshot.facts();
        let is_nic = |name: &str| facts.port(name).is_some();
        // What the pools are over is the operators' to know.
        let on = match context.tenant_view {
            true => "other NICs".to_owned(),
            false => printable(&nics.join(", "), 40),
        };
        for (network, master) in masters {
            let proven =
                context.snapshot.states_cover_nodes() && is_nic(master) && nics.iter().all(|nic| is_nic(nic));
            let severity = if proven { Severity::Error } else { Severity::Warning };
            findings.add_as(
                severity,
                annotation_path(),
                format!(
                    "network {} is over {}, the RDMA devices of the pod are on {}: the HCA has no address",
                    network.told(),
                    printable(master, 15),
                    on
                ),
                "name a network over the same NIC, or ask the pool that is over the network's",
            );
        }
    }
}
