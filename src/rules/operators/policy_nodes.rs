//! FAB315 to FAB318: a SriovNetworkNodePolicy beside the nodes and NICs it selects.

use super::NODE_POLICY;
use crate::facts::NodePolicy;
use crate::facts::node_state::Interface;
use crate::multus::LinkLayer;
use crate::nodes::Requirement;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// Conditions of a policy on nodes.
pub(super) fn requirements(policy: &NodePolicy) -> Vec<Requirement<'_>> {
    policy.nodes.iter().map(|(key, value)| Requirement::equals(key, value)).collect()
}

/// NICs that the policy takes, each with the first node that has it among others, as far as both the node's labels and its
/// NICs are known.
pub(super) fn nics<'c>(context: &'c ObjectContext<'_>) -> impl Iterator<Item = (&'c str, &'c Interface)> {
    let policy = context.node_policy();
    context.selected_nics().iter().flat_map(move |(node, set)| {
        let taken = set.interfaces().iter().filter(move |nic| policy.is_some_and(|p| p.nics.takes(nic)));
        taken.map(move |nic| (*node, nic))
    })
}

/// Words for a link layer, as the operator writes it.
pub(super) fn word(link: LinkLayer) -> &'static str {
    match link {
        LinkLayer::Ethernet => "eth",
        LinkLayer::InfiniBand => "ib",
    }
}

/// FAB315.
pub(super) struct PolicySelectsNothing;

static POLICY_SELECTS_NOTHING: Meta = Meta {
    id: "FAB315",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy that no known node or NIC answers to",
    what: "Compares `spec.nodeSelector` with the labels of the nodes, and `spec.nicSelector` with the NICs that \
           SriovNetworkNodeStates list for the nodes it selects. Says nothing where nodes, or their NICs, are not known.",
    why: "No virtual function is made, and pods that ask for the resource stay Pending. The operator's webhook refuses \
          such a policy. It is right where the nodes are still to come.",
    fix: "Compare with `kubectl get nodes --show-labels` and `kubectl get sriovnetworknodestates -o yaml`.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {pool: h100}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {pool: h200}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (dynamicValidateSriovNetworkNodePolicy)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-024"],
    waiver: Waiver::Allowed,
};

impl Rule for PolicySelectsNothing {
    fn meta(&self) -> &'static Meta {
        &POLICY_SELECTS_NOTHING
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let nodes = context.snapshot.nodes();
        if nodes.is_empty() {
            return;
        }
        let wanted = requirements(policy);
        if !nodes.selects_any(&wanted) {
            findings.add(
                "/spec/nodeSelector",
                format!(
                    "none of {} has the labels of nodeSelector",
                    crate::text::count(nodes.len(), "known node")
                ),
                "compare with kubectl get nodes --show-labels",
            );
            return;
        }
        if policy.nics.is_empty() || policy.nics.net_filter.is_some() {
            return;
        }
        let Some((example, _)) = context.selected_nics().first() else { return };
        if nics(context).next().is_none() {
            findings.add(
                "/spec/nicSelector",
                format!("no NIC of the nodes it selects answers to nicSelector (SriovNetworkNodeState {example} for one)"),
                "compare with the interfaces in the status of SriovNetworkNodeState",
            );
        }
    }
}

/// FAB316.
pub(super) struct ExternalFunctions;

static EXTERNAL_FUNCTIONS: Meta = Meta {
    id: "FAB316",
    severity: Severity::Error,
    summary: "externallyManaged policy that asks for more than the NIC has",
    what: "For `externallyManaged: true` compares numVfs, mtu and linkType with what SriovNetworkNodeStates tell of the \
           NICs it takes, on nodes whose labels are known.",
    why: "The operator makes no functions then and changes no NIC: it can hand out what is there already. The node's \
          syncStatus becomes Failed, and the resource has fewer functions than are asked for, or none.",
    fix: "Make the functions at boot, or ask for no more than there are.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  externallyManaged: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {pool: h200}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
status:
  interfaces:
  - {name: ens1f0np0, pciAddress: "0000:1a:00.0", vendor: "15b3", deviceID: "1021", linkType: ETH, mtu: 9000, numVfs: 4, totalvfs: 16}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 4
  priority: 90
  isRdma: true
  externallyManaged: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {pool: h200}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
status:
  interfaces:
  - {name: ens1f0np0, pciAddress: "0000:1a:00.0", vendor: "15b3", deviceID: "1021", linkType: ETH, mtu: 9000, numVfs: 4, totalvfs: 16}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validatePolicyForNodeState)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-025"],
    waiver: Waiver::Allowed,
};

impl Rule for ExternalFunctions {
    fn meta(&self) -> &'static Meta {
        &EXTERNAL_FUNCTIONS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy().filter(|p| p.external) else { return };
        let find = |more: &dyn Fn(&Interface) -> Option<String>| {
            nics(context).find_map(|(node, nic)| {
                more(nic).map(|has| format!("NIC {} of node {node} has {has}", nic.name))
            })
        };
        let fix = "have it made at boot, or ask for what is there";
        let told = |field: &str, has: String| {
            format!(
                "externallyManaged, and {field}: {has} (SriovNetworkNodeState); the operator changes nothing there"
            )
        };
        let more = |wanted: Option<u32>, has: Option<u32>| has.filter(|has| wanted.is_some_and(|w| w > *has));
        if let Some(has) = find(&|nic| more(policy.num_vfs, nic.num_vfs).map(|n| n.to_string())) {
            findings.add("/spec/numVfs", told(&format!("numVfs {}", policy.num_vfs.unwrap_or(0)), has), fix);
        }
        if let Some(has) = find(&|nic| more(policy.mtu, nic.mtu).map(|n| n.to_string())) {
            findings.add("/spec/mtu", told(&format!("mtu {}", policy.mtu.unwrap_or(0)), has), fix);
        }
        let Some(link) = policy.link else { return };
        if let Some(has) = find(&|nic| nic.link.filter(|l| *l != link).map(|l| word(l).to_owned())) {
            findings.add("/spec/linkType", told(&format!("linkType {}", word(link)), has), fix);
        }
    }
}

/// FAB317.
pub(super) struct LinkTypeChange;

static LINK_TYPE_CHANGE: Meta = Meta {
    id: "FAB317",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy that changes the link type of NICs",
    what: "Compares `spec.linkType` with what SriovNetworkNodeStates tell of the NVIDIA NICs it takes, on nodes whose \
           labels are known.",
    why: "The operator writes LINK_TYPE into the NIC's firmware, drains the node and reboots it. A port that is cabled \
          for the other fabric has no link afterwards.",
    fix: "Where the change is not meant, write the linkType that the NICs have, or leave it out.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: eth
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {pool: h200}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
status:
  interfaces:
  - {name: ibs1, pciAddress: "0000:1a:00.0", vendor: "15b3", deviceID: "1021", linkType: IB, totalvfs: 16}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {pool: h200}
---
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {pool: h200}}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
status:
  interfaces:
  - {name: ibs1, pciAddress: "0000:1a:00.0", vendor: "15b3", deviceID: "1021", linkType: IB, totalvfs: 16}
"#,
    sources: &["k8snetworkplumbingwg/sriov-network-operator pkg/plugins/mellanox/mellanox_plugin.go"],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-026"],
    waiver: Waiver::Allowed,
};

impl Rule for LinkTypeChange {
    fn meta(&self) -> &'static Meta {
        &LINK_TYPE_CHANGE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy().filter(|p| !p.external) else { return };
        let Some(link) = policy.link else { return };
        let other = nics(context).find_map(|(node, nic)| {
            let has = nic.link.filter(|l| *l != link && nic.vendor.as_deref() == Some("15b3"))?;
            Some((node, nic, has))
        });
        if let Some((node, nic, has)) = other {
            findings.add(
                "/spec/linkType",
                format!(
                    "linkType {} changes the firmware of NIC {} of node {node}, which is {}, and reboots the node",
                    word(link),
                    nic.name,
                    word(has)
                ),
                format!("linkType: {}, unless the change is meant", word(has)),
            );
        }
    }
}

/// FAB318.
pub(super) struct SmallMtu;

static SMALL_MTU: Meta = Meta {
    id: "FAB318",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy for RoCE with an MTU of 1500 or less",
    what: "Looks at policies with `isRdma: true` on Ethernet, by `linkType` or by the SriovNetworkNodeStates of the NICs it \
           takes, that write such an `mtu`.",
    why: "RDMA packets are a power of two: over an MTU of 1500 RoCE sends 1024 bytes at a time, a quarter of what it \
          could, and the bandwidth of large messages suffers.",
    fix: "`mtu: 9000`, where the switches carry it.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: eth
  mtu: 1500
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: eth
  mtu: 9000
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &["torvalds/linux include/rdma/ib_addr.h (iboe_get_mtu)"],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-027"],
    waiver: Waiver::Allowed,
};

/// Largest MTU over which RoCE sends 1024 bytes.
const SMALL: u32 = 1500;

impl Rule for SmallMtu {
    fn meta(&self) -> &'static Meta {
        &SMALL_MTU
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy().filter(|p| p.rdma()) else { return };
        let Some(mtu) = policy.mtu.filter(|mtu| *mtu <= SMALL) else { return };
        let ethernet = |link| link == Some(LinkLayer::Ethernet);
        let of_nics = || {
            let mut links = nics(context).map(|(_, nic)| nic.link).peekable();
            links.peek().is_some() && links.all(ethernet)
        };
        if ethernet(policy.link) || (policy.link.is_none() && of_nics()) {
            findings.add(
                "/spec/mtu",
                format!("mtu {mtu} for RoCE: packets carry at most 1024 bytes, a quarter of what they could"),
                "mtu: 9000, where the switches carry it",
            );
        }
    }
}
