//! FAB338, FAB343, FAB346: networks of the SR-IOV operator beside the resources they name.

use super::policy_nodes::word;
use super::{IB_NETWORK, NETWORK, OVS_NETWORK};
use crate::facts::ResourceFact;
use crate::multus::LinkLayer;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use crate::text::{nearest, printable};

/// What is known of the resource behind a network.
fn resource<'c>(context: &'c ObjectContext<'_>) -> Option<(&'c str, &'c ResourceFact)> {
    let name = context.text("/spec/resourceName")?;
    Some((name, context.snapshot.facts().serves_suffix(name)?))
}

/// The object that says of which link layer a resource is.
fn evidence(context: &ObjectContext<'_>, resource: &str, link: LinkLayer) -> String {
    let facts = context.snapshot.facts();
    let policy = facts.node_policies().find(|(_, _, p)| p.resource == resource && p.link == Some(link));
    if let Some((_, name, _)) = policy {
        return format!("SriovNetworkNodePolicy {name} has linkType {}", word(link));
    }
    let of = |(_, state): &(&str, &crate::facts::NodeState)| {
        state.groups.iter().any(|g| g.resource == resource && g.link == Some(link))
    };
    match facts.node_states().find(of) {
        Some((node, _)) => format!("SriovNetworkNodeState {node} has it on {} NICs", word(link)),
        None => format!("its NICs are {}", word(link)),
    }
}

/// FAB338.
pub(super) struct WrongFabric;

static WRONG_FABRIC: Meta = Meta {
    id: "FAB338",
    severity: Severity::Error,
    summary: "SriovNetwork over InfiniBand, or SriovIBNetwork over Ethernet",
    what: "Looks the network's resource up in the SriovNetworkNodePolicies and SriovNetworkNodeStates that are known: \
           SriovNetwork and OVSNetwork need Ethernet, SriovIBNetwork needs InfiniBand. Says nothing where the link layer \
           is not known, or where nodes differ.",
    why: "sriov-cni sets a VLAN on every function, which InfiniBand does not have (`failed to set vf 0 vlan configuration \
          … operation not supported`); ib-sriov sets GUIDs, which Ethernet does not have. Pods stay in ContainerCreating.",
    fix: "SriovIBNetwork for InfiniBand, SriovNetwork for Ethernet; or the resource of the other fabric.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: ib, namespace: sriov-network-operator}
spec:
  resourceName: ib_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: ib_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: ib, namespace: sriov-network-operator}
spec:
  resourceName: ib_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-cni#208",
        "k8snetworkplumbingwg/sriov-cni#285",
        "k8snetworkplumbingwg/sriov-network-device-plugin#261",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/sriov/sriov.go",
    ],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    also: &["SRN-009", "SRN-010"],
    waiver: Waiver::Allowed,
};

impl Rule for WrongFabric {
    fn meta(&self) -> &'static Meta {
        &WRONG_FABRIC
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some((name, fact)) = resource(context) else { return };
        let needs = match context.kind == IB_NETWORK.1 {
            true => LinkLayer::InfiniBand,
            false => LinkLayer::Ethernet,
        };
        let Some(link) = fact.link.filter(|link| *link != needs) else { return };
        let (plugin, fix) = match (context.kind, needs) {
            (_, LinkLayer::InfiniBand) => {
                ("ib-sriov fails on Ethernet", "SriovNetwork, or the resource of InfiniBand functions")
            }
            ("OVSNetwork", _) => {
                ("a bridge needs Ethernet", "SriovIBNetwork, or the resource of Ethernet functions")
            }
            _ => (
                "sriov-cni sets a VLAN, which InfiniBand refuses",
                "SriovIBNetwork, or the resource of Ethernet functions",
            ),
        };
        findings.add(
            "/spec/resourceName",
            format!(
                "{} over resource {}: {}; {plugin}",
                context.kind,
                printable(name, 63),
                evidence(context, name, link)
            ),
            fix,
        );
    }
}

/// FAB343.
pub(super) struct UnservedResource;

static UNSERVED_RESOURCE: Meta = Meta {
    id: "FAB343",
    severity: Severity::Warning,
    summary: "network over a resource that no known policy serves",
    what: "Looks the network's resourceName up among the SriovNetworkNodePolicies and SriovNetworkNodeStates. Says nothing \
           where no policy is known at all, or where a device plugin configuration serves a resource of that name.",
    why: "The definition names a resource that no node has: pods that ask for it stay Pending with `Insufficient \
          openshift.io/…`; pods that do not get the network without a device, and the CNI plugin fails.",
    fix: "The resourceName of a policy, without its prefix.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdmavf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &["k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (RenderNetAttDef)"],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    also: &["SRN-015"],
    waiver: Waiver::Allowed,
};

impl Rule for UnservedResource {
    fn meta(&self) -> &'static Meta {
        &UNSERVED_RESOURCE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(name) = context.text("/spec/resourceName") else { return };
        let facts = context.snapshot.facts();
        if facts.serves_suffix(name).is_some() || facts.names_suffix(name) {
            return;
        }
        let mut policies = facts.node_policies().peekable();
        if policies.peek().is_none() {
            return;
        }
        let bare = name.rsplit('/').next().unwrap_or(name);
        let hint = nearest(bare, policies.map(|(_, _, p)| p.resource.as_str()));
        let shown = printable(name, 63);
        findings.add(
            "/spec/resourceName",
            format!("resource {shown} is served by no known SriovNetworkNodePolicy: pods that ask for it stay Pending"),
            match hint {
                Some(hint) => format!("is {hint} meant?"),
                None => "the resourceName of a policy, without its prefix".to_owned(),
            },
        );
    }
}

/// FAB346.
pub(super) struct RoceWithoutAddress;

static ROCE_WITHOUT_ADDRESS: Meta = Meta {
    id: "FAB346",
    severity: Severity::Warning,
    summary: "SriovNetwork over RDMA functions without ipam",
    what: "Looks for an absent or empty `spec.ipam` where the resource's SriovNetworkNodePolicies have `isRdma: true`.",
    why: "RoCE takes its GIDs from the addresses of the interface. Without an address only link-local GIDs are there: NCCL \
          connects to nobody beyond the switch, or fails with `ibv_modify_qp failed with … Connection timed out`.",
    fix: "Give it addresses: nv-ipam or whereabouts.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: team
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &["Mellanox/k8s-rdma-shared-dev-plugin#86", "projectcalico/calico#8482", "NVIDIA/nccl#1796"],
    since: "0.1.0",
    kinds: &[NETWORK],
    also: &["SRN-017"],
    waiver: Waiver::Allowed,
};

impl Rule for RoceWithoutAddress {
    fn meta(&self) -> &'static Meta {
        &ROCE_WITHOUT_ADDRESS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some((name, fact)) = resource(context) else { return };
        // InfiniBand is FAB338's.
        let roce = fact.rdma == Some(true) && fact.link != Some(LinkLayer::InfiniBand);
        // A text that cannot be read is FAB335's.
        let empty = |text: &str| crate::rules::embedded::object(text, &[]).is_ok_and(|ipam| ipam.is_empty());
        let without = context.text("/spec/ipam").is_none_or(empty);
        if roce && without {
            findings.add(
                "/spec/ipam",
                format!("no ipam over the RDMA resource {}: RoCE needs an address, only link-local GIDs are there", printable(name, 63)),
                "nv-ipam or whereabouts",
            );
        }
    }
}
