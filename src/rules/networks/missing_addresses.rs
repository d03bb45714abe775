//! FAB132: RoCE networks without addresses.

use super::network::fact;
use crate::multus::LinkLayer;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB132.
pub(super) struct MissingAddresses;

static MISSING_ADDRESSES: Meta = Meta {
    id: "FAB132",
    severity: Severity::Warning,
    summary: "a RoCE network that gives its interfaces no address",
    what: "A network over Ethernet whose resource has RDMA devices, as its SriovNetworkNodePolicy or device plugin \
           configuration says, and whose configuration has no `ipam`.",
    why: "A RoCEv2 device takes its routable GIDs from the addresses of its interface. Without one the GID table holds \
          link-local entries only, and NCCL stops with `Call to ibv_modify_qp failed` or finds no usable GID.",
    fix: "Add `ipam`, such as nv-ipam or whereabouts.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  linkType: eth
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec:
  config: '{"type": "sriov"}'
"#,
    good: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  linkType: eth
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'
"#,
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin #72, #86, #101, #112",
        "Linux drivers/infiniband/core/roce_gid_mgmt.c",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition"), ("mellanox.com", "HostDeviceNetwork")],
    also: &["IPM-003"],
    waiver: Waiver::Allowed,
};

impl Rule for MissingAddresses {
    fn meta(&self) -> &'static Meta {
        &MISSING_ADDRESSES
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(fact) = fact(context) else { return };
        if !fact.addressing.known || fact.addressing.ipam.is_some() {
            return;
        }
        let class = context.snapshot.class_of(&fact);
        let Some(resource) = class.resource.filter(|_| class.rdma == Some(true)) else { return };
        if class.link != Some(LinkLayer::Ethernet) {
            return;
        }
        let message = format!(
            "no ipam, and resource {} has RoCE devices: without an address they have no routable GID",
            resource.name
        );
        let fix = "add ipam, such as {\"type\": \"nv-ipam\", \"poolName\": …}";
        match context.definition().filter(|_| context.kind == "NetworkAttachmentDefinition") {
            Some(definition) => {
                let at = definition.primary().map(|p| p.pointer).unwrap_or_default();
                definition.tell(findings, Severity::Warning, &at, message, fix);
            }
            None if context.kind == "NetworkAttachmentDefinition" => {}
            None => findings.add("/spec/ipam", message, fix),
        }
    }
}
