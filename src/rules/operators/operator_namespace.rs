//! FAB314, FAB342: objects outside of the SR-IOV operator's namespace.

use super::{IB_NETWORK, NETWORK, NODE_POLICY, OVS_NETWORK};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// The namespace of an object, and the operator's, where both are known and differ. The operator's is that of the
/// SriovNetworkNodeStates it makes.
fn apart<'c>(context: &'c ObjectContext<'_>) -> Option<(&'c str, &'c str)> {
    let own = context.text("/metadata/namespace")?;
    let operator = context.snapshot.facts().sriov_namespace()?;
    (own != operator).then_some((own, operator))
}

/// FAB314.
pub(super) struct PolicyNamespace;

static POLICY_NAMESPACE: Meta = Meta {
    id: "FAB314",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy outside of the operator's namespace",
    what: "Compares the policy's namespace with that of the SriovNetworkNodeStates, which the operator makes in its own. \
           Says nothing where none is known.",
    why: "The operator reads policies of its own namespace alone: this one is stored and never used, and pods that ask for \
          its resource stay Pending.",
    fix: "Move the policy to the operator's namespace.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: team}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
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
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (validateSriovNetworkNodePolicy)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-023"],
    waiver: Waiver::Allowed,
};

impl Rule for PolicyNamespace {
    fn meta(&self) -> &'static Meta {
        &POLICY_NAMESPACE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if let Some((own, operator)) = apart(context) {
            findings.add(
                "/metadata/namespace",
                format!("policy in namespace {own}: the operator uses those of its own alone, {operator} by its SriovNetworkNodeStates"),
                format!("namespace: {operator}"),
            );
        }
    }
}

/// FAB342.
pub(super) struct NetworkNamespace;

static NETWORK_NAMESPACE: Meta = Meta {
    id: "FAB342",
    severity: Severity::Warning,
    summary: "network with networkNamespace outside of the operator's namespace",
    what: "Looks at SriovNetwork, SriovIBNetwork and OVSNetwork that name a `networkNamespace` and are not in the \
           namespace of the SriovNetworkNodeStates, which the operator makes in its own. Says nothing where none is known.",
    why: "Only networks in the operator's namespace may make definitions elsewhere. The operator renders nothing, the \
          network's condition Ready is False, and pods fail with `cannot find a network-attachment-definition`.",
    fix: "Move the network to the operator's namespace, or leave networkNamespace out to have the definition beside it.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: team}
spec:
  networkNamespace: other
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: rail0, namespace: sriov-network-operator}
spec:
  networkNamespace: other
  resourceName: rdma_vf
  ipam: '{"type": "nv-ipam", "poolName": "rail0"}'
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodeState
metadata: {name: node-a, namespace: sriov-network-operator}
"#,
    sources: &["k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate_networks.go"],
    since: "0.1.0",
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    also: &["SRN-001"],
    waiver: Waiver::Allowed,
};

impl Rule for NetworkNamespace {
    fn meta(&self) -> &'static Meta {
        &NETWORK_NAMESPACE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(target) = context.text("/spec/networkNamespace") else { return };
        if let Some((own, operator)) = apart(context) {
            findings.add(
                "/spec/networkNamespace",
                format!("networkNamespace {target} from namespace {own}: the operator renders it only from its own, {operator} by its SriovNetworkNodeStates"),
                format!("namespace: {operator}, or no networkNamespace"),
            );
        }
    }
}
