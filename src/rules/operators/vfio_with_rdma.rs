//! FAB3xx: SR-IOV and Network Operator objects.

use super::NODE_POLICY;
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};
use serde::Deserialize;

/// FAB301.
pub(super) struct VfioWithRdma;

static VFIO_WITH_RDMA: Meta = Meta {
    id: "FAB301",
    severity: Severity::Error,
    summary: "SriovNetworkNodePolicy with deviceType vfio-pci and isRdma true",
    what: "Compares the fields `spec.deviceType` and `spec.isRdma`; comments and other text are not looked at.",
    why: "vfio-pci takes the virtual functions away from the kernel driver, so they have no RDMA device. The device \
          plugin drops them (`RDMA resources for … not found`), the resource is never advertised, and pods stay Pending \
          with `Insufficient openshift.io/…`.",
    fix: "`deviceType: netdevice` (mlx5 serves kernel and verbs at once), or `isRdma: false` for DPDK and VMs.",
    bad: r#"apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma, namespace: sriov-network-operator}
spec:
  resourceName: rdma_vf
  numVfs: 8
  priority: 90
  deviceType: vfio-pci
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
  isRdma: true
  nicSelector: {vendor: "15b3", pfNames: [ens1f0np0]}
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator pkg/webhook/validate.go",
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice",
    ],
    since: "0.1.0",
    kinds: &[NODE_POLICY],
    also: &["SRP-001"],
    waiver: Waiver::Allowed,
};

#[derive(Deserialize)]
struct NodePolicy<'a> {
    #[serde(borrow, default, deserialize_with = "crate::json::values::mapping")]
    spec: Option<NodePolicySpec<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodePolicySpec<'a> {
    #[serde(borrow, default)]
    device_type: Option<crate::json::values::Text<'a>>,
    #[serde(default)]
    is_rdma: Option<bool>,
}

impl Rule for VfioWithRdma {
    fn meta(&self) -> &'static Meta {
        &VFIO_WITH_RDMA
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        // Values of other types are refused by the CRD's schema; there is nothing to compare then.
        let Ok(policy) = serde_json::from_str::<NodePolicy<'_>>(context.json) else { return };
        let Some(spec) = policy.spec else { return };
        if spec.device_type.as_deref() == Some("vfio-pci") && spec.is_rdma == Some(true) {
            findings.add(
                "/spec/deviceType",
                "deviceType vfio-pci with isRdma true: VFs on vfio-pci have no RDMA device, the resource is never advertised",
                "deviceType: netdevice, or isRdma: false for DPDK and VMs",
            );
        }
    }
    fn cel(&self) -> Option<Cel> {
        let wrong = "variables.spec.?deviceType.orValue('') == 'vfio-pci' && variables.spec.?isRdma.orValue(false) == true";
        let message = "deviceType vfio-pci with isRdma true: VFs on vfio-pci have no RDMA device, the resource is never \
                       advertised; deviceType: netdevice, or isRdma: false for DPDK and VMs";
        let check = Check { severity: Severity::Error, wrong: Wrong::Object(wrong.into()), message };
        Some(Cel { variables: Vec::new(), checks: vec![check], beyond: None })
    }
}
