//! FAB228: NICs of one resource with different MTUs.

use crate::rules::examples::pod;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB228.
pub(super) struct MixedMtu;

macro_rules! nodes {
    ($mtu:literal) => {
        concat!(
            "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-1, namespace: sriov-network-operator}
spec:
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', vfGroups: [{resourceName: rdma_vf, isRdma: true}]}
status:
  syncStatus: Succeeded
  interfaces: [{name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, mtu: 9000}]
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: gpu-2, namespace: sriov-network-operator}
spec:
  interfaces:
  - {name: ens1f0np0, pciAddress: '0000:19:00.0', vfGroups: [{resourceName: rdma_vf, isRdma: true}]}
status:
  syncStatus: Succeeded
  interfaces: [{name: ens1f0np0, pciAddress: '0000:19:00.0', linkType: ETH, mtu: ",
            $mtu,
            "}]
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rail
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"rail\", \"type\": \"sriov\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
"
        )
    };
}

static MIXED_MTU: Meta = Meta {
    id: "FAB228",
    severity: Severity::Warning,
    summary: "NICs of one RDMA resource with different MTUs",
    what: "The pod holds functions of the SR-IOV operator with RDMA, and the NICs that the nodes make them of have \
           different MTUs (status of the SriovNetworkNodeStates).",
    why: "Two ranks agree on the smaller RDMA MTU, so that all of them go at the speed of the smallest; TCP between them, \
          such as NCCL's bootstrap over that network, may hang on full packets.",
    fix: "Set one `mtu` in the SriovNetworkNodePolicies of the resource, and on the switches.",
    bad: concat!(nodes!("1500"), pod!(networks: "rail", limits: ", openshift.io/rdma_vf: 1")),
    good: concat!(nodes!("9000"), pod!(networks: "rail", limits: ", openshift.io/rdma_vf: 1")),
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator api/v1/sriovnetworknodestate_types.go (InterfaceExt.Mtu)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-017"],
    waiver: Waiver::Allowed,
};

impl Rule for MixedMtu {
    fn meta(&self) -> &'static Meta {
        &MIXED_MTU
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let facts = context.snapshot.facts();
        for held in context.devices().held.iter().filter(|held| held.fact.rdma == Some(true)) {
            let mtus = facts.site(held.fact).and_then(|site| site.mtu);
            let Some((low, high)) = mtus.filter(|(low, high)| low != high) else { continue };
            findings.add(
                held.path(),
                format!(
                    "the NICs behind {} have MTUs from {low} to {high} (SriovNetworkNodeState): the smallest counts for all",
                    printable(held.name, 63)
                ),
                "have one mtu set in the SriovNetworkNodePolicies of the resource",
            );
        }
    }
}
