//! FAB308: how many virtual functions a policy asks for.

use super::NODE_POLICY;
use super::node_policy_cel::{node_policy, node_policy_cel};
use super::policy_nodes::nics;
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB308.
pub(super) struct NumVfs;

static NUM_VFS: Meta = Meta {
    id: "FAB308",
    severity: Severity::Error,
    summary: "numVfs that no function comes of, or that the NIC cannot make",
    what: "An error above 128 for NVIDIA NICs (vendor 15b3), and above what SriovNetworkNodeState tells (`totalvfs`) for \
           Intel NICs that the policy takes on nodes it selects. A warning for 0.",
    why: "The operator's webhook refuses the policy; where it is off, the functions cannot be made, the node's \
          syncStatus is Failed, and the resource is never advertised. With 0 the operator makes nothing.",
    fix: "As many functions as pods share the NIC, at most what its firmware allows.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 256
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 16
  priority: 90
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go (MlxMaxVFs, validatePolicyForNodeState)",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go (Apply)",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-013", "SRP-014"],
    waiver: Waiver::Allowed,
};

/// Most functions of an NVIDIA NIC that the operator takes.
const NVIDIA_MOST: u32 = 128;

impl Rule for NumVfs {
    fn meta(&self) -> &'static Meta {
        &NUM_VFS
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let Some(wanted) = policy.num_vfs else { return };
        let path = "/spec/numVfs";
        if wanted == 0 {
            findings.add_as(
                Severity::Warning,
                path,
                "numVfs 0: no function is made, and the operator's webhook refuses the policy",
                "write how many functions each NIC gets",
            );
        }
        let nvidia = || nics(context).any(|(_, nic)| nic.vendor.as_deref() == Some("15b3"));
        if wanted > NVIDIA_MOST && (policy.nics.vendor.as_deref() == Some("15b3") || nvidia()) {
            findings.add(
                path,
                format!("numVfs {wanted}: NICs of vendor 15b3 get at most {NVIDIA_MOST} functions"),
                format!("at most {NVIDIA_MOST}"),
            );
        }
        let intel = nics(context).find_map(|(node, nic)| {
            let most =
                nic.total_vfs.filter(|most| wanted > *most && nic.vendor.as_deref() == Some("8086"))?;
            Some((node, &nic.name, most))
        });
        if let Some((node, nic, most)) = intel {
            findings.add(
                path,
                format!(
                    "numVfs {wanted}: NIC {nic} makes at most {most} functions (SriovNetworkNodeState {node})"
                ),
                format!("at most {most}"),
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let number = "type(variables.spec.?numVfs.orValue('')) == int";
        let most = format!(
            "variables.vendor == '15b3' && {number} &&\nvariables.spec.numVfs > {NVIDIA_MOST} && variables.spec.numVfs <= {}",
            u32::MAX
        );
        let checks = vec![
            Check::error(
                node_policy(&most),
                "numVfs above 128: NICs of vendor 15b3 get at most 128 functions; write at most 128",
            ),
            Check::warning(
                node_policy(&format!("{number} && variables.spec.numVfs == 0")),
                "numVfs 0: no function is made, and the operator's webhook refuses the policy; write how many functions \
                 each NIC gets",
            ),
        ];
        Some(Cel { beyond: Some("what SriovNetworkNodeStates tell of the NICs"), ..node_policy_cel(checks) })
    }
}
