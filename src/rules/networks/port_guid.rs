//! FAB115: virtual functions of InfiniBand handed out without a GUID.

use super::network::fact;
use crate::facts::Server;
use crate::multus::LinkLayer;
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB115.
pub(super) struct PortGuid;

static PORT_GUID: Meta = Meta {
    id: "FAB115",
    severity: Severity::Warning,
    summary: "host-device with virtual functions of InfiniBand",
    what: "A network of plugin `host-device` whose resource is made by a SriovNetworkNodePolicy on InfiniBand.",
    why: "host-device moves the function and nothing else: its GUID stays zero, the port stays down (`NO-CARRIER`, state \
          INIT), and NCCL finds no active port. Only ib-sriov gives the function a GUID.",
    fix: "Use ib-sriov (SriovIBNetwork) for virtual functions; host-device is for whole NICs.",
    bad: r"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: ib, namespace: nvidia-network-operator}
spec:
  resourceName: ib_vf
  numVfs: 8
  priority: 90
  linkType: ib
  isRdma: true
  nicSelector: {vendor: '15b3', pfNames: [ibs1f0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: 'true'}
---
apiVersion: mellanox.com/v1alpha1
kind: HostDeviceNetwork
metadata: {name: ib-net}
spec:
  networkNamespace: default
  resourceName: ib_vf
",
    good: r"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: ib, namespace: nvidia-network-operator}
spec:
  resourceName: ib_vf
  numVfs: 8
  priority: 90
  linkType: ib
  isRdma: true
  nicSelector: {vendor: '15b3', pfNames: [ibs1f0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: 'true'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovIBNetwork
metadata: {name: ib-net, namespace: nvidia-network-operator}
spec:
  networkNamespace: default
  resourceName: ib_vf
",
    sources: &["Mellanox/network-operator #1646, #249", "k8snetworkplumbingwg/ib-sriov-cni README.md"],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition"), ("mellanox.com", "HostDeviceNetwork")],
    also: &["NAD-014"],
    waiver: Waiver::Allowed,
};

impl Rule for PortGuid {
    fn meta(&self) -> &'static Meta {
        &PORT_GUID
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(fact) = fact(context).filter(|f| f.class.plugin.as_deref() == Some("host-device")) else {
            return;
        };
        let class = context.snapshot.class_of(&fact);
        let Some(resource) = class.resource else { return };
        if resource.server == Server::SriovOperator && resource.link == Some(LinkLayer::InfiniBand) {
            let path = match context.kind {
                "HostDeviceNetwork" => "/spec/resourceName",
                _ => "/spec/config",
            };
            findings.add(
                path,
                format!(
                    "resource {} is made of virtual functions of InfiniBand (SriovNetworkNodePolicy), and host-device gives them no GUID",
                    resource.name
                ),
                "use ib-sriov (SriovIBNetwork) for them",
            );
        }
    }
}
