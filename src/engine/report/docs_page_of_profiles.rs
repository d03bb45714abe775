//! `docs/profiles.md`, made from the compiled-in profiles and the schema of a profile.

use crate::profile::FabricProfile;
use crate::profile::schema::{EnvVar, Inject, Per, Spec};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// The whole page. `schema` is the JSON schema of a FabricProfile.
#[must_use]
pub fn page(bases: &[FabricProfile], schema: &Value) -> String {
    let mut page = String::from(
        "# Profiles\n\n\
         <!-- Generated from policies/ and src/engine/profile by `just docs`; a test keeps it current. -->\n\n\
         For platform engineers who write a FabricProfile. A FabricProfile has the settings that pods need to use one\n\
         fabric. The program contains the base profiles (bases) of the following table. Your own profile names one\n\
         of the bases in `spec.base`, as in [examples/profiles/](../examples/profiles). Comments in\n\
         [policies/](../policies) give the source of each number.\n\n\
         | base | transport | attachment | description |\n| --- | --- | --- | --- |\n",
    );
    for base in bases {
        let name = &base.metadata.name;
        let (transport, attachment) = (word(base.spec.transport), word(base.spec.attachment));
        let what = cell(base.spec.description.as_deref().unwrap_or_default());
        let _ = writeln!(page, "| [{name}](#{name}) | {transport} | {attachment} | {what} |");
    }
    for base in bases {
        write_section(&mut page, &base.metadata.name, &base.spec);
    }
    page.push_str(
        "\n## Fields\n\nThe table lists all fields of `spec`. No field is required, but a profile without a `base`\n\
         needs a `transport` and an `attachment`. If a field is absent, the value of the base applies. `[]` marks\n\
         a list.\n\n\
         | field | type | meaning |\n| --- | --- | --- |\n",
    );
    if let Some(spec) = schema.pointer("/$defs/Spec") {
        write_rows_of_schema(&mut page, spec, schema, "");
    }
    page
}

/// A unit variant as it is written in YAML; a dash where there is none.
fn word<T: Serialize>(value: Option<T>) -> String {
    let text = value.and_then(|v| serde_json::to_value(v).ok());
    text.as_ref().and_then(Value::as_str).unwrap_or("-").to_owned()
}

/// Text within a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn write_section(page: &mut String, name: &str, spec: &Spec) {
    let _ = writeln!(page, "\n## {name}\n\n{}.\n", spec.description.as_deref().unwrap_or_default());
    let mut line = |what: &str, text: String| {
        let _ = writeln!(page, "- {what}: {text}");
    };
    if let Some(types) = &spec.instance_types {
        line("instance types", types.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", "));
    }
    if let Some(count) = spec.accelerators_per_node {
        line("accelerators per node", count.to_string());
    }
    if let Some(inject) = spec.inject.filter(|inject| *inject != Inject::Full) {
        line("inject", format!("`{}`", word(Some(inject))));
    }
    for rail in spec.rails.iter().flatten() {
        let times = rail.count.unwrap_or(1);
        let resource = match &rail.resource {
            Some(resource) => format!("one `{resource}` each"),
            None => "no resource".to_owned(),
        };
        line("rails", format!("`{}` x {times}, {resource}", rail.network));
    }
    if let Some(gke) = &spec.gke_networks {
        for (key, value) in gke.annotations() {
            line("annotation", format!("`{key}: {value}`"));
        }
    } else if spec.rails.iter().flatten().next().is_none() {
        line("rails", "none, so no network attachment is added".into());
    }
    for resource in spec.resources.iter().flatten() {
        let per = match resource.per {
            Per::Container => "container that requests accelerators",
            Per::Rail => "rail",
            Per::Accelerator => "accelerator",
        };
        line("resource", format!("{} of `{}` per {per}", resource.quantity, resource.name));
    }
    if let Some(lock) = spec.ipc_lock {
        line("`IPC_LOCK`", if lock { "added".into() } else { "not added".into() });
    }
    if let Some(memlock) = spec.memlock {
        line("memlock", format!("`{}`", word(Some(memlock))));
    }
    if let Some(memory) = &spec.shared_memory {
        line("`/dev/shm`", format!("{} per accelerator", memory.per_accelerator));
    }
    if let Some(pin) = spec.pin_transport {
        line("`NCCL_NET`", if pin { "`IB` (pinTransport)".into() } else { "not set".into() });
    }
    if let Some(bootstrap) = &spec.bootstrap {
        line("bootstrap", format!("`{bootstrap}`"));
    }
    if spec.env.iter().flatten().next().is_none() {
        return;
    }
    page.push_str("\n| variable | value | why | source |\n| --- | --- | --- | --- |\n");
    for entry in spec.env.iter().flatten() {
        write_variable(page, entry);
    }
}

fn write_variable(page: &mut String, entry: &EnvVar) {
    let value = match &entry.value {
        Some(value) => format!("`{value}`"),
        None => word(Some(entry.policy)),
    };
    let text = |text: &Option<String>| cell(text.as_deref().unwrap_or("-"));
    let _ =
        writeln!(page, "| `{}` | {value} | {} | {} |", entry.name, text(&entry.reason), text(&entry.source));
}

/// The rows of one schema and of those below it, in the order of the type.
fn write_rows_of_schema(page: &mut String, schema: &Value, root: &Value, at: &str) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let target = target(property, root);
        let list = has_type(property, "array");
        let inner = if list { follow(&property["items"], root) } else { target };
        let path = format!("{at}{name}{}", if list { "[]" } else { "" });
        // The comment of an optional closed list says what its values mean.
        let closed = property.get("anyOf").is_some() && inner.get("oneOf").is_some();
        let described = if closed { inner } else { property };
        let meaning = cell(described["description"].as_str().unwrap_or_default());
        let _ = writeln!(page, "| `{path}` | {} | {meaning} |", kind(inner));
        // Every selector is alike: `nodeSelector` shows what is in one.
        let shown = inner["properties"].get("matchLabels").is_some() && name != "nodeSelector";
        if !shown {
            write_rows_of_schema(page, inner, root, &format!("{path}."));
        }
    }
}

/// What a schema refers to.
fn follow<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let pointer = schema["$ref"].as_str().map(|r| r.trim_start_matches('#'));
    pointer.and_then(|p| root.pointer(p)).unwrap_or(schema)
}

/// The schema of a value that is there: an optional one may also be null.
fn target<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let some = schema["anyOf"].as_array().and_then(|any| any.iter().find(|s| s.get("$ref").is_some()));
    follow(some.unwrap_or(schema), root)
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == name,
        Value::Array(many) => many.iter().any(|t| t == name),
        _ => false,
    }
}

/// The type in one word, or the values of a closed list.
fn kind(schema: &Value) -> String {
    let constants = schema["oneOf"].as_array().into_iter().flatten().filter_map(|s| s["const"].as_str());
    let plain = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let values: Vec<String> = constants.chain(plain).map(|v| format!("`{v}`")).collect();
    if !values.is_empty() {
        return values.join(", ");
    }
    let names = ["string", "integer", "boolean", "object", "array"];
    let found = names.into_iter().find(|n| has_type(schema, n)).unwrap_or("any");
    if found == "array" { "list".to_owned() } else { found.to_owned() }
}
