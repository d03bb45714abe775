//! FAB604: networks of GKE and of Multus on one pod.

use crate::plan::Edit;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB604.
pub(super) struct BothNetworks;

const INTERFACES: &str = "networking.gke.io/interfaces";

macro_rules! gke_pod {
    ($annotation:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    networking.gke.io/default-interface: eth0
    networking.gke.io/interfaces: '[{\"interfaceName\": \"eth0\", \"network\": \"default\"}, {\"interfaceName\": \"eth2\", \"network\": \"rdma-0\"}]'
",
            $annotation,
            "spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"
        )
    };
}

static BOTH_NETWORKS: Meta = Meta {
    id: "FAB604",
    severity: Severity::Warning,
    summary: "networks of GKE and of Multus on one pod",
    what: "The pod has annotation `networking.gke.io/interfaces` and networks in `k8s.v1.cni.cncf.io/networks`.",
    why: "GKE's own multi-networking attaches the first and knows nothing of the second: without Multus they are ignored \
          without a word, with it two parties number the interfaces of one pod.",
    fix: "Drop annotation `k8s.v1.cni.cncf.io/networks`; GKE's rails are all in its own annotation.",
    bad: gke_pod!("    k8s.v1.cni.cncf.io/networks: storage\n"),
    good: gke_pod!(""),
    sources: &[
        "Google Kubernetes Engine documentation, multi-network support for Pods",
        "GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-019"],
    waiver: Waiver::Allowed,
};

impl Rule for BothNetworks {
    fn meta(&self) -> &'static Meta {
        &BOTH_NETWORKS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let planned =
            |c: &crate::plan::Change| matches!(&c.edit, Edit::Annotation { key, .. } if key == INTERFACES);
        let gke = context.pod().annotation(INTERFACES).is_some() || context.plan.changes.iter().any(planned);
        if !gke || context.pod().host_network() {
            return;
        }
        if matches!(context.final_networks, Some(Ok(networks)) if !networks.items.is_empty()) {
            findings.add(
                annotation_path(),
                "GKE attaches the networks of networking.gke.io/interfaces alone: those of this annotation are ignored",
                "drop annotation k8s.v1.cni.cncf.io/networks",
            );
        }
    }
}
