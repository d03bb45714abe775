//! What a patch may write, and nothing else: the security invariants as a list.

use crate::support::generated_placement::REQUIRED;
use fabric_admission::patch::Operation;
use fabric_admission::plan::SHM_PATH;
use fabric_admission::pod::Quantity;
use serde_json::{Value, json};

const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";

/// Whether an operation stays within what may be written, and writes nothing but what it must.
pub(super) fn allowed(operation: &Operation<'_>, pod: &Value) -> Result<(), String> {
    let value: Value = serde_json::from_str(operation.value.get()).map_err(|e| e.to_string())?;
    let path: Vec<&str> = operation.path.split('/').skip(1).collect();
    let keys = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>());
    let only = |value: &Value, wanted: &[&str]| keys(value).is_some_and(|k| k == wanted);
    let is_absent = |pointer: &str| pod.pointer(pointer).is_none_or(Value::is_null);
    let fits = match (operation.op, &path[..]) {
        ("add", ["metadata"]) => {
            let annotations = &value["annotations"];
            is_absent("/metadata") && only(&value, &["annotations"]) && are_annotations(annotations)
        }
        ("add", ["metadata", "annotations"]) => is_absent("/metadata/annotations") && are_annotations(&value),
        ("add" | "replace", ["metadata", "annotations", key]) => {
            is_annotation(&key.replace("~1", "/")) && value.is_string()
        }
        ("add", ["spec", "nodeSelector"]) => {
            is_absent("/spec/nodeSelector")
                && value.as_object().is_some_and(|o| !o.is_empty() && o.values().all(Value::is_string))
        }
        ("add", ["spec", "nodeSelector", _]) => is_absent(&operation.path) && value.is_string(),
        ("add", ["spec", "volumes", "-"]) => is_volume(&value),
        ("add", ["spec", "volumes"]) => {
            is_absent("/spec/volumes") && value.as_array().is_some_and(|v| v.iter().all(is_volume))
        }
        ("add", ["spec", "initContainers", "-"]) => is_ours(&value, pod),
        ("add", ["spec", "initContainers"]) => {
            is_absent("/spec/initContainers")
                && value.as_array().is_some_and(|list| list.iter().all(|c| is_ours(c, pod)))
        }
        ("add", ["spec", "affinity", rest @ ..]) => {
            may_add_affinity(rest, &value, is_absent(&operation.path))
        }
        (op, ["spec", "containers", index, rest @ ..]) if index.parse::<usize>().is_ok() => {
            let new = is_absent(&operation.path);
            let list = |value: &Value, item: fn(&Value) -> bool| {
                value.as_array().is_some_and(|l| l.iter().all(item))
            };
            match (op, rest) {
                ("add", ["resources"]) if new => {
                    keys(&value).is_some_and(|k| k.iter().all(|k| k == "limits" || k == "requests"))
                        && value.as_object().is_some_and(|o| o.values().all(are_units))
                }
                ("add", ["resources", "limits" | "requests"]) => new && are_units(&value),
                ("add", ["resources", "limits" | "requests", _]) => new && is_units(&value),
                ("replace", ["resources", "limits" | "requests", _]) => {
                    let units = |v: &Value| {
                        let text = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
                        if v.is_null() {
                            0
                        } else {
                            Quantity::parse(&text).map_or(i64::MAX, Quantity::units_rounded_up)
                        }
                    };
                    let old = pod.pointer(&operation.path).ok_or("nothing to replace")?;
                    is_units(&value) && units(old) < units(&value)
                }
                ("add", ["securityContext"]) => {
                    new && value == json!({"capabilities": {"add": ["IPC_LOCK"]}})
                }
                ("add", ["securityContext", "capabilities"]) => new && value == json!({"add": ["IPC_LOCK"]}),
                ("add", ["securityContext", "capabilities", "add"]) => new && value == json!(["IPC_LOCK"]),
                ("add", ["securityContext", "capabilities", "add", "-"]) => value == json!("IPC_LOCK"),
                ("add", ["env"]) => new && list(&value, is_variable),
                ("add", ["env", "-"]) => is_variable(&value),
                ("add", ["volumeMounts"]) => new && list(&value, is_mount),
                ("add", ["volumeMounts", "-"]) => is_mount(&value),
                _ => false,
            }
        }
        _ => false,
    };
    if fits { Ok(()) } else { Err("not on the list of what may be written".to_owned()) }
}

fn is_annotation(key: &str) -> bool {
    key == NETWORKS
        || key == "networking.gke.io/default-interface"
        || key == "networking.gke.io/interfaces"
        || key.strip_prefix("ulimits.nri.containerd.io/container.").is_some_and(|name| !name.is_empty())
        || key == "fabric-admission.dev/injected"
        || matches!(key, "prometheus.io/scrape" | "prometheus.io/port" | "prometheus.io/path")
        || key.strip_prefix("fabric-admission.dev/file.").is_some_and(|name| !name.is_empty())
}

fn are_annotations(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|o| !o.is_empty() && o.iter().all(|(k, v)| is_annotation(k) && v.is_string()))
}

/// Memory for `/dev/shm`, or files out of the pod's own annotations. Nothing of the node, of a ConfigMap or a Secret.
fn is_volume(value: &Value) -> bool {
    let is_item = |item: &Value| {
        let name = item["path"].as_str().unwrap_or_default();
        let field = format!("metadata.annotations['fabric-admission.dev/file.{name}']");
        *item == json!({"path": name, "fieldRef": {"fieldPath": field}})
    };
    let items = &value["downwardAPI"]["items"];
    let files = items.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_item))
        && *value == json!({"name": value["name"].as_str(), "downwardAPI": {"items": items}});
    let name = &value["name"];
    let image = &value["image"]["reference"];
    let in_pod = *value == json!({"name": name, "emptyDir": {"sizeLimit": "64Mi"}})
        || *value == json!({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}});
    files || in_pod || is_shm_volume(value)
}

/// A container of our own. It gets no right that a container of the pod does not have.
fn is_ours(value: &Value, pod: &Value) -> bool {
    let restricted = |context: &Value| {
        let user = context.get("runAsUser").is_none_or(|user| *user == json!(65532));
        let mut context = context.clone();
        context.as_object_mut().map(|o| o.remove("runAsUser"));
        user && context
            == json!({
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"},
            })
    };
    let context = &value["securityContext"];
    match value["name"].as_str() {
        Some("fabric-install" | "fabric-monitor") => {
            restricted(context) && !value["resources"].to_string().contains('/')
        }
        Some("fabric-preflight") => {
            let none = Vec::new();
            let containers = pod["spec"]["containers"].as_array().unwrap_or(&none);
            containers.iter().any(|c| {
                let mut own = c["securityContext"].clone();
                let mut with = context.clone();
                // IPC_LOCK is what the container gets as well.
                for context in [&mut own, &mut with] {
                    let add = context.pointer_mut("/capabilities/add").and_then(Value::as_array_mut);
                    if let Some(list) = add {
                        list.retain(|c| *c != json!("IPC_LOCK"));
                    }
                }
                let plain = |v: &Value| v.to_string().replace(r#""add":[],"#, "").replace(r#""add":[]"#, "");
                let bare = |v: &Value| matches!(plain(v).as_str(), "null" | "{}" | r#"{"capabilities":{}}"#);
                let keeps = own
                    .as_object()
                    .is_none_or(|own| own.iter().all(|(k, v)| k == "capabilities" || with[k] == *v));
                let adds = with
                    .as_object()
                    .is_none_or(|with| with.keys().all(|k| k == "capabilities" || own.get(k).is_some()));
                value["image"] == c["image"] && (bare(&own) && bare(&with) || keeps && adds)
            })
        }
        _ => false,
    }
}

fn is_mount(value: &Value) -> bool {
    let name = &value["name"];
    is_shm_mount(value)
        || *value == json!({"name": name, "mountPath": "/etc/fabric-admission", "readOnly": true})
        || value["subPath"].is_string()
            && *value
                == json!({"name": name, "mountPath": "/etc/nccl.conf", "subPath": value["subPath"], "readOnly": true})
}

fn is_shm_volume(value: &Value) -> bool {
    let size = &value["emptyDir"]["sizeLimit"];
    size.is_string()
        && *value
            == json!({"name": value["name"].as_str(), "emptyDir": {"medium": "Memory", "sizeLimit": size}})
}

fn is_shm_mount(value: &Value) -> bool {
    *value == json!({"name": value["name"].as_str(), "mountPath": SHM_PATH})
}

fn is_variable(value: &Value) -> bool {
    let (name, text) = (value["name"].as_str(), value["value"].as_str());
    name.is_some() && text.is_some() && *value == json!({"name": name, "value": text})
}

fn is_units(value: &Value) -> bool {
    value.as_str().and_then(|v| v.parse::<u64>().ok()).is_some_and(|n| n > 0)
}

fn are_units(value: &Value) -> bool {
    value.as_object().is_some_and(|o| !o.is_empty() && o.values().all(is_units))
}

/// Whether a value may be added below `/spec/affinity`, at a place that is there or not.
fn may_add_affinity(path: &[&str], value: &Value, is_new: bool) -> bool {
    let requirement = |v: &Value| {
        let known = ["key", "operator", "values"];
        v.as_object().is_some_and(|o| o.contains_key("operator") && o.keys().all(|k| known.contains(&&**k)))
    };
    let requirements = |v: &Value| v.as_array().is_some_and(|l| !l.is_empty() && l.iter().all(requirement));
    let only = |v: &Value, key: &str| v.as_object().is_some_and(|o| o.len() == 1 && o.contains_key(key));
    let term = |v: &Value| only(v, "matchExpressions") && requirements(&v["matchExpressions"]);
    let terms = |v: &Value| v.as_array().is_some_and(|l| l.len() == 1 && l.iter().all(term));
    let selector = |v: &Value| only(v, "nodeSelectorTerms") && terms(&v["nodeSelectorTerms"]);
    let node = |v: &Value| only(v, REQUIRED) && selector(&v[REQUIRED]);
    match path {
        [] => is_new && only(value, "nodeAffinity") && node(&value["nodeAffinity"]),
        ["nodeAffinity"] => is_new && node(value),
        ["nodeAffinity", REQUIRED] => is_new && selector(value),
        ["nodeAffinity", REQUIRED, "nodeSelectorTerms", _, "matchExpressions"] => {
            is_new && requirements(value)
        }
        ["nodeAffinity", REQUIRED, "nodeSelectorTerms", _, "matchExpressions", "-"] => requirement(value),
        _ => false,
    }
}
