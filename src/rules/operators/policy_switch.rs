//! FAB305: fields that need a switch in mode switchdev, or Ethernet.

use super::NODE_POLICY;
use super::node_policy_cel::{node_policy, node_policy_cel};
use crate::multus::LinkLayer;
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB305.
pub(super) struct PolicySwitch;

static POLICY_SWITCH: Meta = Meta {
    id: "FAB305",
    severity: Severity::Error,
    summary: "SriovNetworkNodePolicy with switchdev on InfiniBand, or a bridge without switchdev",
    what: "Compares `spec.eSwitchMode` with `linkType`, and `spec.bridge` with `eSwitchMode`, `linkType` and \
           `externallyManaged`.",
    why: "The switch of a NIC is Ethernet's. The operator fails on such a policy for every node it selects (`eSwitchMode \
          must be switchdev to use software bridge management`): SriovNetworkNodeState is not brought up to date, and \
          no function is made.",
    fix: "On InfiniBand leave eSwitchMode and bridge out. For a bridge: `eSwitchMode: switchdev`, Ethernet, and functions \
          that the operator makes.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  isRdma: true
  linkType: ib
  eSwitchMode: switchdev
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
  isRdma: true
  linkType: ib
  nicSelector: {vendor: "15b3", pfNames: [ibs1]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (ApplyBridgeConfig)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-005", "SRP-006"],
    waiver: Waiver::Allowed,
};

impl Rule for PolicySwitch {
    fn meta(&self) -> &'static Meta {
        &POLICY_SWITCH
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let infiniband = policy.link == Some(LinkLayer::InfiniBand);
        if policy.switchdev && infiniband {
            findings.add(
                "/spec/eSwitchMode",
                "eSwitchMode switchdev with linkType ib: only Ethernet NICs have such a switch, the operator refuses it",
                "leave eSwitchMode out on InfiniBand",
            );
        }
        if !super::has_bridge(context) {
            return;
        }
        if !policy.switchdev {
            findings.add(
                "/spec/bridge",
                "bridge without eSwitchMode switchdev: the operator fails on every node of the policy",
                "eSwitchMode: switchdev, or no bridge",
            );
        }
        if policy.external {
            findings.add(
                "/spec/bridge",
                "bridge with externallyManaged true: the operator manages no bridge over functions that are not its own",
                "externallyManaged: false, or no bridge",
            );
        }
        if infiniband && !policy.switchdev {
            findings.add("/spec/bridge", "bridge with linkType ib: a bridge needs Ethernet", "no bridge");
        }
    }
    fn cel(&self) -> Option<Cel> {
        let check = |wrong: &str, message| Check::error(node_policy(wrong), message);
        Some(node_policy_cel(vec![
            check(
                "variables.switchdev && variables.infiniband",
                "eSwitchMode switchdev with linkType ib: only Ethernet NICs have such a switch, the operator refuses it; \
                 leave eSwitchMode out on InfiniBand",
            ),
            check(
                "variables.bridge && !variables.switchdev",
                "bridge without eSwitchMode switchdev: the operator fails on every node of the policy; eSwitchMode: \
                 switchdev, or no bridge",
            ),
            check(
                "variables.bridge && variables.spec.?externallyManaged.orValue(false) == true",
                "bridge with externallyManaged true: the operator manages no bridge over functions that are not its own; \
                 externallyManaged: false, or no bridge",
            ),
        ]))
    }
}
