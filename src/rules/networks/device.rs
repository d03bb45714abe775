//! FAB110: networks whose plugin gets no device.

use crate::rules::{Findings, Meta, ObjectContext, Rule, Severity, Waiver};

/// FAB110.
pub(super) struct Device;

static DEVICE: Meta = Meta {
    id: "FAB110",
    severity: Severity::Warning,
    summary: "a NetworkAttachmentDefinition whose plugin gets no device",
    what: "A warning, since a DRA driver may hand the device over by itself (dra-driver-sriov in mode STANDALONE). The plugin is `sriov`, `ib-sriov` or `host-device`, the definition has no annotation \
           `k8s.v1.cni.cncf.io/resourceName`, by which Multus hands a device over, and the configuration names none itself \
           (`deviceID`; for host-device `device`, `hwaddr`, `kernelpath` or `pciBusID`).",
    why: "Every attachment fails: `VF pci addr is required`, `deviceID is required`, `specify either device, hwaddr, \
          kernelpath or pciBusID`. The pods stay in ContainerCreating.",
    fix: "Add annotation `k8s.v1.cni.cncf.io/resourceName` with the full name of the resource that the pods ask for.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
spec:
  config: '{"cniVersion": "1.0.0", "name": "rdma-net", "type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"cniVersion": "1.0.0", "name": "rdma-net", "type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-cni pkg/config/config.go, k8snetworkplumbingwg/sriov-network-device-plugin #258, #310, #490",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/config/config.go",
        "containernetworking/plugins plugins/main/host-device, k8snetworkplumbingwg/sriov-network-device-plugin #188, #127",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition")],
    also: &["NAD-004", "NAD-005"],
    waiver: Waiver::Allowed,
};

impl Rule for Device {
    fn meta(&self) -> &'static Meta {
        &DEVICE
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(definition) = context.definition() else { return };
        let Some(plugin) = definition.primary() else { return };
        let own: &[&str] = match plugin.cni_type {
            "sriov" | "ib-sriov" => &["deviceID"],
            // The last two are what Multus writes, and what a chain may carry itself.
            "host-device" => &["device", "hwaddr", "kernelpath", "pciBusID", "deviceID", "runtimeConfig"],
            _ => return,
        };
        if definition.resource().is_none() && !own.iter().any(|key| plugin.object.contains_key(*key)) {
            definition.tell(
                findings,
                Severity::Error,
                &format!("{}/type", plugin.pointer),
                format!(
                    "{} needs a device, and without annotation k8s.v1.cni.cncf.io/resourceName Multus gives it none",
                    plugin.cni_type
                ),
                "add the annotation with the full name of the resource, such as nvidia.com/rdma_vf",
            );
        }
    }
}
