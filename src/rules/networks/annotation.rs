//! FAB1xx: the networks annotation.

use crate::multus::{AnnotationError, NETWORKS_ANNOTATION};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::token;

pub(in crate::rules) fn annotation_path() -> String {
    format!("/metadata/annotations/{}", token(NETWORKS_ANNOTATION))
}

/// FAB101.
pub(super) struct Unreadable;

static UNREADABLE: Meta = Meta {
    id: "FAB101",
    severity: Severity::Error,
    summary: "networks annotation that Multus cannot parse",
    what: "Reads `k8s.v1.cni.cncf.io/networks` with Multus' own grammar: text with `[`, `{` or `\"` must be a JSON \
           list of objects, anything else a comma list of `[namespace/]name[@interface]`.",
    why: "Multus fails the pod's sandbox over it (`failed to parse pod Network Attachment Selection Annotation`), and \
          the kubelet retries for ever: the pod stays in ContainerCreating.",
    fix: "Write `namespace/name@interface, …` with lower-case names, or a JSON list of objects with `name`.",
    bad: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '{"name": "rdma-net"}'   # an object, not a list
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rdma-net"}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["k8snetworkplumbingwg/multus-cni pkg/k8sclient/k8sclient.go (parsePodNetworkAnnotation)"],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-001", "ANN-002", "ANN-003", "ANN-004", "ANN-006"],
    waiver: Waiver::Allowed,
};

impl Rule for Unreadable {
    fn meta(&self) -> &'static Meta {
        &UNREADABLE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if let Some(Err(error)) = context.networks {
            let fix = match error {
                // Istio before istio/istio#55000 wrote its own network like this into lists.
                AnnotationError::BadName { what: "network name", value, .. } if value.contains('/') => {
                    "give the namespace a key of its own: {\"name\": …, \"namespace\": …}"
                }
                _ => "write `namespace/name@interface, …` or a JSON list of objects with `name`",
            };
            findings.add(
                annotation_path(),
                format!("the networks annotation cannot be parsed: {error}"),
                fix,
            );
        }
    }
}

/// FAB102.
pub(super) struct HostNetwork;

static HOST_NETWORK: Meta = Meta {
    id: "FAB102",
    severity: Severity::Error,
    summary: "hostNetwork together with a networks annotation",
    what: "A pod with `hostNetwork: true` that also asks for networks by annotation.",
    why: "No CNI plugin is ever called for a hostNetwork pod, so the networks are ignored without any event; a VF that \
          was requested for them is reserved and stays in the host's namespace.",
    fix: "Drop `hostNetwork`, or drop the annotation and the device resource.",
    bad: r"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net
spec:
  hostNetwork: true
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["k8snetworkplumbingwg/multus-cni#1091", "skypilot-org/skypilot#10554"],
    since: "0.1.0",
    kinds: &[],
    also: &["ANN-011", "HNT-001", "HNT-006"],
    waiver: Waiver::Allowed,
};

impl Rule for HostNetwork {
    fn meta(&self) -> &'static Meta {
        &HOST_NETWORK
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if context.pod().host_network()
            && let Some(Ok(networks)) = context.networks
            && !networks.items.is_empty()
        {
            findings.add(
                "/spec/hostNetwork",
                "hostNetwork pods never reach a CNI plugin: the networks of the annotation are not attached",
                format!("drop hostNetwork, or drop annotation {NETWORKS_ANNOTATION}"),
            );
        }
    }
}
