//! FAB706: annotations for pods that stand on the object that makes them.

use crate::facts::PROFILE_ANNOTATION;
use crate::multus::NETWORKS_ANNOTATION;
use crate::plan::{CONTAINERS_ANNOTATION, INJECT_ANNOTATION, RAILS_ANNOTATION};
use crate::pod::gang::MULTI_NODE_ANNOTATION;
use crate::pod::ranks::RANKS_ANNOTATION;
use crate::rules::{Findings, Meta, Rule, Severity, Waiver, WorkloadContext};
use crate::text::{printable, token};

/// FAB706.
pub(super) struct OwnerAnnotations;

static OWNER_ANNOTATIONS: Meta = Meta {
    id: "FAB706",
    severity: Severity::Warning,
    summary: "an annotation for pods stands on the workload and not on its pod template",
    what: "The metadata of a workload carries the networks annotation of Multus or one of ours for pods, and a pod \
           template of it that asks for accelerators does not. Kinds whose controllers hand such annotations on are left \
           alone.",
    why: "Controllers make pods from the template alone. No network is attached, or no profile applies, and nothing says \
          so: NCCL runs over the pod network.",
    fix: "Move the annotation to `metadata.annotations` of the pod template.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  annotations: {k8s.v1.cni.cncf.io/networks: rdma-net}
spec:
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site, k8s.v1.cni.cncf.io/networks: rdma-net}
    spec:
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["kubernetes/kubernetes pkg/controller/controller_utils.go (GetPodFromTemplate)"],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-012"],
    waiver: Waiver::Allowed,
};

/// Annotations that are read from pods.
const FOR_PODS: [&str; 7] = [
    NETWORKS_ANNOTATION,
    PROFILE_ANNOTATION,
    CONTAINERS_ANNOTATION,
    RAILS_ANNOTATION,
    INJECT_ANNOTATION,
    MULTI_NODE_ANNOTATION,
    RANKS_ANNOTATION,
];

/// Groups whose controllers make pods from the annotations of the template and no others.
const GROUPS: [&str; 7] = [
    "batch",
    "apps",
    "jobset.x-k8s.io",
    "leaderworkerset.x-k8s.io",
    "kubeflow.org",
    "batch.volcano.sh",
    "ray.io",
];

impl Rule for OwnerAnnotations {
    fn meta(&self) -> &'static Meta {
        &OWNER_ANNOTATIONS
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        let maker = context.maker;
        let Some(annotations) = context.metadata.and_then(|m| m.annotations.as_ref()) else { return };
        if !GROUPS.contains(&maker.group.as_str()) {
            return;
        }
        for key in FOR_PODS {
            if annotations.get(key).is_none() {
                continue;
            }
            let mut without = context.asked().filter(|(t, _)| t.pod.annotation(key).is_none());
            if let Some((template, _)) = without.next() {
                findings.add(
                    format!("{}/metadata/annotations/{}", maker.pointer, token(key)),
                    format!(
                        "{key} on the {} does nothing: its pods are made from {}, which has no such annotation",
                        printable(&maker.kind, 60),
                        printable(template.pointer, 100)
                    ),
                    format!("move it to {}/metadata/annotations", printable(template.pointer, 100)),
                );
            }
        }
    }
}
