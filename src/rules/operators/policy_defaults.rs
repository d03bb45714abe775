//! FAB311, FAB312: fields of a SriovNetworkNodePolicy that only the operator's webhook fills in.

use super::NODE_POLICY;
use super::node_policy_cel::{node_policy, node_policy_cel};
use crate::multus::LinkLayer;
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB311.
pub(super) struct InfiniBandWithoutRdma;

static INFINIBAND_WITHOUT_RDMA: Meta = Meta {
    id: "FAB311",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy for InfiniBand without isRdma",
    what: "Looks for `linkType: ib` with the kernel driver where `isRdma` is absent or false.",
    why: "The operator's webhook turns isRdma on, and it is off by default on plain Kubernetes. Without it pods get the \
          function and no device below /dev/infiniband: NCCL says `No IB devices found` and takes TCP.",
    fix: "`isRdma: true`.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  linkType: ib
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/mutate.go",
        "k8snetworkplumbingwg/sriov-network-operator deployment/sriov-network-operator-chart/values.yaml",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-018"],
    waiver: Waiver::Allowed,
};

impl Rule for InfiniBandWithoutRdma {
    fn meta(&self) -> &'static Meta {
        &INFINIBAND_WITHOUT_RDMA
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        if policy.link == Some(LinkLayer::InfiniBand) && !policy.vfio && !policy.is_rdma {
            findings.add(
                "/spec/isRdma",
                "linkType ib without isRdma true: unless the operator's webhook is on, pods get no RDMA device",
                "isRdma: true",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        Some(node_policy_cel(vec![Check::warning(
            node_policy("variables.infiniband && !variables.vfio && !variables.isRdma"),
            "linkType ib without isRdma true: unless the operator's webhook is on, pods get no RDMA device; isRdma: true",
        )]))
    }
}

/// FAB312.
pub(super) struct PolicyPriority;

static POLICY_PRIORITY: Meta = Meta {
    id: "FAB312",
    severity: Severity::Warning,
    summary: "SriovNetworkNodePolicy without a priority",
    what: "Looks for `spec.priority`.",
    why: "The operator's webhook sets 99, the lowest, and it is off by default on plain Kubernetes. Without it the \
          value is 0, the highest: the policy wins over every other one on the same NIC, and their resources lose their \
          functions.",
    fix: "Write the priority: 99 for the lowest, smaller numbers to win.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 99
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/mutate.go",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (ByPriority)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-019"],
    waiver: Waiver::Allowed,
};

impl Rule for PolicyPriority {
    fn meta(&self) -> &'static Meta {
        &POLICY_PRIORITY
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        if context.node_policy().is_some_and(|policy| policy.priority.is_none()) {
            findings.add(
                "/spec/priority",
                "no priority: unless the operator's webhook is on it counts as 0, and the policy wins over all others on its NICs",
                "write it: 99 is the lowest",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        Some(node_policy_cel(vec![Check::warning(
            node_policy("!has(variables.spec.priority)"),
            "no priority: unless the operator's webhook is on it counts as 0, and the policy wins over all others on its \
             NICs; write it, 99 is the lowest",
        )]))
    }
}
