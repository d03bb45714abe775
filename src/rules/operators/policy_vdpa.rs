//! FAB303: vDPA beside fields that exclude it.

use super::NODE_POLICY;
use super::node_policy_cel::{node_policy, node_policy_cel};
use crate::rules::cel::{Cel, Check};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB303.
pub(super) struct PolicyVdpa;

static POLICY_VDPA: Meta = Meta {
    id: "FAB303",
    severity: Severity::Error,
    summary: "SriovNetworkNodePolicy with vdpaType beside isRdma, vfio-pci or a legacy switch",
    what: "Compares `spec.vdpaType` with `isRdma`, `deviceType` and `eSwitchMode`. vDPA devices have no RDMA, need the \
           kernel driver and a switch in mode `switchdev`.",
    why: "With `isRdma: true` the device plugin ends at its start (`one or more invalid configuration(s) given`): every \
          SR-IOV resource of the node goes, and the plugin's pod is in CrashLoopBackOff. In the other cases no vDPA \
          device is made, and pods stay Pending.",
    fix: "For RDMA take `vdpaType` out. For vDPA: `isRdma: false`, `deviceType: netdevice`, `eSwitchMode: switchdev`.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  deviceType: netdevice
  eSwitchMode: switchdev
  vdpaType: vhost
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
  priority: 90
  deviceType: netdevice
  eSwitchMode: switchdev
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice/netDeviceProvider.go (ValidConfig)",
        "k8snetworkplumbingwg/sriov-network-device-plugin cmd/sriovdp/main.go",
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-002", "SRP-003", "SRP-004"],
    waiver: Waiver::Allowed,
};

impl Rule for PolicyVdpa {
    fn meta(&self) -> &'static Meta {
        &POLICY_VDPA
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(policy) = context.node_policy() else { return };
        let Some(vdpa) = &policy.vdpa else { return };
        let path = "/spec/vdpaType";
        if policy.is_rdma {
            findings.add(
                path,
                format!("vdpaType {vdpa} with isRdma true: the device plugin of the node ends at its start, and with it all of its resources"),
                "take out vdpaType for RDMA, or set isRdma: false",
            );
        }
        if policy.vfio {
            findings.add(
                path,
                format!("vdpaType {vdpa} with deviceType vfio-pci: vDPA needs the kernel driver, no device is made"),
                "deviceType: netdevice",
            );
        }
        if !policy.switchdev {
            findings.add(
                path,
                format!("vdpaType {vdpa} without eSwitchMode switchdev: no vDPA device is made"),
                "eSwitchMode: switchdev",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let beside = |other: &str| node_policy(&format!("variables.vdpa != '' && {other}"));
        Some(node_policy_cel(vec![
            Check::error(
                beside("variables.isRdma"),
                "vdpaType with isRdma true: the device plugin of the node ends at its start, and with it all of its \
                     resources; take out vdpaType for RDMA, or set isRdma: false",
            ),
            Check::error(
                beside("variables.vfio"),
                "vdpaType with deviceType vfio-pci: vDPA needs the kernel driver, no device is made; deviceType: \
                     netdevice",
            ),
            Check::error(
                beside("!variables.switchdev"),
                "vdpaType without eSwitchMode switchdev: no vDPA device is made; eSwitchMode: switchdev",
            ),
        ]))
    }
}
