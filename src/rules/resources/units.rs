//! FAB203, FAB204: units of a network's resource that stand where nothing uses them.

use crate::pod::units::Holder;
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
           RDMA networks take, and the containers with accelerators hold fewer units than there are attachments; or it \
           holds an RDMA device that needs no network, and the containers with accelerators hold none.",
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
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rails"}}'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rails, namespace: sriov}
spec: {resourceName: sriov_resource, isRdma: true, numVfs: 8, priority: 90, nicSelector: {pfNames: [ens1f0np0]}}
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
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rails"}}'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rails, namespace: sriov}
spec: {resourceName: sriov_resource, isRdma: true, numVfs: 8, priority: 90, nicSelector: {pfNames: [ens1f0np0]}}
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
    also: &["RES-005", "RES-010"],
    waiver: Waiver::Allowed,
};

impl Rule for OtherContainer {
    fn meta(&self) -> &'static Meta {
        &OTHER_CONTAINER
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let has_others = (0..pod.containers().len()).any(|index| !context.is_target(index))
            || pod.init_containers().iter().any(Container::is_sidecar);
        let has_targets = || (0..pod.containers().len()).any(|index| context.is_target(index));
        if pod.host_network() || !has_others || !has_targets() {
            return;
        }
        let devices = context.devices();
        let profile = context.resolution.profile().map(|(p, _)| p);
        for need in &devices.needs {
            let is_it = |name: &str| {
                let rdma = || context.snapshot.resource(name).and_then(|fact| fact.rdma) == Some(true);
                profile.is_some_and(|p| p.serves_resource(name)) || rdma()
            };
            let own = need.holders.iter().filter(|(holder, name, _)| holder.runs() && is_it(name));
            let (of_targets, others) = sorted(context, own.map(|(holder, _, units)| (*holder, *units)));
            if of_targets >= need.attachments {
                continue;
            }
            for (holder, units) in others {
                let have = format!("those that do have {of_targets} for {} attachments", need.attachments);
                tell(context, &need.shown, holder, units, findings, have);
            }
        }
        // A device that needs no network, such as one of InfiniBand, is of no use to another container either.
        let rdma = devices.held.iter().filter(|held| held.fact.rdma == Some(true));
        for held in rdma.filter(|held| !devices.needs.iter().any(|n| n.resource.matches(held.name))) {
            let (of_targets, others) = sorted(context, held.holders.iter().copied());
            for (holder, units) in others.into_iter().filter(|_| of_targets == 0) {
                tell(context, held.name, holder, units, findings, "those that do have none".to_owned());
            }
        }
    }
}

/// Units of the containers that the profile is for, and of the others one by one.
fn sorted(
    context: &PodContext<'_>,
    holders: impl Iterator<Item = (Holder, i64)>,
) -> (i64, Vec<(Holder, i64)>) {
    let accelerators = &context.snapshot.settings().accelerators;
    let is_target = |holder: Holder| match holder {
        Holder::App(index) => context.is_target(index),
        Holder::Sidecar(index) | Holder::Init(index) => {
            let container = context.pod().init_containers().get(index);
            container.is_some_and(|c| c.resource_names().any(|name| accelerators.contains(name)))
        }
    };
    let (mut of_targets, mut others) = (0_i64, Vec::new());
    for (holder, units) in holders {
        match is_target(holder) {
            true => of_targets = of_targets.saturating_add(units),
            false => others.push((holder, units)),
        }
    }
    (of_targets, others)
}

fn tell(
    context: &PodContext<'_>,
    shown: &str,
    holder: Holder,
    units: i64,
    findings: &mut Findings<'_>,
    have: String,
) {
    let pod = context.pod();
    let container = match holder {
        Holder::App(index) => pod.containers().get(index),
        Holder::Sidecar(index) | Holder::Init(index) => pod.init_containers().get(index),
    };
    let name = container.map(|c| printable(c.name(), 63)).unwrap_or_default();
    let units = count(usize::try_from(units).unwrap_or(usize::MAX), "unit");
    findings.add(
        format!("{}/resources/limits/{}", holder.path(), token(shown)),
        format!("{units} of {shown} on {name}, which has no accelerators: {have}"),
        "ask them on the container with the accelerators",
    );
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
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rails"}}'}
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
spec: {config: '{"type": "sriov", "ipam": {"type": "nv-ipam", "poolName": "rails"}}'}
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
        if context.pod().host_network() {
            return;
        }
        for need in context.devices().needs.iter().filter(|need| need.known) {
            let (units, attachments) = (need.units(), need.attachments);
            if units <= attachments {
                continue;
            }
            findings.add(
                "/spec/containers",
                format!(
                    "{units} units of {} for {}: NCCL sees devices that have no interface in the pod",
                    need.shown,
                    count(usize::try_from(attachments).unwrap_or(usize::MAX), "attachment")
                ),
                format!("ask {attachments} in all, and see that nobody adds to it"),
            );
        }
    }
}
