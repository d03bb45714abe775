//! FAB703: service mesh proxy in a pod of a training job.

use crate::pod::PodView;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::json_pointer_token;

pub(super) static RULE: Rule =
    Rule { id: "FAB703", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

const ISTIO: &str = "sidecar.istio.io/inject";

const ISTIO_REVISION: &str = "istio.io/rev";

const LINKERD: &str = "linkerd.io/inject";

/// Annotations that exclude traffic from the proxy.
const PAST: [&str; 2] = ["traffic.sidecar.istio.io/", "config.linkerd.io/skip-"];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    let Some((mesh, path, fix)) = mesh_that_injects_proxy(pod, context) else { return };
    // Meshes do not inject into hostNetwork pods.
    if pod.host_network()
        || !context.subject.demands.requests_any_accelerator()
        || takes_traffic_past_proxy(pod)
    {
        return;
    }
    if context.multi_node_evidence().is_none_or(|gang| !gang.several) {
        return;
    }
    findings.add(
        path,
        format!("{mesh} adds its proxy to the pod, so the ranks may be unable to connect"),
        fix,
    );
}

fn takes_traffic_past_proxy(pod: &PodView<'_>) -> bool {
    let annotations = pod.metadata.as_ref().and_then(|m| m.annotations.as_ref());
    annotations.is_some_and(|a| a.iter().any(|(key, _)| PAST.iter().any(|past| key.starts_with(past))))
}

/// The mesh, the path of what enables it, and the fix.
fn mesh_that_injects_proxy(
    pod: &PodView<'_>,
    context: &PodContext<'_>,
) -> Option<(&'static str, String, &'static str)> {
    let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
    let label = |key: &str| labels.and_then(|l| l.get(key)).map(|v| &**v);
    let no_istio = "Set label sidecar.istio.io/inject: \"false\" on the pods.";
    // The label takes precedence over the annotation, and both over the namespace.
    let asked = label(ISTIO).map(|v| (v, "labels"));
    if let Some((value, of)) = asked.or_else(|| pod.annotation(ISTIO).map(|v| (v, "annotations"))) {
        let on = matches!(value, "true" | "yes" | "on" | "y");
        if on {
            return Some(("Istio", format!("/metadata/{of}/{}", json_pointer_token(ISTIO)), no_istio));
        }
    } else if label(ISTIO_REVISION).is_some_and(|r| !r.is_empty()) {
        return Some(("Istio", format!("/metadata/labels/{}", json_pointer_token(ISTIO_REVISION)), no_istio));
    } else if let Some(facts) = context.subject.namespace_facts {
        let label = |key: &str| facts.labels.get(key).map(String::as_str);
        let on = match label("istio-injection") {
            Some(value) => value == "enabled",
            None => label(ISTIO_REVISION).is_some_and(|r| !r.is_empty()),
        };
        if on {
            return Some(("Istio (by the namespace's labels)", "/metadata".to_owned(), no_istio));
        }
    }
    let linkerd = matches!(pod.annotation(LINKERD)?, "enabled" | "ingress");
    linkerd.then(|| {
        let path = pointers_in_pod::annotation(LINKERD);
        ("Linkerd", path, "Set annotation linkerd.io/inject: disabled on the pods.")
    })
}
