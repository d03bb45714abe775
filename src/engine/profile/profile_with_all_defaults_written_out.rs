//! A profile with everything that it inherits and every default, and the origin of each value.

use super::checks::shared_memory::DEFAULT_SHM_PER_ACCELERATOR;
use super::schema::{EnvPolicy, EnvVar, FabricProfile, Rail, SharedMemory, Spec, When};
use super::{Placement, Profile, ProfileError, inherit};
use crate::pod::Bytes;
use crate::text::json_pointer_token;
use serde_json::Value;
use std::collections::BTreeMap;

/// Where a value of a profile comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The profile itself has it, at this JSON pointer.
    Own(String),
    /// The base of this name has it.
    Base(String),
    /// Another field of the profile decides it.
    Field(&'static str),
    /// The profile and its base do not set it.
    Default,
}

/// A profile without a base that means the same.
#[derive(Debug, Clone)]
pub struct ProfileWithAllDefaults {
    /// The FabricProfile.
    pub json: Value,
    /// The origin of each value below `/spec`, by its JSON pointer.
    pub origins: BTreeMap<String, ValueOrigin>,
}

/// Writes a profile out; `raw` is its JSON as given, in which a value is present only if the author wrote it.
///
/// # Errors
/// [`ProfileError`] if the profile cannot be used.
pub fn write_out_all_defaults(
    profile: &FabricProfile,
    raw: &Value,
    bases: &[FabricProfile],
) -> Result<ProfileWithAllDefaults, ProfileError> {
    let resolved = Profile::checked_with_base(profile, bases)?;
    let fail = |pointer: &str, message: String| ProfileError {
        profile: profile.metadata.name.clone(),
        pointer: pointer.to_owned(),
        message,
    };
    let spec = with_all_defaults(inherit::spec_with_base(&profile.spec, bases, &fail)?, &resolved);
    let base = profile.spec.base.as_ref().and_then(|name| bases.iter().find(|b| b.metadata.name == *name));
    let origins = Origins {
        own: raw,
        base: base.and_then(|base| serde_json::to_value(base).ok()).unwrap_or_default(),
        base_name: base.map(|base| base.metadata.name.clone()).unwrap_or_default(),
    };
    let written = FabricProfile { spec, ..profile.clone() };
    let json = serde_json::to_value(&written).unwrap_or_default();
    let mut found = BTreeMap::new();
    if let Some(spec) = json.get("spec") {
        for_each_leaf_value(spec, "/spec".to_owned(), &mut |pointer, value| {
            let origin = origins.of(&json, pointer, value);
            found.insert(pointer.to_owned(), origin);
        });
    }
    Ok(ProfileWithAllDefaults { json, origins: found })
}

/// Every field that has a default, with its value.
fn with_all_defaults(spec: Spec, resolved: &Profile) -> Spec {
    let when = spec.when.clone().unwrap_or_default();
    let env = resolved.env.iter().map(|entry| {
        let given = spec.env.iter().flatten().find(|given| *given.name == *entry.name).cloned();
        // pinTransport and bootstrap set a variable that neither the profile nor the base lists.
        given.unwrap_or_else(|| EnvVar {
            name: entry.name.to_string(),
            value: Some(entry.value.to_string()),
            policy: EnvPolicy::Default,
            nccl_from: None,
            nccl_before: None,
            reason: Some(entry.reason.to_string()),
            source: None,
        })
    });
    let shared_memory = spec.shared_memory.clone();
    Spec {
        base: None,
        instance_types: Some(resolved.instance_types.clone()),
        priority: Some(resolved.priority),
        // An empty selector selects every namespace, as an absent one does.
        namespaces: Some(spec.namespaces.clone().unwrap_or_default()),
        when: Some(When {
            min_accelerators: Some(when.min_accelerators.unwrap_or(resolved.accelerators_per_node)),
            multi_node: Some(when.multi_node.unwrap_or_default()),
            pod_selector: when.pod_selector,
        }),
        inject: Some(resolved.inject),
        accelerators_per_node: Some(resolved.accelerators_per_node),
        rails: if spec.gke_networks.is_some() { None } else { Some(rails_with_counts_and_interfaces(&spec)) },
        subsets: if spec.gke_networks.is_some() {
            None
        } else {
            Some(spec.subsets.clone().unwrap_or_default())
        },
        resources: Some(resolved.resources.clone()),
        ipc_lock: if resolved.memlock.is_none() { Some(false) } else { None },
        memlock: resolved.memlock,
        env: Some(env.collect()),
        nccl_conf: Some(resolved.nccl_conf),
        files: Some(resolved.files.clone()),
        shared_memory: Some(shared_memory.unwrap_or_else(|| SharedMemory {
            per_accelerator: Bytes(DEFAULT_SHM_PER_ACCELERATOR).to_string(),
        })),
        on_missing: Some(resolved.on_missing),
        ignorable: Some(resolved.ignorable),
        pin_transport: Some(spec.pin_transport.unwrap_or_default()),
        unknown_claims: Some(resolved.unknown_claims),
        placement: Some(Placement { node_affinity: resolved.node_affinity }),
        ..spec
    }
}

/// The rails with the number and the name of their interfaces.
fn rails_with_counts_and_interfaces(spec: &Spec) -> Vec<Rail> {
    let mut position = 0;
    let named = |rail: &Rail| {
        let count = rail.count.unwrap_or(1);
        let first = format!("rail{position}");
        position += count;
        let interface = Some(rail.interface.clone().unwrap_or(first));
        Rail { count: Some(count), interface, ..rail.clone() }
    };
    spec.rails.iter().flatten().map(named).collect()
}

/// Calls `found` for every value that has no values inside, with its pointer.
fn for_each_leaf_value(value: &Value, pointer: String, found: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                for_each_leaf_value(value, format!("{pointer}/{}", json_pointer_token(key)), found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                for_each_leaf_value(item, format!("{pointer}/{index}"), found);
            }
        }
        _ => found(&pointer, value),
    }
}

/// The places that a value can come from.
struct Origins<'a> {
    own: &'a Value,
    base: Value,
    base_name: String,
}

impl Origins<'_> {
    fn of(&self, json: &Value, pointer: &str, value: &Value) -> ValueOrigin {
        let rest = pointer.strip_prefix("/spec/").unwrap_or_default();
        let (field, inner) = rest.split_once('/').unwrap_or((rest, ""));
        match field {
            "env" if inner.is_empty() => ValueOrigin::Default,
            "env" => self.variable(json, inner, value),
            // `ipcLock: true` means the same as `memlock: ipcLock`.
            "memlock" | "ipcLock" => self.memlock(),
            _ if has(self.own, field) => self.own(pointer.to_owned()),
            _ => self.base(pointer, value),
        }
    }

    fn own(&self, pointer: String) -> ValueOrigin {
        if self.own.pointer(&pointer).is_some() { ValueOrigin::Own(pointer) } else { ValueOrigin::Default }
    }

    /// A list that is not inherited has another value in the base.
    fn base(&self, pointer: &str, value: &Value) -> ValueOrigin {
        if self.base.pointer(pointer) == Some(value) {
            ValueOrigin::Base(self.base_name.clone())
        } else {
            ValueOrigin::Default
        }
    }

    fn memlock(&self) -> ValueOrigin {
        let fields = ["memlock", "ipcLock"];
        if let Some(field) = fields.iter().find(|field| has(self.own, field)) {
            return ValueOrigin::Own(format!("/spec/{field}"));
        }
        match fields.iter().any(|field| has(&self.base, field)) {
            true => ValueOrigin::Base(self.base_name.clone()),
            false => ValueOrigin::Field("transport"),
        }
    }

    /// A value of a variable; variables are known by their names.
    fn variable(&self, json: &Value, inner: &str, value: &Value) -> ValueOrigin {
        let (index, field) = inner.split_once('/').unwrap_or((inner, ""));
        let name =
            json.pointer(&format!("/spec/env/{index}/name")).and_then(Value::as_str).unwrap_or_default();
        if let Some(at) = position(self.own, name) {
            return self.own(format!("/spec/env/{at}/{field}"));
        }
        match position(&self.base, name).map(|at| format!("/spec/env/{at}/{field}")) {
            Some(pointer) if self.base.pointer(&pointer) == Some(value) => {
                ValueOrigin::Base(self.base_name.clone())
            }
            // Of a variable of the base, only `bootstrap` replaces the value and the reason.
            Some(_) => ValueOrigin::Field("bootstrap"),
            None if name == "NCCL_NET" => ValueOrigin::Field("pinTransport"),
            None => ValueOrigin::Field("bootstrap"),
        }
    }
}

fn has(profile: &Value, field: &str) -> bool {
    profile.pointer(&format!("/spec/{field}")).is_some_and(|value| !value.is_null())
}

fn position(profile: &Value, variable: &str) -> Option<usize> {
    let env = profile.pointer("/spec/env")?.as_array()?;
    env.iter().position(|entry| entry.get("name").and_then(Value::as_str) == Some(variable))
}
