//! FAB703: proxies of a service mesh beside ranks.

use crate::pod::PodView;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::token;

/// FAB703.
pub(super) struct Mesh;

static MESH: Meta = Meta {
    id: "FAB703",
    severity: Severity::Warning,
    summary: "a service mesh puts its proxy into a pod of a training job",
    what: "A pod with accelerators that is one of several gets a sidecar of Istio or Linkerd, by its own label or \
           annotation or by its namespace's labels, and no annotation takes any traffic past the proxy.",
    why: "Ranks find each other over TCP on ports of their own choice. The proxy takes those connections: the bootstrap is \
          refused or waits for ever (`Connection refused`, `Timeout waiting for connection`), and data over sockets goes \
          through two proxies.",
    fix: "Label the pods `sidecar.istio.io/inject: \"false\"`, or annotate them `linkerd.io/inject: disabled`.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: train-worker-0
  annotations: {fabric-admission.dev/profile: site}
  labels:
    training.kubeflow.org/job-name: train
    sidecar.istio.io/inject: "true"
spec:
  containers:
  - name: pytorch
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: v1
kind: Pod
metadata:
  name: train-worker-0
  annotations: {fabric-admission.dev/profile: site}
  labels:
    training.kubeflow.org/job-name: train
    sidecar.istio.io/inject: "false"
spec:
  containers:
  - name: pytorch
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "NVIDIA/nccl-tests issue 248, kubeflow/trainer issues 1636 and 2794",
        "istio/istio pkg/kube/inject/inject.go (injectRequired)",
        "linkerd/linkerd2 pkg/inject/inject.go",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB38"],
    waiver: Waiver::Allowed,
};

const ISTIO: &str = "sidecar.istio.io/inject";
const ISTIO_REVISION: &str = "istio.io/rev";
const LINKERD: &str = "linkerd.io/inject";

/// Annotations by which somebody who knows takes traffic past the proxy.
const PAST: [&str; 2] = ["traffic.sidecar.istio.io/", "config.linkerd.io/skip-"];

impl Rule for Mesh {
    fn meta(&self) -> &'static Meta {
        &MESH
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let Some((mesh, path, fix)) = injected(pod, context) else { return };
        // The proxies are not put into pods on the node's network.
        if pod.host_network() || !context.demands.any() || takes_past(pod) {
            return;
        }
        if context.gang().is_none_or(|gang| !gang.several) {
            return;
        }
        findings.add(path, format!("{mesh} puts its proxy between the ranks: they may never connect"), fix);
    }
}

fn takes_past(pod: &PodView<'_>) -> bool {
    let annotations = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    annotations.is_some_and(|a| a.iter().any(|(key, _)| PAST.iter().any(|past| key.starts_with(past))))
}

/// The mesh, the place that says so, and the way out.
fn injected(pod: &PodView<'_>, context: &PodContext<'_>) -> Option<(&'static str, String, &'static str)> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let label = |key: &str| labels.and_then(|l| l.get(key)).map(|v| &**v);
    let no_istio = "label the pods sidecar.istio.io/inject: \"false\"";
    // The label counts before the annotation, and both before the namespace.
    let asked = label(ISTIO).map(|v| (v, "labels"));
    if let Some((value, of)) = asked.or_else(|| pod.annotation(ISTIO).map(|v| (v, "annotations"))) {
        let on = matches!(value, "true" | "yes" | "on" | "y");
        if on {
            return Some(("Istio", format!("/metadata/{of}/{}", token(ISTIO)), no_istio));
        }
    } else if label(ISTIO_REVISION).is_some_and(|r| !r.is_empty()) {
        return Some(("Istio", format!("/metadata/labels/{}", token(ISTIO_REVISION)), no_istio));
    } else if let Some(facts) = context.namespace_facts {
        let label = |key: &str| facts.labels.get(key).map(String::as_str);
        let on = match label("istio-injection") {
            Some(value) => value == "enabled",
            None => label(ISTIO_REVISION).is_some_and(|r| !r.is_empty()),
        };
        if on {
            return Some(("Istio, by its namespace's labels,", "/metadata".to_owned(), no_istio));
        }
    }
    let linkerd = matches!(pod.annotation(LINKERD)?, "enabled" | "ingress");
    linkerd.then(|| {
        let path = format!("/metadata/annotations/{}", token(LINKERD));
        ("Linkerd", path, "annotate the pods linkerd.io/inject: disabled")
    })
}
