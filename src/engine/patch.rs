//! A plan as RFC 6902 operations on the raw object: only `add` and `replace`, no `test`, and a missing or
//! `null` parent is created whole. A patch that does not apply is HTTP 500 for the user whatever the
//! failurePolicy (k8s.io/apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go), so every path here
//! follows from what the read model saw.

use crate::json::write::{array, object, string};
use crate::plan::{Change, Edit, Plan, ResourceList, TERMS_PATH, file_field_path};
use crate::pod::Bytes;
use crate::pod::view::{Container, PodView};
use crate::profile::schema::Requirement;
use crate::text::{push_json, token};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Size of the volume of our own containers: four times the program.
const IN_POD_SIZE: &str = "64Mi";

/// One operation.
#[derive(Debug, Clone)]
pub struct Operation {
    /// `add` or `replace`.
    pub op: &'static str,
    /// JSON pointer.
    pub path: String,
    /// Value.
    pub value: JsonText,
}

/// JSON text that was made here, and so is known to be JSON: it is written as it is, never parsed again.
#[derive(Debug, Clone)]
pub struct JsonText(String);

impl JsonText {
    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }
}

/// The patch document that the API server reads.
#[must_use]
pub fn render(operations: &[Operation]) -> String {
    let length: usize = operations.iter().map(|o| o.path.len() + o.value.0.len() + 32).sum();
    let mut text = String::with_capacity(length + 2);
    text.push('[');
    for (nth, operation) in operations.iter().enumerate() {
        if nth > 0 {
            text.push(',');
        }
        text.push_str("{\"op\":\"");
        text.push_str(operation.op);
        text.push_str("\",\"path\":");
        push_json(&mut text, &operation.path);
        text.push_str(",\"value\":");
        text.push_str(&operation.value.0);
        text.push('}');
    }
    text.push(']');
    text
}

/// Operations for a plan over the object it was made for. Empty where the plan is.
#[must_use]
pub fn operations(pod: &PodView<'_>, plan: &Plan) -> Vec<Operation> {
    let mut out = Vec::new();
    annotations(pod, plan, &mut out);
    let volumes = plan.changes.iter().filter_map(|c| volume(&c.edit)).collect();
    let has = pod.spec.as_ref().is_some_and(|s| s.volumes.is_some());
    append(has, "/spec/volumes", volumes, &mut out);
    let init = plan.changes.iter().filter_map(|c| match &c.edit {
        Edit::InitContainer { text, .. } => Some(text.clone()),
        _ => None,
    });
    let has = pod.spec.as_ref().is_some_and(|s| s.init_containers.is_some());
    append(has, "/spec/initContainers", init.collect(), &mut out);
    node_selector(pod, plan, &mut out);
    node_affinity(pod, plan, &mut out);
    for (index, container) in pod.containers().iter().enumerate() {
        let changes = plan.of_container(index);
        if !changes.is_empty() {
            container_operations(index, container, changes, &mut out);
        }
    }
    out
}

fn volume(edit: &Edit) -> Option<String> {
    match edit {
        Edit::ShmVolume { name, size, .. } => {
            let size = Bytes(*size).to_string();
            let memory = object(&[("medium", string("Memory")), ("sizeLimit", string(&size))]);
            Some(object(&[("name", string(name)), ("emptyDir", memory)]))
        }
        Edit::FilesVolume { name, items, .. } => {
            let items: Vec<String> = items
                .iter()
                .map(|file| {
                    let field = object(&[("fieldPath", string(&file_field_path(file)))]);
                    object(&[("path", string(file)), ("fieldRef", field)])
                })
                .collect();
            let files = object(&[("items", array(&items))]);
            Some(object(&[("name", string(name)), ("downwardAPI", files)]))
        }
        Edit::InPodVolume { name, image: None, .. } => {
            let disk = object(&[("sizeLimit", string(IN_POD_SIZE))]);
            Some(object(&[("name", string(name)), ("emptyDir", disk)]))
        }
        Edit::InPodVolume { name, image: Some(image), .. } => {
            let image = object(&[("reference", string(image)), ("pullPolicy", string("IfNotPresent"))]);
            Some(object(&[("name", string(name)), ("image", image)]))
        }
        _ => None,
    }
}

fn annotations(pod: &PodView<'_>, plan: &Plan, out: &mut Vec<Operation>) {
    let planned: Vec<(Cow<'_, str>, &str, bool)> =
        plan.changes.iter().filter_map(|c| c.edit.annotation()).collect();
    if planned.is_empty() {
        return;
    }
    let metadata = pod.metadata.as_ref();
    if metadata.is_some_and(|m| m.annotations.is_some()) {
        for (key, value, present) in planned {
            let op = if present { "replace" } else { "add" };
            push(out, op, ["/metadata/annotations/", &token(&key)].concat(), string(value));
        }
        return;
    }
    let pairs: Vec<(&str, String)> = planned.iter().map(|(key, value, _)| (&**key, string(value))).collect();
    if metadata.is_some() {
        push(out, "add", "/metadata/annotations".to_owned(), object(&pairs));
    } else {
        push(out, "add", "/metadata".to_owned(), object(&[("annotations", object(&pairs))]));
    }
}

fn node_selector(pod: &PodView<'_>, plan: &Plan, out: &mut Vec<Operation>) {
    let labels = plan.changes.iter().filter_map(|c| match &c.edit {
        Edit::NodeSelector { key, value } => Some((key.as_str(), string(value))),
        _ => None,
    });
    let labels: Vec<_> = labels.collect();
    if labels.is_empty() {
        return;
    }
    if pod.spec.as_ref().is_some_and(|s| s.node_selector.is_some()) {
        for (key, value) in labels {
            push(out, "add", format!("/spec/nodeSelector/{}", token(key)), value);
        }
    } else {
        push(out, "add", "/spec/nodeSelector".to_owned(), object(&labels));
    }
}

/// Requirements of the node affinity: below the deepest object that is there, the rest is made whole.
fn node_affinity(pod: &PodView<'_>, plan: &Plan, out: &mut Vec<Operation>) {
    let mut terms: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for change in &plan.changes {
        if let Edit::NodeRequirement { term, requirement, .. } = &change.edit {
            terms.entry(*term).or_default().push(node_requirement(requirement));
        }
    }
    let affinity = pod.affinity();
    let node = affinity.and_then(|a| a.node_affinity.as_ref());
    let required = node.and_then(|n| n.required.as_ref());
    let list = required.and_then(|r| r.node_selector_terms.as_deref());
    for (index, requirements) in terms {
        if let Some(own) = list.and_then(|l| l.get(index)) {
            let path = format!("{TERMS_PATH}/{index}/matchExpressions");
            append(own.match_expressions.is_some(), &path, requirements, out);
            continue;
        }
        let mut value = object(&[("matchExpressions", array(&requirements))]);
        let mut path = format!("{TERMS_PATH}/-");
        for there in [list.is_some(), required.is_some(), node.is_some(), affinity.is_some()] {
            if there {
                break;
            }
            // One step up: of a list that is not there, or of an object.
            let Some((above, name)) = path.rsplit_once('/') else { break };
            value = if name == "-" { array(&[value]) } else { object(&[(name, value)]) };
            path = above.to_owned();
        }
        push(out, "add", path, value);
    }
}

fn node_requirement(requirement: &Requirement) -> String {
    let mut members =
        vec![("key", string(&requirement.key)), ("operator", string(requirement.operator.word()))];
    if !requirement.values.is_empty() {
        let values: Vec<String> = requirement.values.iter().map(|v| string(v)).collect();
        members.push(("values", array(&values)));
    }
    object(&members)
}

fn container_operations(
    index: usize,
    container: &Container<'_>,
    changes: &[Change],
    out: &mut Vec<Operation>,
) {
    let base = format!("/spec/containers/{index}/");
    let at = |rest: &str| [&base, rest].concat();
    quantities(container, changes, &at, out);
    if changes.iter().any(|c| matches!(c.edit, Edit::Capability { .. })) {
        let list = format!("[{}]", string("IPC_LOCK"));
        let context = container.security_context.as_ref();
        let capabilities = context.and_then(|s| s.capabilities.as_ref());
        if capabilities.is_some_and(|c| c.add.is_some()) {
            push(out, "add", at("securityContext/capabilities/add/-"), string("IPC_LOCK"));
        } else if capabilities.is_some() {
            push(out, "add", at("securityContext/capabilities/add"), list);
        } else if context.is_some() {
            push(out, "add", at("securityContext/capabilities"), object(&[("add", list)]));
        } else {
            push(out, "add", at("securityContext"), object(&[("capabilities", object(&[("add", list)]))]));
        }
    }
    let env = changes.iter().filter_map(|c| match &c.edit {
        Edit::Env { name, value, .. } => Some(object(&[("name", string(name)), ("value", string(value))])),
        _ => None,
    });
    append(container.env.is_some(), &at("env"), env.collect(), out);
    let mounts = changes.iter().filter_map(|c| c.edit.mount());
    append(container.volume_mounts.is_some(), &at("volumeMounts"), mounts.collect(), out);
}

fn quantities(
    container: &Container<'_>,
    changes: &[Change],
    at: &dyn Fn(&str) -> String,
    out: &mut Vec<Operation>,
) {
    let of = |wanted: ResourceList| {
        changes.iter().filter_map(move |c| match &c.edit {
            Edit::Quantity { list, name, units, present, .. } if *list == wanted => {
                Some((name.as_str(), string(&units.to_string()), *present))
            }
            _ => None,
        })
    };
    for list in [ResourceList::Limits, ResourceList::Requests] {
        let items: Vec<_> = of(list).collect();
        if items.is_empty() {
            continue;
        }
        let exists = match list {
            ResourceList::Limits => container.limits().is_some(),
            ResourceList::Requests => container.requests().is_some(),
        };
        if exists {
            for (name, value, present) in items {
                let op = if present { "replace" } else { "add" };
                push(out, op, at(&["resources/", list.field(), "/", &token(name)].concat()), value);
            }
        } else {
            let pairs: Vec<(&str, String)> =
                items.into_iter().map(|(name, value, _)| (name, value)).collect();
            if container.resources.is_some() {
                push(out, "add", at(&format!("resources/{}", list.field())), object(&pairs));
            } else {
                push(out, "add", at("resources"), object(&[(list.field(), object(&pairs))]));
            }
        }
    }
}

/// Appends to a list, or creates it whole.
fn append(exists: bool, path: &str, values: Vec<String>, out: &mut Vec<Operation>) {
    if values.is_empty() {
        return;
    }
    if exists {
        for value in values {
            push(out, "add", [path, "/-"].concat(), value);
        }
    } else {
        push(out, "add", path.to_owned(), array(&values));
    }
}

fn push(out: &mut Vec<Operation>, op: &'static str, path: String, value: String) {
    out.push(Operation { op, path, value: JsonText(value) });
}
