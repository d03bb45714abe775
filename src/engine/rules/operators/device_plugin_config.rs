//! Device plugin configurations inside of other objects: of the network operator, and in ConfigMaps.

use super::device_plugin_texts::{Concern, ConfigFault, shared, sriov};
use crate::json::go::DEVICE_PLUGIN;
use crate::rules::embedded::{self, EmbeddedFault};
use crate::rules::fields::is_placeholder;
use crate::rules::finding::Findings;
use crate::rules::locate::Places;
use crate::rules::object::ObjectContext;
use crate::text::token;
use serde_json::{Map, Value};

/// Finds the faults of a configuration.
type Reader = fn(&Map<String, Value>) -> Vec<ConfigFault>;

/// A configuration in an object.
pub(super) struct Configuration<'a> {
    /// JSON pointer of the text.
    pub(super) pointer: String,
    /// The text.
    pub(super) text: &'a str,
    /// What the plugin reads; or why it cannot.
    pub(super) read: Result<(Map<String, Value>, Reader), EmbeddedFault>,
}

/// The configurations in an object.
pub(super) fn configurations<'a>(context: &'a ObjectContext<'_>) -> Vec<Configuration<'a>> {
    let Some(object) = context.value() else { return Vec::new() };
    if context.kind == "ConfigMap" {
        let data = object.get("data").and_then(Value::as_object);
        return data
            .into_iter()
            .flatten()
            .filter_map(|(key, text)| of_config_map(key, text.as_str()?))
            .collect();
    }
    let plugins: [(&str, Reader); 2] =
        [("/spec/rdmaSharedDevicePlugin/config", shared), ("/spec/sriovDevicePlugin/config", sriov)];
    let given = plugins.into_iter().filter_map(|(pointer, reader)| {
        // An empty text leaves the plugin to a ConfigMap of its own.
        let text = object.pointer(pointer)?.as_str().filter(|text| !text.is_empty())?;
        let read = embedded::object(text, DEVICE_PLUGIN).map(|config| (config, reader));
        Some(Configuration { pointer: pointer.to_owned(), text, read })
    });
    given.collect()
}

/// The configuration in a value of a ConfigMap. Any key and any program may hold JSON: a plugin's has its list, with an
/// entry that names a resource.
fn of_config_map<'a>(key: &str, text: &'a str) -> Option<Configuration<'a>> {
    let lists: [(&str, Reader); 2] = [("resourceList", sriov), ("configList", shared)];
    let pointer = || format!("/data/{}", token(key));
    let quoted = |name: &str| text.contains(&format!("\"{name}\""));
    if !text.trim_start().starts_with('{') || !quoted("resourceName") {
        return None;
    }
    match embedded::object(text, DEVICE_PLUGIN) {
        Ok(config) => {
            let named = |name: &&(&str, Reader)| {
                let entries = config.get(name.0).and_then(Value::as_array);
                entries.is_some_and(|all| all.iter().any(|entry| entry.get("resourceName").is_some()))
            };
            let reader = lists.iter().find(named)?.1;
            Some(Configuration { pointer: pointer(), text, read: Ok((config, reader)) })
        }
        Err(fault) => {
            let plugins = lists.iter().any(|(name, _)| quoted(name)) && !is_placeholder(text);
            plugins.then(|| Configuration { pointer: pointer(), text, read: Err(fault) })
        }
    }
}

/// Reports the faults of one concern, each at its place in the text.
pub(super) fn report(context: &ObjectContext<'_>, concern: Concern, findings: &mut Findings<'_>) {
    for configuration in configurations(context) {
        let Ok((config, reader)) = &configuration.read else { continue };
        let (text, places) = (configuration.text, Places::default());
        for fault in reader(config).into_iter().filter(|f| f.concern == concern) {
            let place = || places.locate(text, &fault.pointer, DEVICE_PLUGIN);
            findings.add_within_as(fault.severity, &configuration.pointer, place, &fault.message, &fault.fix);
        }
    }
}
