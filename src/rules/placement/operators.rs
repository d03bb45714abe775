//! FAB722, FAB724: what others have decided about the pod's devices.

use crate::multus::LinkLayer;
use crate::rules::examples::pod;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB722.
pub(super) struct MixedLinks;

macro_rules! both {
    ($networks:literal, $limits:literal) => {
        concat!(
            "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-1, namespace: sriov-network-operator}
spec:
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', vfGroups: [{resourceName: roce, isRdma: true}]}
  - {name: ibs2, pciAddress: '0000:3b:00.0', vfGroups: [{resourceName: ndr, isRdma: true}]}
status:
  syncStatus: Succeeded
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, mtu: 9000}
  - {name: ibs2, pciAddress: '0000:3b:00.0', linkType: IB, mtu: 4092}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: roce
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/roce}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"roce\", \"type\": \"sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: ndr
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/ndr}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"ndr\", \"type\": \"ib-sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
",
            pod!(networks: $networks, limits: $limits)
        )
    };
}

static MIXED_LINKS: Meta = Meta {
    id: "FAB722",
    severity: Severity::Warning,
    summary: "RDMA over InfiniBand and over Ethernet in one pod",
    what: "Networks of the pod give RDMA devices of both link layers, and no container says which NCCL is to use \
           (`NCCL_IB_HCA`). That ranks may land on different fabrics is told by FAB806.",
    why: "NCCL takes every RDMA device it sees as a rail of one fabric: it connects a port of one kind with a port of the \
          other, and stops or hangs.",
    fix: "Attach one kind, or name the devices in `NCCL_IB_HCA`.",
    bad: both!("roce, ndr", ", openshift.io/roce: 1, openshift.io/ndr: 1"),
    good: both!("ndr", ", openshift.io/ndr: 1"),
    sources: &["NVIDIA/nccl src/transport/net_ib (link layers of ports)"],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-008"],
    waiver: Waiver::Allowed,
};

impl Rule for MixedLinks {
    fn meta(&self) -> &'static Meta {
        &MIXED_LINKS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        if pod.host_network() || context.final_networks.is_none() {
            return;
        }
        let (mut ethernet, mut infiniband) = (None, None);
        for network in &context.devices().networks {
            let Some(known) = network.known.filter(|known| known.class.rdma == Some(true)) else { continue };
            match known.class.link {
                Some(LinkLayer::Ethernet) => ethernet.get_or_insert(network),
                Some(LinkLayer::InfiniBand) => infiniband.get_or_insert(network),
                None => continue,
            };
        }
        let (Some(ethernet), Some(infiniband)) = (ethernet, infiniband) else { return };
        let mut containers = pod.containers().iter().enumerate();
        if containers.any(|(index, c)| context.overlay.variable(index, c, "NCCL_IB_HCA").is_some()) {
            return;
        }
        findings.add(
            annotation_path(),
            format!(
                "network {} is RoCE and {} is InfiniBand: NCCL takes both for one fabric",
                ethernet.told(),
                infiniband.told()
            ),
            "attach one kind, or name the devices in NCCL_IB_HCA",
        );
    }
}

/// FAB724.
pub(super) struct Unsettled;

macro_rules! state {
    ($status:literal) => {
        concat!(
            "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-1, namespace: sriov-network-operator}
spec:
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', vfGroups: [{resourceName: rails, isRdma: true}]}
status:
  syncStatus: ",
            $status,
            "
  interfaces: [{name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, mtu: 9000}]
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rails}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"rail\", \"type\": \"sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
",
            pod!(networks: "rail", limits: ", openshift.io/rails: 1")
        )
    };
}

static UNSETTLED: Meta = Meta {
    id: "FAB724",
    severity: Severity::Warning,
    summary: "SR-IOV functions that are still being made",
    what: "The pod asks functions of the SR-IOV operator, and on every node that makes them the operator has not finished \
           (`syncStatus` of the SriovNetworkNodeState is not `Succeeded`).",
    why: "While the operator works it re-creates the functions and drains the node: the resource is not advertised yet, \
          and pods that run lose their devices. `Failed` stays so until the policy is mended.",
    fix: "Wait for `Succeeded`; for `Failed` see `status.lastSyncError` of the SriovNetworkNodeState.",
    bad: state!("Failed"),
    good: state!("Succeeded"),
    sources: &["k8snetworkplumbingwg/sriov-network-operator pkg/daemon (syncStatus)"],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-016"],
    waiver: Waiver::Allowed,
};

impl Rule for Unsettled {
    fn meta(&self) -> &'static Meta {
        &UNSETTLED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let facts = context.snapshot.facts();
        for held in &context.devices().held {
            if facts.site(held.fact).is_some_and(|site| !site.settled) {
                findings.add(
                    held.path(),
                    format!(
                        "no node has finished making {}: syncStatus of its SriovNetworkNodeStates is not Succeeded",
                        printable(held.name, 63)
                    ),
                    "wait for Succeeded; for Failed see status.lastSyncError",
                );
            }
        }
    }
}
