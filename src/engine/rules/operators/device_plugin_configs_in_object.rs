//! Device plugin configurations inside of other objects: of the network operator, and in ConfigMaps.

use super::faults_in_device_plugin_config::{faults_of_shared_plugin_config, faults_of_sriov_plugin_config};
use super::texts_of_config_map::TextsOfConfigMap;
use crate::json::as_go_reads::DEVICE_PLUGIN_FIELDS;
use crate::rules::device_plugin_config_fault_type::{
    ConsequenceOfFault, DevicePluginConfiguration, DevicePluginFault, NotRead, TextOfConfiguration,
};
use crate::rules::finding::FindingsOfRule;
use crate::rules::json_in_text_fields;
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::place_in_json_text::Places;
use crate::rules::report_fields_crd_refuses::may_be_placeholder;
use crate::text::{
    MAX_DEVICE_PLUGIN_VALUES, MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT, estimated_values, json_pointer_token,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Finds the faults of a configuration.
type Reader = fn(&Map<String, Value>) -> Vec<DevicePluginFault>;

/// The configurations in an object.
pub(in crate::rules) fn configurations<'c>(
    context: &'c ObjectContext<'_>,
) -> &'c [DevicePluginConfiguration] {
    context.device_plugin_configurations(|| read_configurations(context))
}

fn read_configurations(context: &ObjectContext<'_>) -> Vec<DevicePluginConfiguration> {
    match (context.group, context.kind) {
        CONFIG_MAP => configurations_in_config_map(context),
        NIC_CLUSTER_POLICY | NIC_NODE_POLICY => configurations_in_policy(context),
        _ => Vec::new(),
    }
}

fn configurations_in_config_map(context: &ObjectContext<'_>) -> Vec<DevicePluginConfiguration> {
    let TextsOfConfigMap { name, texts } = TextsOfConfigMap::read(context.json);
    let has_name_of_plugin = NAMES_OF_PLUGINS.iter().any(|word| name.contains(word));
    let mut left = MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT;
    // The SR-IOV operator's ConfigMap has a text for each node, and most of them are equal.
    let mut known: BTreeMap<&str, Option<Arc<TextOfConfiguration>>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut too_long = 0;
    for (key, text) in &texts {
        if too_long >= MAX_FINDINGS_PER_RULE_AND_SEVERITY || context.deadline.is_over() {
            break;
        }
        let read = || configuration_in_text_of_config_map(text, has_name_of_plugin, &mut left).map(Arc::new);
        let Some(text) = known.entry(&**text).or_insert_with(read) else { continue };
        too_long += usize::from(matches!(text.faults, Err(NotRead::TooLong(_))));
        let pointer = format!("/data/{}", json_pointer_token(key));
        found.push(DevicePluginConfiguration { pointer, text: Arc::clone(text) });
    }
    found
}

fn configurations_in_policy(context: &ObjectContext<'_>) -> Vec<DevicePluginConfiguration> {
    let mut left = MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT;
    let plugins: [(&str, Reader); 2] = [
        ("/spec/rdmaSharedDevicePlugin/config", faults_of_shared_plugin_config),
        ("/spec/sriovDevicePlugin/config", faults_of_sriov_plugin_config),
    ];
    let given = plugins.into_iter().filter_map(|(pointer, reader)| {
        // An empty text leaves the plugin to a ConfigMap of its own.
        let text = context.non_empty_text_at(pointer)?;
        let faults = read_config(text, &mut left).map(|config| reader(&config));
        let text = Arc::new(TextOfConfiguration { text: text.to_owned(), faults });
        Some(DevicePluginConfiguration { pointer: pointer.to_owned(), text })
    });
    given.collect()
}

/// Reads a text, if it has no more values than may still be read.
fn read_config(text: &str, left: &mut usize) -> Result<Map<String, Value>, NotRead> {
    let values = estimated_values(text);
    let cost = values.max(MIN_VALUES_OF_TEXT);
    let rest = left.checked_sub(cost).filter(|_| values <= MAX_DEVICE_PLUGIN_VALUES);
    *left = rest.ok_or_else(|| {
        NotRead::TooLong(format!(
            "about {values} values; at most {MAX_DEVICE_PLUGIN_VALUES} are read, and {MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT} in all such texts of an object"
        ))
    })?;
    json_in_text_fields::read_object(text, DEVICE_PLUGIN_FIELDS).map_err(NotRead::Fault)
}

/// What the names of the ConfigMaps have in the plugins' manifests and of operators, such as `sriovdp-config`.
const NAMES_OF_PLUGINS: [&str; 3] = ["sriov", "rdma", "device-plugin"];

/// A shorter text counts as one with so many values: to find its fault takes as long.
const MIN_VALUES_OF_TEXT: usize = 20;

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

/// The configuration in a text of a ConfigMap. Any key and any program may hold JSON: a plugin's has its list, with an
/// entry that names a resource and, unless the ConfigMap has a plugin's name, a key that only a plugin has.
fn configuration_in_text_of_config_map(
    text: &str,
    has_name_of_plugin: bool,
    left: &mut usize,
) -> Option<TextOfConfiguration> {
    let lists: [(&str, Reader); 2] =
        [("resourceList", faults_of_sriov_plugin_config), ("configList", faults_of_shared_plugin_config)];
    if !has_key(text, "resourceName") || !lists.iter().any(|(name, _)| has_key(text, name)) {
        return None;
    }
    let faults = match read_config(text, left) {
        Ok(config) => {
            let named = |name: &&(&str, Reader)| {
                let entries = config.get(name.0).and_then(Value::as_array);
                let is_it = |entry: &Value| {
                    entry.get("resourceName").is_some() && (has_name_of_plugin || is_of_plugin(entry))
                };
                entries.is_some_and(|all| all.iter().any(is_it))
            };
            Ok(lists.iter().find(named)?.1(&config))
        }
        Err(why) => {
            let has_key_of_plugin = || OF_ENTRIES.iter().chain(OF_SELECTORS).any(|key| has_key(text, key));
            let is_it = !may_be_placeholder(text) && (has_name_of_plugin || has_key_of_plugin());
            Err(is_it.then_some(why)?)
        }
    };
    Some(TextOfConfiguration { text: text.to_owned(), faults })
}

/// Whether a text has a name in quotes.
fn has_key(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        before.is_some_and(|before| before.ends_with('"'))
            && after.is_some_and(|after| after.starts_with('"'))
    })
}

/// Reports the faults of one concern, each at its place in the text.
pub(super) fn report_faults_with_consequence(
    context: &ObjectContext<'_>,
    concern: ConsequenceOfFault,
    findings: &mut FindingsOfRule<'_>,
) {
    for configuration in configurations(context) {
        let TextOfConfiguration { text, faults: Ok(faults) } = &*configuration.text else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::object_context::ObjectEvent;
    use crate::snapshot::Snapshot;
    use serde_json::json;

    /// Pointers of the configurations in a ConfigMap, and whether each has a fault.
    fn found(object: &Value) -> Vec<(String, bool)> {
        let (json, snapshot) = (object.to_string(), Snapshot::default());
        let context = ObjectContext::new(CONFIG_MAP, &json, ObjectEvent::Given, &snapshot);
        let has_fault =
            |text: &TextOfConfiguration| text.faults.as_ref().map_or(true, |faults| !faults.is_empty());
        let found = configurations(&context).iter();
        found.map(|found| (found.pointer.clone(), has_fault(&found.text))).collect()
    }

    #[test]
    fn nothing_else_in_a_config_map_hides_a_configuration() {
        let broken = r#"{"resourceList": [{"resourceName": "a", "selectors": {"pfNames": 5}}]"#;
        let padded = format!("{broken}{}", " ".repeat(300_000));
        for object in [
            json!({"data": {"a": broken}}),
            json!({"data": {"a": padded}}),
            json!({"data": {"a": broken, "z": " ".repeat(300_000)}}),
            json!({"metadata": {"managedFields": vec![1; 30_000]}, "data": {"a": broken}}),
        ] {
            assert_eq!(found(&object), [("/data/a".to_owned(), true)]);
        }
    }

    #[test]
    fn equal_texts_are_read_once_and_many_broken_ones_are_not_read() {
        let config = |i: usize| json!({"resourceList": [{"resourceName": format!("r{i}"), "selectors": {"pfNames": ["e"]}}]});
        let map = |number: usize, text: &dyn Fn(usize) -> String| {
            let data: Map<_, _> = (0..number).map(|i| (format!("node{i}"), text(i).into())).collect();
            json!({ "data": data })
        };
        let equal = found(&map(2_000, &|_| config(0).to_string()));
        assert_eq!((equal.len(), equal.iter().any(|(_, fault)| *fault)), (2_000, false));
        let faults = |number: usize| {
            let found = found(&map(number, &|i| format!("{}{i}", config(i))));
            (found.len(), found.iter().all(|(_, fault)| *fault))
        };
        assert_eq!(faults(400), (400, true));
        // Of those that follow, 50 count as too long.
        assert_eq!(faults(4_000), (450, true));
        let other = found(&map(4_000, &|i| format!("{{\"resourceName\"{i}")));
        assert!(other.is_empty(), "without a list it is another program's");
    }
}
