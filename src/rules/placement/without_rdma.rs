//! FAB705: a job over several nodes that leaves the NICs of its nodes aside.

use crate::multus::NETWORKS_ANNOTATION;
use crate::nodes::{Constraints, landing};
use crate::pod::PodView;
use crate::resolve::{Resolution, without_others};
use crate::rules::{Findings, Meta, Rule, Severity, Waiver, WorkloadContext, names_rdma};
use crate::snapshot::Snapshot;
use crate::text::printable;
use std::collections::BTreeSet;

/// FAB705.
pub(super) struct WithoutRdma;

static WITHOUT_RDMA: Meta = Meta {
    id: "FAB705",
    severity: Severity::Warning,
    summary: "a job over several nodes with RDMA asks for none of it",
    what: "A workload whose pods work together on several nodes asks for whole accelerators, no profile is for it, every \
           kind of node that its pods can land on offers RDMA devices, and the pods ask for none: no such resource, no \
           claim on network devices, no secondary network, no hostNetwork.",
    why: "NCCL runs over TCP on the pod network without a word (`NET/Socket : Using`), ten to a hundred times slower than \
          the nodes can.",
    fix: "Name a profile with annotation `fabric-admission.dev/profile` on the pod template, or ask for the devices.",
    bad: r"apiVersion: v1
kind: Node
metadata: {name: gpu-1}
status:
  allocatable: {nvidia.com/gpu: 8, rdma/ib: 8}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: v1
kind: Node
metadata: {name: gpu-1}
status:
  allocatable: {nvidia.com/gpu: 8, rdma/ib: 8}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        securityContext: {capabilities: {add: [IPC_LOCK]}}
        resources: {limits: {nvidia.com/gpu: 1, rdma/ib: 1}}
",
    sources: &["NVIDIA/nccl src/init.cc, src/transport/net.cc", "docs/design.md, Resolution"],
    since: "0.1.0",
    kinds: &[],
    also: &["RES-012"],
    waiver: Waiver::Allowed,
};

/// Annotations by which a provider's own webhook attaches NICs.
const PROVIDERS: [&str; 2] = ["networking.gke.io/interfaces", "k8s.volcengine.com/pod-networks"];

impl Rule for WithoutRdma {
    fn meta(&self) -> &'static Meta {
        &WITHOUT_RDMA
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        if context.snapshot.nodes().is_empty() {
            return;
        }
        for (template, asked) in context.asked() {
            let pod = template.pod;
            let own = crate::pod::gang::multi_node(pod);
            let several = own.as_ref().or(context.gang).is_some_and(|gang| gang.several);
            let served = pod.host_network()
                || asked.demands.network_claim()
                || pod.annotation(NETWORKS_ANNOTATION).is_some()
                || PROVIDERS.iter().any(|key| pod.annotation(key).is_some())
                || asks_for_devices(pod);
            let without = matches!(asked.resolution, Resolution::NotApplicable { .. });
            if !several || served || !without || asked.demands.whole().is_none_or(|n| n == 0) {
                continue;
            }
            let offered = offered(pod, context.snapshot);
            let Some(first) = offered.first() else { continue };
            let more = match offered.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            findings.add(
                format!("{}/spec", template.pointer),
                format!(
                    "the nodes of its pods offer {}{more}, and the pods ask for no RDMA device: NCCL runs over TCP",
                    printable(first, 100)
                ),
                "name a profile with annotation fabric-admission.dev/profile on the template, or ask for the devices",
            );
        }
    }
}

/// Whether a resource is a device for NCCL's traffic, by its name.
fn is_device(name: &str) -> bool {
    names_rdma(name) || name == "vpc.amazonaws.com/efa"
}

/// Any resource beside those of the core and the accelerators may be a NIC under a name of the site's own.
fn asks_for_devices(pod: &PodView<'_>) -> bool {
    let known = |name: &str| {
        !name.contains('/') || name.ends_with("/gpu") || name.contains("gpu") || name.contains("/mig-")
    };
    pod.containers().iter().any(|c| c.resource_names().any(|name| !known(name)))
}

/// RDMA resources of the nodes that a pod can land on; none where one kind of those nodes has none.
fn offered(pod: &PodView<'_>, snapshot: &Snapshot) -> BTreeSet<String> {
    let constraints = Constraints::of(pod);
    if constraints.unread {
        return BTreeSet::new();
    }
    let view = snapshot.nodes();
    let set = without_others(landing(&constraints, view), &constraints, snapshot);
    let mut names = BTreeSet::new();
    for (_, class, _) in view.members(&set) {
        let accelerated = constraints.resources.iter().any(|asked| class.offers(asked));
        let devices: Vec<&str> =
            class.resources.iter().map(|name| &**name).filter(|name| is_device(name)).collect();
        if accelerated && devices.is_empty() {
            return BTreeSet::new();
        }
        if accelerated {
            names.extend(devices.into_iter().map(str::to_owned));
        }
    }
    names
}
