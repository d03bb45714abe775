//! FAB106: networks that are not where the pod looks for them.

use crate::multus::Selection;
use crate::profile::schema::Inject;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;
use std::collections::HashSet;

/// FAB106.
pub(super) struct Absent;

static ABSENT: Meta = Meta {
    id: "FAB106",
    severity: Severity::Warning,
    summary: "a network that does not exist where the pod looks for it",
    what: "Looks up every network of the annotation in the namespace that it names, which is the pod's own where it names \
           none. Speaks where the cluster's networks are known and this one is not among them, or where a network of the \
           same name is at hand in another namespace. In the cluster only networks of the pod's own namespace are looked \
           up. Rails of the profile are FAB801's.",
    why: "Multus fails the sandbox (`NoNetworkFound`, `cannot find a network-attachment-definition (…) in namespace \
          (…)`), and the pod stays in ContainerCreating until the network is there.",
    fix: "Name the namespace (`namespace/name`), or create the NetworkAttachmentDefinition there.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-vf
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec: {config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/networks: rdma-vf}   # training/rdma-vf
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rdma_vf: 1}}
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-vf
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec: {config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.1.0.0/16"}}'}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations: {k8s.v1.cni.cncf.io/networks: default/rdma-vf}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rdma_vf: 1}}
"#,
    sources: &[
        "k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (getKubernetesDelegate), #337, #277",
        "oracle-quickstart/oci-hpc-oke manifests (rdma-vf in namespace default)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-007"],
    waiver: Waiver::Allowed,
};

/// Networks that are told of one pod.
const MAX_TOLD: usize = 16;

impl Rule for Absent {
    fn meta(&self) -> &'static Meta {
        &ABSENT
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let Some(Ok(networks)) = context.networks.filter(|_| !context.pod().host_network()) else { return };
        let profile = context.resolution.profile().map(|(p, _)| p);
        // FAB104 tells those of profiles that serve the pod's own networks.
        if profile.is_some_and(|p| p.inject == Inject::Networks) {
            return;
        }
        let mut seen = HashSet::new();
        for item in &networks.items {
            let namespace = item.namespace.as_deref().unwrap_or(context.namespace);
            let on_rail =
                || profile.is_some_and(|p| p.rail_on(namespace, &item.name, context.namespace).is_some());
            if seen.len() < MAX_TOLD
                && context.snapshot.network(namespace, &item.name).is_none()
                && seen.insert((namespace, &*item.name))
                && !on_rail()
            {
                tell(context, item, namespace, findings);
            }
        }
    }
}

fn tell(context: &PodContext<'_>, item: &Selection<'_>, namespace: &str, findings: &mut Findings<'_>) {
    let listed = context.snapshot.lists_networks();
    let (name, shown) = (&*item.name, printable(&item.name, 100));
    let network = format!("{}/{shown}", printable(namespace, 63));
    if context.tenant_view {
        // Of other namespaces the pod's owner is told nothing, not even that something is not there.
        if listed && namespace == context.namespace {
            findings.add(
                annotation_path(),
                format!("network {network} does not exist; Multus looks in the pod's namespace unless told otherwise"),
                "write namespace/name, or create the NetworkAttachmentDefinition there",
            );
        }
        return;
    }
    let elsewhere = context.snapshot.facts().namespaces_of_network(name);
    match (listed, elsewhere.first()) {
        (_, Some(other)) => findings.add(
            annotation_path(),
            format!("network {network} is not known, {other}/{shown} is; Multus looks nowhere else"),
            format!("write {other}/{shown}, or create the network in namespace {}", printable(namespace, 63)),
        ),
        (true, None) => findings.add(
            annotation_path(),
            format!("network {network} does not exist"),
            "create the NetworkAttachmentDefinition, or mend its name and namespace",
        ),
        (false, None) => {}
    }
}
