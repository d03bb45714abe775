//! The operations of a plan, edit by edit.

use super::document::Patch;
use super::document::PatchWriter;
use crate::json::write::{
    json_of_list, json_of_pairs, json_of_text, push_list, push_object, push_text_of_parts,
};
use crate::plan::{Change, Edit, NODE_AFFINITY_TERMS_PATH, Plan, ResourceList, file_field_path};
use crate::pod::Bytes;
use crate::pod::pod_fields::{Container, PodView};
use crate::profile::schema::SelectorExpression;
use crate::text::{push_json_pointer_token, push_json_text, push_number};
use std::collections::BTreeMap;

/// Size of the volume of our own containers: four times the program.
const IN_POD_SIZE: &str = "64Mi";

/// Operations for a plan over the object it was made for. Empty where the plan is.
#[must_use]
pub fn write_plan_as_json_patch(pod: &PodView<'_>, plan: &Plan) -> Patch {
    let mut out = PatchWriter::default();
    let edits = || plan.changes_of_pod_itself().iter().map(|change| &change.edit);
    write_annotation_operations(pod, plan, &mut out);
    let has = pod.spec.as_ref().is_some_and(|s| s.volumes.is_some());
    append(&mut out, has, at("/spec/volumes"), edits().filter(|e| is_volume(e)), write_volume);
    let init = edits().filter_map(|edit| match edit {
        Edit::InitContainer { text, .. } => Some(text),
        _ => None,
    });
    let has = pod.spec.as_ref().is_some_and(|s| s.init_containers.is_some());
    append(&mut out, has, at("/spec/initContainers"), init, |out, text| out.push_str(text));
    write_node_selector_operations(pod, plan, &mut out);
    write_node_affinity_operations(pod, plan, &mut out);
    for (index, container) in pod.containers().iter().enumerate() {
        let changes = plan.changes_of_container(index);
        if !changes.is_empty() {
            write_container_operations(index, container, changes, &mut out);
        }
    }
    out.finish()
}

fn is_volume(edit: &Edit) -> bool {
    matches!(edit, Edit::ShmVolume { .. } | Edit::FilesVolume { .. } | Edit::InPodVolume { .. })
}

fn write_volume(out: &mut String, edit: &Edit) {
    push_object(out, |volume| match edit {
        Edit::ShmVolume { name, size, .. } => {
            volume.push_text_member("name", name);
            volume.push_object_member("emptyDir", |memory| {
                memory.push_text_member("medium", "Memory");
                push_text_of_parts(memory.push_key("sizeLimit"), format_args!("{}", Bytes(*size)));
            });
        }
        Edit::FilesVolume { name, items, .. } => {
            volume.push_text_member("name", name);
            volume.push_object_member("downwardAPI", |files| {
                push_list(files.push_key("items"), items.iter(), |out, file| {
                    push_object(out, |item| {
                        item.push_text_member("path", file);
                        item.push_object_member("fieldRef", |field| {
                            field.push_text_member("fieldPath", &file_field_path(file))
                        });
                    });
                });
            });
        }
        Edit::InPodVolume { name, image: None, .. } => {
            volume.push_text_member("name", name);
            volume.push_object_member("emptyDir", |disk| disk.push_text_member("sizeLimit", IN_POD_SIZE));
        }
        Edit::InPodVolume { name, image: Some(image), .. } => {
            volume.push_text_member("name", name);
            volume.push_object_member("image", |reference| {
                reference.push_text_member("reference", image);
                reference.push_text_member("pullPolicy", "IfNotPresent");
            });
        }
        _ => {}
    });
}

fn write_annotation_operations(pod: &PodView<'_>, plan: &Plan, out: &mut PatchWriter) {
    let planned = || plan.changes_of_pod_itself().iter().filter_map(|c| c.edit.annotation_that_it_sets());
    if planned().next().is_none() {
        return;
    }
    let metadata = pod.metadata.as_ref();
    if metadata.is_some_and(|m| m.annotations.is_some()) {
        for (key, value, present) in planned() {
            let op = if present { "replace" } else { "add" };
            out.push(op, below("/metadata/annotations/", &key), |out| push_json_text(out, value));
        }
        return;
    }
    let pairs = |out: &mut String| {
        push_object(out, |pairs| {
            planned().for_each(|(key, value, _)| push_json_text(pairs.push_escaped_key(&key), value))
        });
    };
    if metadata.is_some() {
        out.push("add", at("/metadata/annotations"), pairs);
    } else {
        out.push("add", at("/metadata"), |out| {
            push_object(out, |metadata| pairs(metadata.push_key("annotations")));
        });
    }
}

fn write_node_selector_operations(pod: &PodView<'_>, plan: &Plan, out: &mut PatchWriter) {
    let labels = || {
        plan.changes_of_pod_itself().iter().filter_map(|c| match &c.edit {
            Edit::NodeSelector { key, value } => Some((key, value)),
            _ => None,
        })
    };
    if labels().next().is_none() {
        return;
    }
    if pod.spec.as_ref().is_some_and(|s| s.node_selector.is_some()) {
        for (key, value) in labels() {
            out.push("add", below("/spec/nodeSelector/", key), |out| push_json_text(out, value));
        }
    } else {
        out.push("add", at("/spec/nodeSelector"), |out| {
            push_object(out, |pairs| {
                labels().for_each(|(key, value)| push_json_text(pairs.push_escaped_key(key), value))
            });
        });
    }
}

/// Requirements of the node affinity: below the deepest object that is there, the rest is made whole.
fn write_node_affinity_operations(pod: &PodView<'_>, plan: &Plan, out: &mut PatchWriter) {
    let mut terms: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for change in plan.changes_of_pod_itself() {
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
            let (has, requirements) = (own.match_expressions.is_some(), requirements.iter());
            let path = format!("{NODE_AFFINITY_TERMS_PATH}/{index}/matchExpressions");
            append(out, has, at(&path), requirements, |out, requirement| out.push_str(requirement));
            continue;
        }
        let mut value = json_of_pairs(&[("matchExpressions", json_of_list(&requirements))]);
        let mut path = format!("{NODE_AFFINITY_TERMS_PATH}/-");
        for there in [list.is_some(), required.is_some(), node.is_some(), affinity.is_some()] {
            if there {
                break;
            }
            // One step up: of a list that is not there, or of an object.
            let Some((above, name)) = path.rsplit_once('/') else { break };
            value = if name == "-" { json_of_list(&[value]) } else { json_of_pairs(&[(name, value)]) };
            path = above.to_owned();
        }
        out.push("add", at(&path), |out| out.push_str(&value));
    }
}

fn node_requirement(requirement: &SelectorExpression) -> String {
    let mut members = vec![
        ("key", json_of_text(&requirement.key)),
        ("operator", json_of_text(requirement.operator.word())),
    ];
    if !requirement.values.is_empty() {
        let values: Vec<String> = requirement.values.iter().map(|v| json_of_text(v)).collect();
        members.push(("values", json_of_list(&values)));
    }
    json_of_pairs(&members)
}

fn write_container_operations(
    index: usize,
    container: &Container<'_>,
    changes: &[Change],
    out: &mut PatchWriter,
) {
    write_quantity_operations(index, container, changes, out);
    if changes.iter().any(|c| matches!(c.edit, Edit::Capability { .. })) {
        write_capability_operations(index, container, out);
    }
    let env = changes.iter().filter_map(|c| match &c.edit {
        Edit::Env { name, value, .. } => Some((name, value)),
        _ => None,
    });
    let path = of_container(index, "/env");
    append(out, container.env.is_some(), path, env, |out, (name, value)| {
        push_object(out, |variable| {
            variable.push_text_member("name", name);
            variable.push_text_member("value", value);
        });
    });
    let mounts = changes.iter().map(|c| &c.edit).filter(|edit| edit.is_mount());
    let path = of_container(index, "/volumeMounts");
    append(out, container.volume_mounts.is_some(), path, mounts, |out, edit| edit.push_mount(out));
}

/// `IPC_LOCK`, below the deepest object that is there.
fn write_capability_operations(index: usize, container: &Container<'_>, out: &mut PatchWriter) {
    let context = container.security_context.as_ref();
    let capabilities = context.and_then(|s| s.capabilities.as_ref());
    let (path, value) = if capabilities.is_some_and(|c| c.add.is_some()) {
        ("/securityContext/capabilities/add/-", r#""IPC_LOCK""#)
    } else if capabilities.is_some() {
        ("/securityContext/capabilities/add", r#"["IPC_LOCK"]"#)
    } else if context.is_some() {
        ("/securityContext/capabilities", r#"{"add":["IPC_LOCK"]}"#)
    } else {
        ("/securityContext", r#"{"capabilities":{"add":["IPC_LOCK"]}}"#)
    };
    out.push("add", of_container(index, path), |out| out.push_str(value));
}

fn write_quantity_operations(
    index: usize,
    container: &Container<'_>,
    changes: &[Change],
    out: &mut PatchWriter,
) {
    for list in [ResourceList::Limits, ResourceList::Requests] {
        let items = || {
            changes.iter().filter_map(move |c| match &c.edit {
                Edit::Quantity { list: of, name, units, present, .. } if *of == list => {
                    Some((name.as_str(), *units, *present))
                }
                _ => None,
            })
        };
        if items().next().is_none() {
            continue;
        }
        let (field, exists) = match list {
            ResourceList::Limits => (list.field(), container.limits().is_some()),
            ResourceList::Requests => (list.field(), container.requests().is_some()),
        };
        let path = match list {
            ResourceList::Limits => of_container(index, "/resources/limits"),
            ResourceList::Requests => of_container(index, "/resources/requests"),
        };
        if exists {
            for (name, units, present) in items() {
                let op = if present { "replace" } else { "add" };
                let value = |out: &mut String| push_units(out, units);
                let path = |out: &mut String| {
                    path(out);
                    out.push('/');
                    push_json_pointer_token(out, name);
                };
                out.push(op, path, value);
            }
            continue;
        }
        let pairs = |out: &mut String| {
            push_object(out, |pairs| {
                items().for_each(|(name, units, _)| push_units(pairs.push_escaped_key(name), units));
            });
        };
        if container.resources.is_some() {
            out.push("add", path, pairs);
        } else {
            out.push("add", of_container(index, "/resources"), |out| {
                push_object(out, |resources| pairs(resources.push_key(field)))
            });
        }
    }
}

/// Writes a quantity, which is a text.
fn push_units(out: &mut String, units: i64) {
    push_text_of_parts(out, format_args!("{units}"));
}

/// Writes a path that has nothing to escape.
fn at(path: &str) -> impl Fn(&mut String) {
    move |out| out.push_str(path)
}

/// Writes the path of a member.
fn below(path: &str, key: &str) -> impl Fn(&mut String) {
    move |out| {
        out.push_str(path);
        push_json_pointer_token(out, key);
    }
}

/// Writes the path of a field of an app container.
fn of_container(index: usize, field: &'static str) -> impl Fn(&mut String) + Copy {
    move |out| {
        out.push_str("/spec/containers/");
        push_number(out, index);
        out.push_str(field);
    }
}

/// Appends to a list, or creates it whole.
fn append<T>(
    out: &mut PatchWriter,
    exists: bool,
    path: impl Fn(&mut String),
    values: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    let mut values = values.peekable();
    if values.peek().is_none() {
        return;
    }
    if exists {
        let end = |out: &mut String| {
            path(out);
            out.push_str("/-");
        };
        values.for_each(|value| out.push("add", end, |out| write(out, value)));
    } else {
        out.push("add", path, |out| push_list(out, values, write));
    }
}
