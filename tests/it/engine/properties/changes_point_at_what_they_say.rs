//! Each planned change is in the patched pod, at its place, once and in order.

use crate::support::generated_world::World;
use fabric_admission::plan::{Change, Edit, SHM_PATH};
use fabric_admission::pod::Bytes;
use serde_json::json;
use std::collections::BTreeSet;

pub(super) fn changes_point(world: &World) -> Result<(), String> {
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    for Change { edit, .. } in &decision.plan.changes {
        let found = patched.pointer(&edit.path()).ok_or_else(|| format!("nothing at {}", edit.path()))?;
        let expected = match edit {
            Edit::Networks { value, .. } => json!(value),
            Edit::Annotation { value, .. } | Edit::File { text: value, .. } => json!(value),
            Edit::FilesVolume { name, items, .. } => {
                let item = |file: &String| {
                    let field = format!("metadata.annotations['fabric-admission.dev/file.{file}']");
                    json!({"path": file, "fieldRef": {"fieldPath": field}})
                };
                json!({"name": name, "downwardAPI": {"items": items.iter().map(item).collect::<Vec<_>>()}})
            }
            Edit::FileMount { volume, path, sub_path: None, .. } => {
                json!({"name": volume, "mountPath": path, "readOnly": true})
            }
            Edit::FileMount { volume, path, sub_path: Some(sub_path), .. } => {
                json!({"name": volume, "mountPath": path, "subPath": sub_path, "readOnly": true})
            }
            Edit::ShmVolume { name, size, .. } => {
                json!({"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": Bytes(*size).to_string()}})
            }
            Edit::NodeSelector { value, .. } => json!(value),
            Edit::NodeRequirement { requirement, .. } => json!(requirement),
            Edit::Quantity { units, .. } => json!(units.to_string()),
            Edit::Capability { .. } => json!("IPC_LOCK"),
            Edit::Env { name, value, .. } => json!({"name": name, "value": value}),
            Edit::ShmMount { volume, .. } => json!({"name": volume, "mountPath": SHM_PATH}),
            Edit::InPodVolume { name, image: None, .. } => {
                json!({"name": name, "emptyDir": {"sizeLimit": "64Mi"}})
            }
            Edit::InPodVolume { name, image: Some(image), .. } => {
                json!({"name": name, "image": {"reference": image, "pullPolicy": "IfNotPresent"}})
            }
            Edit::InitContainer { text, .. } => serde_json::from_str(text).map_err(|e| e.to_string())?,
        };
        if *found != expected {
            return Err(format!("{} is {found}, the change says {expected}", edit.path()));
        }
    }
    Ok(())
}

pub(super) fn changes_are_unique(world: &World) -> Result<(), String> {
    let Some(decision) = world.decide() else { return Ok(()) };
    let changes = &decision.plan.changes;
    let places: BTreeSet<String> =
        changes.iter().map(|c| format!("{:?} {}", c.edit.carrier(), c.edit.path())).collect();
    if places.len() != changes.len() {
        return Err(format!("a change is there twice: {changes:#?}"));
    }
    // Patches and rules find a container's changes by bisection.
    if !changes.is_sorted_by_key(|c| c.edit.container()) {
        return Err(format!("containers are not in order: {changes:#?}"));
    }
    let unsaid = changes.iter().any(|c| c.reason.is_empty() || c.edit.summary().is_empty());
    if unsaid { Err(format!("a change without words: {changes:#?}")) } else { Ok(()) }
}
