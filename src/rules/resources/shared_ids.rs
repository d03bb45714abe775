//! FAB221: a network that needs PCI devices, over a resource that has none.

use crate::facts::{NetworkClass, Server};
use crate::multus::NetworkFact;
use crate::rules::examples::{pod, shared_pool};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, ObjectContext, PodContext, Rule, Severity, Waiver};

/// FAB221.
pub(super) struct SharedIds;

macro_rules! network {
    ($resource:literal) => {
        concat!(
            "apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: hostdev
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: ",
            $resource,
            "}
spec:
  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"hostdev\", \"type\": \"host-device\", \"ipam\": {\"type\": \"nv-ipam\", \"poolName\": \"rails\"}}'
---
"
        )
    };
}

static SHARED_IDS: Meta = Meta {
    id: "FAB221",
    severity: Severity::Error,
    summary: "host-device or SR-IOV network over a shared RDMA device",
    what: "A network of CNI plugin host-device, sriov or ib-sriov names a resource that the RDMA shared device plugin \
           serves: as a network object, and on each pod that asks for it.",
    why: "These plugins move one PCI device, whose address Multus takes from the device that the kubelet allocated. The \
          shared plugin allocates numbers (`0`, `1`, …), not addresses: the sandbox fails with `runtime config DeviceID \
          0 not found or unsupported` or `failed to find host device`, and the pod never starts.",
    fix: "Serve the NICs with the SR-IOV network device plugin and name its resource, or use macvlan over the shared \
          device.",
    bad: concat!(
        shared_pool!(),
        network!("rdma/hca_a"),
        pod!(networks: "hostdev", limits: ", rdma/hca_a: 1")
    ),
    good: concat!(
        shared_pool!(),
        network!("nvidia.com/hostdev"),
        pod!(networks: "hostdev", limits: ", nvidia.com/hostdev: 1")
    ),
    sources: &[
        "Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/server.go (devices by number)",
        "containernetworking/plugins plugins/main/host-device/host-device.go (loadConf)",
        "Mellanox/network-operator pkg/state/state_hostdevice_network.go",
    ],
    since: "0.1.0",
    kinds: &[("k8s.cni.cncf.io", "NetworkAttachmentDefinition"), ("mellanox.com", "HostDeviceNetwork")],
    also: &["XOB-002"],
    waiver: Waiver::Allowed,
};

/// Name of the resource, where a network cannot get a device of it.
fn wrong<'a>(fact: &'a NetworkFact, class: NetworkClass<'_>) -> Option<&'a str> {
    let moves = match class.plugin {
        // A configuration that names its device itself may do without the resource's.
        Some("host-device") => fact.class.interface.is_none(),
        plugin => matches!(plugin, Some("sriov" | "ib-sriov")),
    };
    let shared = class.resource.is_some_and(|r| r.server == Server::SharedDevicePlugin);
    fact.resource.as_ref()?.full().filter(|_| moves && shared)
}

impl Rule for SharedIds {
    fn meta(&self) -> &'static Meta {
        &SHARED_IDS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.pod().host_network() {
            return;
        }
        for network in &context.devices().networks {
            let Some(known) = network.known else { continue };
            let Some(resource) = wrong(known.fact, known.class) else { continue };
            let by = known.class.resource.map(|r| r.told(context.tenant_view)).unwrap_or_default();
            findings.add(
                annotation_path(),
                format!(
                    "network {} ({}) needs a PCI device, and {resource} of {by} has none",
                    network.told(),
                    known.class.plugin.unwrap_or_default()
                ),
                "name a network over a resource of the SR-IOV device plugin, or a macvlan network",
            );
        }
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(network) = context.network() else { return };
        let class = context.snapshot.class_of(&network.fact);
        let Some(resource) = wrong(&network.fact, class) else { return };
        let path = match context.kind {
            "NetworkAttachmentDefinition" => "/metadata/annotations/k8s.v1.cni.cncf.io~1resourceName",
            _ => "/spec/resourceName",
        };
        findings.add(
            path,
            format!(
                "{} needs a PCI device, and {resource} of {} has none",
                class.plugin.unwrap_or_default(),
                class.resource.map(|r| r.told(false)).unwrap_or_default()
            ),
            "name a resource of the SR-IOV network device plugin",
        );
    }
}
