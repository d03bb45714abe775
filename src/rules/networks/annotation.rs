//! FAB1xx: the networks annotation.

use crate::multus::{AnnotationError, NETWORKS_ANNOTATION};
use crate::rules::cel::{self, Cel, Check, Wrong};
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

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

/// The annotation in CEL; empty where there is none, or one that is longer than CEL may match.
pub(super) const CEL_NETWORKS: &str = "variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('').size() > 8000 ? '' :\n\
                                       variables.annotations[?'k8s.v1.cni.cncf.io/networks'].orValue('')";
const LABEL: &str = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
const INTERFACE: &str = "[a-z0-9]{1,15}";

/// A regular expression for annotations of the short form, those with longer names and odder interfaces left out.
pub(super) fn short_form() -> String {
    let item = format!("({LABEL}/)?{LABEL}(@{INTERFACE})?");
    format!("^[ ]*{item}([ ]*,[ ]*{item})*[ ]*$")
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
    fn cel(&self) -> Option<Cel> {
        // One that cannot be parsed is FAB101's, so what is matched here can be.
        let member =
            format!(r#""(name"\s*:\s*"{LABEL}|namespace"\s*:\s*"{LABEL}|interface"\s*:\s*"{INTERFACE})""#);
        let object = format!(r"[{{]\s*{member}(\s*,\s*{member})*\s*[}}]");
        let list = format!(r"\[\s*{object}(\s*,\s*{object})*\s*\]\s*");
        let named = r#"variables.networks.split('"name"').size() == variables.networks.split('{').size()"#;
        let wrong = format!(
            "object.spec.?hostNetwork.orValue(false) && (variables.networks.matches({}) ||\nvariables.networks.matches({}) && {named})",
            cel::literal(&short_form()),
            cel::literal(&format!("^\\s*{list}$")),
        );
        let message = "hostNetwork pods never reach a CNI plugin: the networks of the annotation are not attached; drop \
                       hostNetwork, or drop annotation k8s.v1.cni.cncf.io/networks";
        Some(Cel {
            variables: vec![("networks", CEL_NETWORKS.into())],
            checks: vec![Check { severity: Severity::Error, wrong: Wrong::Object(wrong.into()), message }],
            beyond: Some(
                "JSON lists with other keys than name, namespace and interface, and text of more than 8000 characters",
            ),
        })
    }
}
