//! FAB203, FAB204: units of a network's resource that stand where nothing uses them.

use super::quantities::{needed, units_in_pod};
use crate::plan::Edit;
use crate::pod::view::Container;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{count, printable, token};

/// FAB203.
pub(super) struct OtherContainer;

static OTHER_CONTAINER: Meta = Meta {
    id: "FAB203",
    severity: Severity::Warning,
    summary: "units of an RDMA resource on a container without accelerators",
    what: "A container that asks for no accelerators, such as a mesh's proxy, holds units of a resource that the pod's \
           RDMA networks take, and the containers with accelerators hold fewer units than there are attachments.",
    why: "Every container of the pod sees the interfaces, but only the one that asked may open the device: in the \
          training container NCCL finds no device for the rail (`ibv_devinfo: No IB devices found`). A quantity that is \
          there is never taken away, and asking it twice would leave devices without an attachment.",
    fix: "Ask the units on the container with the accelerators. network-resources-injector puts them on container 0: \
          leave the networks to the profile, which network-resources-injector then does not see, or put the container \
          with the accelerators first.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_resource}
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rails, namespace: sriov}
spec: {resourceName: sriov_resource, deviceType: netdevice, isRdma: true, numVfs: 8}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}
spec:
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
    resources: {limits: {nvidia.com/sriov_resource: 1}}
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/sriov_resource}
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rdma"}}'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rails, namespace: sriov}
spec: {resourceName: sriov_resource, deviceType: netdevice, isRdma: true, numVfs: 8}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}
spec:
  containers:
  - name: istio-proxy
    image: example.com/proxy:1
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/sriov_resource: 1}}
"#,
    sources: &[
        "k8snetworkplumbingwg/network-resources-injector#99",
        "istio/istio pkg/kube/inject/webhook.go (holdApplicationUntilProxyStarts)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for OtherContainer {
    fn meta(&self) -> &'static Meta {
        &OTHER_CONTAINER
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let strangers = (0..pod.containers().len()).any(|index| !context.is_target(index));
        if pod.host_network() || !strangers {
            return;
        }
        let Some(Ok(networks)) = context.final_networks else { return };
        let profile = context.resolution.profile().map(|(p, _)| p);
        for (shown, needed) in needed(context, networks) {
            let is_it = |name: &str| {
                let rdma = || context.snapshot.resource(name).and_then(|fact| fact.rdma) == Some(true);
                needed.resource.matches(name) && (profile.is_some_and(|p| p.serves_resource(name)) || rdma())
            };
            // By the name that stands there or is planned: of a network's resource only the end may be known.
            let units = |index: usize, c: &Container<'_>| {
                let planned = context.plan.of_container(index).iter().find_map(|change| match &change.edit {
                    Edit::Quantity { name, .. } if is_it(name) => Some(name.as_str()),
                    _ => None,
                });
                let name = c.resource_names().find(|name| is_it(name)).or(planned);
                name.map_or(0, |name| context.overlay.units(index, c, name))
            };
            let mut of_targets = 0_i64;
            let mut strangers = Vec::new();
            let mut any = false;
            for (index, container) in pod.containers().iter().enumerate() {
                if context.is_target(index) {
                    any = true;
                    of_targets = of_targets.saturating_add(units(index, container));
                } else if let own @ 1.. = units(index, container) {
                    strangers.push((index, container, own));
                }
            }
            if !any || of_targets >= needed.attachments {
                continue;
            }
            for (index, container, own) in strangers {
                let units = |n: i64| count(usize::try_from(n).unwrap_or(usize::MAX), "unit");
                findings.add(
                    format!("/spec/containers/{index}/resources/limits/{}", token(&shown)),
                    format!(
                        "{} of {shown} on {}, which has no accelerators: those that do have {of_targets} for {} attachments",
                        units(own),
                        printable(container.name(), 63),
                        needed.attachments
                    ),
                    "ask them on the container with the accelerators",
                );
            }
        }
    }
}

/// FAB204.
pub(super) struct MoreUnits;

static MORE_UNITS: Meta = Meta {
    id: "FAB204",
    severity: Severity::Warning,
    summary: "more device units than network attachments that take them",
    what: "The containers of a pod ask for more units of a resource than the networks annotation has attachments that \
           take one.",
    why: "The devices that are left over belong to the pod without an interface in it. NCCL sees their RDMA device, \
          which has no address, and stops with `Failed to modify QP to RTR`, or hangs. Where a node has no devices to \
          spare, the pod stays Pending.",
    fix: "Ask as many units as there are attachments. network-resources-injector with `honor-resources` adds its count \
          to what container 0 asks, on every call: turn that off, or leave networks and quantities to the profile.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec: {config: '{"type": "sriov"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, openshift.io/rdma_vf: 2}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/rdma_vf}
spec: {config: '{"type": "sriov"}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net, rdma-net
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, openshift.io/rdma_vf: 2}}
"#,
    sources: &[
        "k8snetworkplumbingwg/sriov-network-operator#767",
        "k8snetworkplumbingwg/network-resources-injector pkg/webhook/webhook.go (updateResourcePatch)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-003"],
    waiver: Waiver::Allowed,
};

impl Rule for MoreUnits {
    fn meta(&self) -> &'static Meta {
        &MORE_UNITS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        if pod.host_network() {
            return;
        }
        let Some(Ok(networks)) = context.final_networks else { return };
        for (shown, needed) in needed(context, networks).into_iter().filter(|(_, n)| n.certain) {
            let units = units_in_pod(context, pod, &needed.resource);
            if units <= needed.attachments {
                continue;
            }
            findings.add(
                "/spec/containers",
                format!(
                    "{units} units of {shown} for {}: NCCL sees devices that have no interface in the pod",
                    count(usize::try_from(needed.attachments).unwrap_or(usize::MAX), "attachment")
                ),
                format!("ask {} in all, and see that nobody adds to it", needed.attachments),
            );
        }
    }
}
