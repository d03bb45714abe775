//! Others that write a pod's networks annotation and quantities, as their sources and documentation describe them. Each
//! is a few lines of our own; none of them is run here.

use serde_json::{Value, json};

pub(crate) const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";

/// Networks of the cluster with their resource.
pub(crate) const DEFINITIONS: [(&str, &str, Option<&str>); 7] = [
    ("fabric", "net", Some("example.com/vf")),
    ("fabric", "rail-a", Some("example.com/a")),
    ("fabric", "rail-b", Some("example.com/b")),
    ("team", "storage", None),
    ("team", "capture", Some("example.com/vf")),
    ("default", "istio-cni", None),
    ("default", "sriov-rdma-network", Some("nvidia.com/sriov_resource")),
];

/// One call of another webhook, or one write of a controller.
pub(crate) type Write = fn(&mut Value);

pub(crate) fn annotation(pod: &Value) -> Option<&str> {
    pod["metadata"]["annotations"][NETWORKS].as_str()
}

fn set_annotation(pod: &mut Value, value: String) {
    if pod["metadata"]["annotations"].is_null() {
        pod["metadata"]["annotations"] = json!({});
    }
    pod["metadata"]["annotations"][NETWORKS] = value.into();
}

/// Namespace and name of each attachment, in order. Broken text has none.
pub(crate) fn attachments(text: &str) -> Vec<(String, String)> {
    if text.contains(['[', '{', '"']) {
        let items: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
        let text = |item: &Value, key: &str| item[key].as_str().map(str::to_owned);
        return items
            .iter()
            .map(|i| {
                (text(i, "namespace").unwrap_or_else(|| "team".into()), text(i, "name").unwrap_or_default())
            })
            .collect();
    }
    let items = text.split(',').map(str::trim).filter(|i| !i.is_empty());
    items
        .map(|item| {
            let network = item.split('@').next().unwrap_or_default();
            let (namespace, name) = network.split_once('/').unwrap_or(("team", network));
            (namespace.to_owned(), name.to_owned())
        })
        .collect()
}

/// Istio with its CNI plugin behind Multus (istio/istio pkg/kube/inject/template.go, since #55000): its network goes to
/// the end, in the form that is there, unless it is there. A JSON list that cannot be read stays.
pub(crate) fn istio(pod: &mut Value) {
    let old = annotation(pod).unwrap_or_default().to_owned();
    let new = if old.is_empty() {
        "default/istio-cni".to_owned()
    } else if let Some(end) = old.rfind(']') {
        let Ok(items) = serde_json::from_str::<Vec<Value>>(&old) else { return };
        if items.iter().any(|i| i["name"] == "istio-cni") {
            return;
        }
        format!(r#"{}, {{"name": "istio-cni", "namespace": "default"}}{}"#, &old[..end], &old[end..])
    } else if old.split(',').any(|item| item.trim() == "default/istio-cni") {
        return;
    } else {
        format!("{old}, default/istio-cni")
    };
    set_annotation(pod, new);
}

/// The same with `holdApplicationUntilProxyStarts`: its proxy becomes container 0.
pub(crate) fn istio_with_proxy(pod: &mut Value) {
    let containers = pod["spec"]["containers"].as_array_mut().unwrap();
    if containers.iter().all(|c| c["name"] != "istio-proxy") {
        containers.insert(
            0,
            json!({"name": "istio-proxy", "image": "example.com/proxy:1",
            "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "100m"}}}),
        );
    }
    istio(pod);
}

/// What network-resources-injector counts: a unit for each attachment with a resource.
fn wanted(pod: &Value) -> Vec<(&'static str, i64)> {
    let mut wanted: Vec<(&str, i64)> = Vec::new();
    for (namespace, name) in attachments(annotation(pod).unwrap_or_default()) {
        let known = DEFINITIONS.iter().find(|(ns, n, _)| *ns == namespace && *n == name);
        let Some((_, _, Some(resource))) = known else { continue };
        match wanted.iter_mut().find(|(r, _)| r == resource) {
            Some((_, units)) => *units += 1,
            None => wanted.push((resource, 1)),
        }
    }
    wanted
}

/// A quantity, written as a number or as text.
pub(crate) fn quantity(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}

/// network-resources-injector as it is installed: where no container asks for the resource, container 0 gets all units;
/// else nothing is done for it.
pub(crate) fn injector(pod: &mut Value) {
    for (resource, units) in wanted(pod) {
        let containers = pod["spec"]["containers"].as_array_mut().unwrap();
        let asks =
            |c: &Value| ["limits", "requests"].iter().any(|list| !c["resources"][*list][resource].is_null());
        if containers.iter().any(asks) {
            continue;
        }
        for list in ["limits", "requests"] {
            containers[0]["resources"][list][resource] = units.to_string().into();
        }
    }
}

/// The same with `honor-resources`: the units are added to those of container 0, on every call.
pub(crate) fn honoring_injector(pod: &mut Value) {
    for (resource, units) in wanted(pod) {
        let first = &mut pod["spec"]["containers"][0]["resources"];
        let units = units + quantity(&first["limits"][resource]);
        for list in ["limits", "requests"] {
            first[list][resource] = units.to_string().into();
        }
    }
}

/// Spiderpool's podResourceInject with networks of its own: it overwrites the annotation, and gives container 0 one unit
/// of each resource that it does not have.
pub(crate) fn spiderpool(pod: &mut Value) {
    overwrite(pod, &["fabric/rail-a", "fabric/rail-b"], &["example.com/a", "example.com/b"]);
}

/// The same where its networks are the profile's rails: eight on one resource, of which it still asks one unit.
pub(crate) fn spiderpool_on_the_rails(pod: &mut Value) {
    overwrite(pod, &["fabric/net"; 8], &["example.com/vf"]);
}

fn overwrite(pod: &mut Value, networks: &[&str], resources: &[&str]) {
    set_annotation(pod, networks.join(","));
    for resource in resources {
        let limits = &mut pod["spec"]["containers"][0]["resources"]["limits"];
        if limits[*resource].is_null() {
            limits[*resource] = "1".into();
        }
    }
}

/// ib-kubernetes, once the pod has a node: it writes the annotation again as JSON, each InfiniBand attachment with a
/// GUID and a mark in `cni-args` (Mellanox/ib-kubernetes pkg/daemon).
pub(crate) fn ib_kubernetes(pod: &mut Value) {
    let Some(text) = annotation(pod).map(str::to_owned) else { return };
    let mut items: Vec<Value> = if text.contains('[') {
        serde_json::from_str(&text).unwrap()
    } else {
        let interface = |item: &str| item.trim().split_once('@').map(|(_, i)| i.to_owned());
        let named = attachments(&text).into_iter().zip(text.split(','));
        named
            .map(|((namespace, name), item)| {
                let mut value = json!({"cni-args": null, "name": name, "namespace": namespace});
                if let Some(interface) = interface(item) {
                    value["interface"] = interface.into();
                }
                value
            })
            .collect()
    };
    for (nth, item) in items.iter_mut().enumerate().filter(|(_, i)| i["namespace"] == "fabric") {
        item["cni-args"]["guid"] = format!("02:00:00:00:00:00:00:{nth:02x}").into();
        item["cni-args"]["mellanox.infiniband.app"] = "configured".into();
    }
    set_annotation(pod, Value::from(items).to_string());
}
