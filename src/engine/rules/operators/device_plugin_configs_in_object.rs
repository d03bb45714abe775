//! Device plugin configurations inside of other objects: of the network operator, and in ConfigMaps.

use super::faults_in_device_plugin_config::{faults_of_shared_plugin_config, faults_of_sriov_plugin_config};
use crate::json::as_go_reads::DEVICE_PLUGIN_FIELDS;
use crate::rules::device_plugin_config_fault_type::{
    ConsequenceOfFault, DevicePluginConfiguration, DevicePluginFault, NotRead,
};
use crate::rules::finding::FindingsOfRule;
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::place_in_json_text::Places;
use crate::rules::report_fields_crd_refuses::may_be_placeholder;
use crate::text::{
    MAX_DEVICE_PLUGIN_VALUES, MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT, estimated_values, json_pointer_token,
};
use serde_json::{Map, Value};

/// Finds the faults of a configuration.
type Reader = fn(&Map<String, Value>) -> Vec<DevicePluginFault>;

/// The configurations in an object.
pub(in crate::rules) fn configurations<'c>(
    context: &'c ObjectContext<'_>,
) -> &'c [DevicePluginConfiguration] {
    context.device_plugin_configurations(|| read_configurations(context))
}

fn read_configurations(context: &ObjectContext<'_>) -> Vec<DevicePluginConfiguration> {
    let kind = (context.group, context.kind);
    // Only these have them, and others are not read for them.
    if ![CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY].contains(&kind) {
        return Vec::new();
    }
    let Some(object) = context.whole_object() else { return Vec::new() };
    let mut left = MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT;
    if kind == CONFIG_MAP {
        let data = object.get("data").and_then(Value::as_object);
        let plugin = has_name_of_device_plugin(context);
        return data
            .into_iter()
            .flatten()
            .filter_map(|(key, text)| {
                configuration_in_config_map_value(key, text.as_str()?, plugin, &mut left)
            })
            .collect();
    }
    let plugins: [(&str, Reader); 2] = [
        ("/spec/rdmaSharedDevicePlugin/config", faults_of_shared_plugin_config),
        ("/spec/sriovDevicePlugin/config", faults_of_sriov_plugin_config),
    ];
    let given = plugins.into_iter().filter_map(|(pointer, reader)| {
        // An empty text leaves the plugin to a ConfigMap of its own.
        let text = object.pointer(pointer)?.as_str().filter(|text| !text.is_empty())?;
        let faults = read_config(text, &mut left).map(|config| reader(&config));
        Some(DevicePluginConfiguration { pointer: pointer.to_owned(), faults })
    });
    given.collect()
}

/// Reads a text, if it has no more values than may still be read.
fn read_config(text: &str, left: &mut usize) -> Result<Map<String, Value>, NotRead> {
    let values = estimated_values(text);
    let rest = left.checked_sub(values).filter(|_| values <= MAX_DEVICE_PLUGIN_VALUES);
    *left = rest.ok_or_else(|| {
        NotRead::TooLong(format!(
            "about {values} values; at most {MAX_DEVICE_PLUGIN_VALUES} are read, and {MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT} in all such texts of an object"
        ))
    })?;
    json_in_text_fields::read_object(text, DEVICE_PLUGIN_FIELDS).map_err(NotRead::Fault)
}

/// Whether the ConfigMap's name is one that the plugins' manifests and operators use, such as `sriovdp-config`.
fn has_name_of_device_plugin(context: &ObjectContext<'_>) -> bool {
    let name = context.non_empty_text_at("/metadata/name").unwrap_or_default();
    ["sriov", "rdma", "device-plugin"].iter().any(|word| name.contains(word))
}

/// Keys that only an entry of a device plugin has, or that its selectors have.
const OF_ENTRIES: &[&str] =
    &["rdmaHcaMax", "resourcePrefix", "excludeTopology", "additionalInfo", "deviceType"];
const OF_SELECTORS: &[&str] = &[
    "vendors",
    "devices",
    "deviceIDs",
    "drivers",
    "pciAddresses",
    "pfNames",
    "ifNames",
    "rootDevices",
    "linkTypes",
    "isRdma",
    "needVhostNet",
    "vdpaType",
    "ddpProfiles",
    "auxTypes",
    "pKeys",
];

/// Whether an entry that names a resource is one of a device plugin: other programs have lists of resources as well.
fn is_of_plugin(entry: &Value) -> bool {
    let selectors = match entry.get("selectors") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    OF_ENTRIES.iter().any(|key| entry.get(key).is_some())
        || selectors.iter().any(|one| OF_SELECTORS.iter().any(|key| one.get(key).is_some()))
}

/// The configuration in a value of a ConfigMap. Any key and any program may hold JSON: a plugin's has its list, with an
/// entry that names a resource and, unless the ConfigMap has a plugin's name, a key that only a plugin has.
fn configuration_in_config_map_value(
    key: &str,
    text: &str,
    plugin: bool,
    left: &mut usize,
) -> Option<DevicePluginConfiguration> {
    let lists: [(&str, Reader); 2] =
        [("resourceList", faults_of_sriov_plugin_config), ("configList", faults_of_shared_plugin_config)];
    let pointer = || format!("/data/{}", json_pointer_token(key));
    let quoted = |name: &str| text.contains(&format!("\"{name}\""));
    if !text.trim_start().starts_with('{') || !quoted("resourceName") {
        return None;
    }
    match read_config(text, left) {
        Ok(config) => {
            let named = |name: &&(&str, Reader)| {
                let entries = config.get(name.0).and_then(Value::as_array);
                let is_it =
                    |entry: &Value| entry.get("resourceName").is_some() && (plugin || is_of_plugin(entry));
                entries.is_some_and(|all| all.iter().any(is_it))
            };
            let reader = lists.iter().find(named)?.1;
            Some(DevicePluginConfiguration { pointer: pointer(), faults: Ok(reader(&config)) })
        }
        Err(why) => {
            let known = plugin || OF_ENTRIES.iter().chain(OF_SELECTORS).any(|key| quoted(key));
            let plugins = known && lists.iter().any(|(name, _)| quoted(name)) && !may_be_placeholder(text);
            plugins.then(|| DevicePluginConfiguration { pointer: pointer(), faults: Err(why) })
        }
    }
}

/// Reports the faults of one concern, each at its place in the text.
pub(super) fn report_faults_with_consequence(
    context: &ObjectContext<'_>,
    concern: ConsequenceOfFault,
    findings: &mut FindingsOfRule<'_>,
) {
    for configuration in configurations(context) {
        let Ok(faults) = &configuration.faults else { continue };
        let Some(text) = context.non_empty_text_at(&configuration.pointer) else { continue };
        let places = Places::default();
        for fault in faults.iter().filter(|f| f.concern == concern) {
            let place = || places.locate(text, &fault.pointer, DEVICE_PLUGIN_FIELDS);
            findings.add_in_text_with_severity(
                fault.severity,
                &configuration.pointer,
                place,
                &fault.message,
                &fault.fix,
            );
        }
    }
}
