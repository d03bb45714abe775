//! No value that the user wrote is lost or changed by the patch.

use crate::support::generated_documents::pointers;
use crate::support::generated_world::World;
use serde_json::Value;

const NETWORKS: &str = "/metadata/annotations/k8s.v1.cni.cncf.io~1networks";
const NCCL_CONF: &str = "/metadata/annotations/fabric-admission.dev~1file.nccl.conf";
const INJECTED: &str = "/metadata/annotations/fabric-admission.dev~1injected";

/// Every leaf of the pod is in the patched pod, at its place and unchanged.
pub(super) fn survives(world: &World) -> Result<(), String> {
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    for pointer in pointers(&world.pod) {
        let old = world.pod.pointer(&pointer).ok_or("no such node")?;
        let new = patched.pointer(&pointer).ok_or_else(|| format!("{pointer} is gone"))?;
        let written = decision.patch.read_operations().iter().any(|o| *o.path == *pointer);
        let kept = match (old, new) {
            // A null counts as absent; it gives way where something is set below it.
            (Value::Null, _) if written => true,
            (Value::Object(old), Value::Object(new)) => old.keys().eq(new.keys().take(old.len())),
            (Value::Array(old), Value::Array(new)) => old.len() <= new.len(),
            // What may be raised is held by `allowed`.
            (_, Value::String(_)) if written && pointer.contains("/resources/") => true,
            (Value::String(old), Value::String(new)) if written && pointer == NETWORKS => {
                holds_networks(old, new)
            }
            // Lines are added behind the user's.
            (Value::String(old), Value::String(new)) if written && pointer == NCCL_CONF => {
                new.starts_with(old.as_str())
            }
            (Value::String(_), Value::String(_)) if written && pointer == INJECTED => true,
            _ => old == new,
        };
        if !kept {
            return Err(format!("{pointer} was {old} and is {new}"));
        }
    }
    Ok(())
}

/// Whether the old attachments stand first, in order, in the same words.
fn holds_networks(old: &str, new: &str) -> bool {
    match (serde_json::from_str::<Vec<Value>>(old), serde_json::from_str::<Vec<Value>>(new)) {
        (Ok(old), Ok(new)) => new.starts_with(&old),
        (Err(_), Err(_)) => new.starts_with(old.trim_end()),
        _ => false,
    }
}
