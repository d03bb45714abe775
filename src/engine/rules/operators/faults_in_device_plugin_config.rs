//! Faults that device plugins and their operator find in a configuration of valid JSON.

use crate::rules::device_plugin_config_fault_type::{ConsequenceOfFault, DevicePluginFault};
use crate::rules::finding::Severity;
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::report_fields_crd_refuses::{
    accepted_values_in_words, fix_sentence, key_and_value_in_words,
};
use crate::schemas::{self, Misfit, Reader, misfits};
use crate::text::escaped_and_cut;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Pairs of values that are compared at most, over all pairs of entries: ten resources of ten values each have 4,500.
const MAX_COMPARED: usize = 100_000;
/// Entries of a list that are checked at most: `{},` has three bytes and three faults of some hundred bytes. Real lists have
/// a handful.
const MAX_ENTRIES: usize = 200;

fn text<'a>(entry: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    entry.get(key).and_then(Value::as_str).filter(|t| !t.is_empty())
}

fn filled(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|list| !list.is_empty())
}

/// Whether a list is given with entries, or a value of another type in its place, which is reported as such.
fn given(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    }
}

fn entries<'a>(
    config: &'a Map<String, Value>,
    list: &str,
) -> impl Iterator<Item = (usize, &'a Map<String, Value>)> {
    let list = config.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().take(MAX_ENTRIES).enumerate().filter_map(|(i, entry)| Some((i, entry.as_object()?)))
}

/// `resourcePrefix` as the operator's webhook wants it.
fn fault_of_prefix(entry: &Map<String, Value>, at: &str) -> Option<DevicePluginFault> {
    let prefix = text(entry, "resourcePrefix").filter(|p| !p.contains('.'))?;
    Some(DevicePluginFault {
        pointer: format!("{at}/resourcePrefix"),
        severity: Severity::Info,
        message: format!(
            "resourcePrefix {:?} has no dot: the operator refuses this prefix if its webhook is on",
            escaped_and_cut(prefix, 60)
        ),
        fix: "Write a domain, such as nvidia.com.".into(),
        concern: ConsequenceOfFault::Operator,
    })
}

/// Values of a type or range that a plugin does not decode.
fn values_plugin_cannot_decode(plugin: &str, config: &Map<String, Value>) -> Vec<DevicePluginFault> {
    let Some(field) = schemas::fields_of_plugin("device-plugin", plugin) else { return Vec::new() };
    let fault = |misfit: &Misfit<'_, '_>| DevicePluginFault {
        pointer: misfit.pointer.clone(),
        severity: Severity::Error,
        message: format!(
            "{}, but the device plugin expects {}, and exits",
            key_and_value_in_words(misfit),
            accepted_values_in_words(misfit.field)
        ),
        fix: fix_sentence(misfit).into(),
        concern: ConsequenceOfFault::Start,
    };
    misfits(field, config, Reader::Go, MAX_FINDINGS_PER_RULE_AND_SEVERITY).iter().map(fault).collect()
}

/// The fault of a configuration without its list. An empty list may be meant: the plugin has nothing to do.
fn without_list(config: &Map<String, Value>, list: &'static str) -> Option<DevicePluginFault> {
    let missing = config.get(list).is_none_or(Value::is_null);
    missing.then(|| DevicePluginFault {
        pointer: String::new(),
        severity: Severity::Error,
        message: format!("{list} is not set: the device plugin has no resource to advertise, and exits"),
        fix: format!("Write {list}: [{{\"resourceName\": …}}].").into(),
        concern: ConsequenceOfFault::Start,
    })
}

/// The fault of an entry without a name.
fn without_name(at: &str, entry: &Map<String, Value>) -> Option<DevicePluginFault> {
    let name = entry.get("resourceName");
    let missing = name.is_none_or(|name| name.is_null() || name.as_str() == Some(""));
    missing.then(|| DevicePluginFault {
        pointer: at.to_owned(),
        severity: Severity::Error,
        message: "an entry has no resourceName: the device plugin exits".to_owned(),
        fix: "Give the resource a name, such as \"resourceName\": \"rdma_shared\".".into(),
        concern: ConsequenceOfFault::Start,
    })
}

/// Keys by which the shared plugin selects (Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go).
const SHARED_SELECTORS: [&str; 5] = ["vendors", "deviceIDs", "drivers", "ifNames", "linkTypes"];

/// Faults of a configuration of the RDMA shared device plugin.
pub(super) fn faults_of_shared_plugin_config(config: &Map<String, Value>) -> Vec<DevicePluginFault> {
    let mut faults = values_plugin_cannot_decode("shared", config);
    faults.extend(without_list(config, "configList"));
    let (mut names, mut unknown_to_report) = (BTreeSet::new(), MAX_FINDINGS_PER_RULE_AND_SEVERITY);
    for (i, entry) in entries(config, "configList") {
        let at = format!("/configList/{i}");
        let mut fault = |key: &str, severity, concern, message: String, fix: &'static str| {
            let pointer = format!("{at}{key}");
            faults.push(DevicePluginFault { pointer, severity, message, fix: Cow::Borrowed(fix), concern });
        };
        if let Some(name) = text(entry, "resourceName") {
            let shown = escaped_and_cut(name, 63);
            let mut refuse = |message, fix| {
                fault("/resourceName", Severity::Error, ConsequenceOfFault::Start, message, fix);
            };
            if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                let message = format!(
                    "resourceName {shown:?} is not valid: the device plugin accepts only letters, digits and `_`, and exits"
                );
                refuse(message, "Replace every character that is not valid with `_`.");
            } else if !names.insert(name) {
                let message = format!(
                    "resourceName {shown:?} is given twice: the device plugin exits, even if the prefixes differ"
                );
                refuse(message, "Rename one of the two resources.");
            }
        }
        let selectors = entry.get("selectors").and_then(Value::as_object);
        let selects = match selectors {
            Some(selectors) => SHARED_SELECTORS.iter().any(|k| given(selectors.get(*k))),
            None => given(entry.get("selectors")),
        };
        match (selects, given(entry.get("devices"))) {
            (true, true) => {
                let message = "selectors and devices are both set: the device plugin accepts only one of them, and exits".to_owned();
                fault(
                    "/devices",
                    Severity::Error,
                    ConsequenceOfFault::Start,
                    message,
                    "Remove devices, and select by ifNames in selectors.",
                );
            }
            (false, false) => {
                let message =
                    "neither selectors nor devices is set: the device plugin cannot choose NICs, and exits"
                        .to_owned();
                fault(
                    "",
                    Severity::Error,
                    ConsequenceOfFault::Start,
                    message,
                    "Write selectors, such as \"ifNames\": [\"ens1f0\"].",
                );
            }
            _ => {}
        }
        let unknown =
            selectors.into_iter().flat_map(Map::keys).filter(|k| !SHARED_SELECTORS.contains(&k.as_str()));
        for key in unknown.take(unknown_to_report) {
            unknown_to_report -= 1;
            let message = format!(
                "unknown selector {:?}: the device plugin ignores this selector, so the pool may take other NICs",
                escaped_and_cut(key, 60)
            );
            let fix = "Write vendors, deviceIDs, drivers, ifNames or linkTypes.";
            fault(
                &format!("/selectors/{}", crate::text::json_pointer_token(key)),
                Severity::Warning,
                ConsequenceOfFault::Devices,
                message,
                fix,
            );
        }
        if entry.get("rdmaHcaMax").is_none_or(|most| most.is_null() || most.as_i64() == Some(0)) {
            fault(
                "/rdmaHcaMax",
                Severity::Warning,
                ConsequenceOfFault::Devices,
                "rdmaHcaMax is 0 or not set: the device plugin advertises 0 units of the resource".to_owned(),
                "Set rdmaHcaMax to the number of pods that may share one NIC, such as 63.",
            );
        }
        faults.extend(without_name(&at, entry));
        faults.extend(fault_of_prefix(entry, &at));
    }
    faults
}

/// A resource that is earlier in the list: its name, its selectors, and how many values they have.
type Earlier<'a> = (String, Vec<&'a Map<String, Value>>, usize);

/// Faults of a configuration of the SR-IOV network device plugin.
pub(super) fn faults_of_sriov_plugin_config(config: &Map<String, Value>) -> Vec<DevicePluginFault> {
    let mut faults = values_plugin_cannot_decode("sriov", config);
    faults.extend(without_list(config, "resourceList"));
    let mut names = BTreeSet::new();
    let mut earlier: Vec<Earlier<'_>> = Vec::new();
    let mut left = MAX_COMPARED;
    for (i, entry) in entries(config, "resourceList") {
        let at = format!("/resourceList/{i}");
        let name = text(entry, "resourceName").unwrap_or_default();
        let shown = escaped_and_cut(name, 63);
        let mut fault = |key: &str, severity, concern, message: String, fix: &'static str| {
            let pointer = format!("{at}{key}");
            faults.push(DevicePluginFault { pointer, severity, message, fix: Cow::Borrowed(fix), concern });
        };
        let mut refuse = |message, fix| {
            fault("/resourceName", Severity::Error, ConsequenceOfFault::Start, message, fix);
        };
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if !name.bytes().all(plain) {
            let message = format!(
                "resourceName {shown:?} is not valid: the device plugin accepts only letters, digits and `_` (newer versions also `-`), and exits"
            );
            refuse(message, "Replace every character that is not valid with `_`.");
        } else if !name.is_empty() && !names.insert((text(entry, "resourcePrefix"), name)) {
            let message = format!("resourceName {shown:?} is given twice: the device plugin exits");
            refuse(message, "Rename one of the two resources.");
        } else if name.contains('-') {
            let message = format!(
                "resourceName {shown:?} has a `-`: the operator refuses this name if its webhook is on"
            );
            fault(
                "/resourceName",
                Severity::Info,
                ConsequenceOfFault::Operator,
                message,
                "Replace `-` by `_`.",
            );
        }
        let device_type = text(entry, "deviceType").unwrap_or("netDevice");
        // cmd/sriovdp/manager.go reads it through a pointer, and readConfig does not ask whether there is one.
        if entry.get("selectors").is_none_or(Value::is_null) {
            fault(
                "",
                Severity::Error,
                ConsequenceOfFault::Start,
                format!("resource {shown} has no selectors: the device plugin crashes at start"),
                "Write selectors, such as \"pfNames\": [\"ens1f0np0\"].",
            );
        }
        let selectors = selectors(entry);
        for (place, selector) in &selectors {
            let rdma = selector.get("isRdma").and_then(Value::as_bool) == Some(true);
            if device_type == "netDevice" && rdma && text(selector, "vdpaType").is_some() {
                let message =
                    "isRdma and vdpaType are both set: the device plugin accepts only one of them, and exits"
                        .to_owned();
                fault(
                    &format!("{place}/vdpaType"),
                    Severity::Error,
                    ConsequenceOfFault::Start,
                    message,
                    "Write two resources: one with isRdma, and one with vdpaType.",
                );
            }
            for key in ["pKeys", "acpiIndexes"].into_iter().filter(|k| selector.contains_key(*k)) {
                let message = format!(
                    "selector {key}: the device plugin accepts this selector, but the operator refuses it if the operator's webhook is on"
                );
                fault(
                    &format!("{place}/{key}"),
                    Severity::Info,
                    ConsequenceOfFault::Operator,
                    message,
                    "Select by pfNames or pciAddresses.",
                );
            }
            let narrow = |(key, value): (&String, &Value)| {
                !matches!(key.as_str(), "vendors" | "isRdma" | "needVhostNet") && *value != Value::Null
            };
            if filled(selector.get("vendors")) && !selector.iter().any(narrow) {
                let message = format!(
                    "resource {shown} selects only by vendor: the resource takes every NIC that has no VFs and no default route, including storage NICs"
                );
                fault(
                    place,
                    Severity::Info,
                    ConsequenceOfFault::Devices,
                    message,
                    "Add pfNames. linkTypes or drivers help only if they differ between storage NICs and fabric NICs.",
                );
            }
        }
        let dropped = faults_of_selectors_that_plugin_drops(&at, &shown, &selectors);
        if left > 0 && !selectors.is_empty() && dropped.is_empty() {
            let own: Vec<_> = selectors.iter().map(|(_, s)| *s).collect();
            let size = selectors.iter().map(|(_, s)| 1 + s.values().map(count_values).sum::<usize>()).sum();
            let mut takes = |(_, others, theirs): &&Earlier<'_>| {
                left = left.saturating_sub(size * theirs);
                left > 0 && own.iter().all(|s| others.iter().any(|o| covers(o, s)))
            };
            if let Some((first, ..)) = earlier.iter().find(&mut takes) {
                let message = format!(
                    "resource {shown} gets no devices: resource {first}, which is earlier in the list, takes all of them"
                );
                fault(
                    "/selectors",
                    Severity::Warning,
                    ConsequenceOfFault::Devices,
                    message,
                    "Select other devices, or move the resource with more conditions to the front of the list.",
                );
            }
            earlier.push((shown, own, size));
        }
        faults.extend(dropped);
        faults.extend(without_name(&at, entry));
        faults.extend(fault_of_prefix(entry, &at));
    }
    faults
}

/// Selectors that the plugin cannot decode. It logs a warning and starts without the resource (cmd/sriovdp/manager.go,
/// readConfig).
fn faults_of_selectors_that_plugin_drops(
    at: &str,
    name: &str,
    selectors: &[(String, &Map<String, Value>)],
) -> Vec<DevicePluginFault> {
    let Some(field) = schemas::fields_of_plugin("device-plugin", "sriov-selector") else { return Vec::new() };
    let mut faults = Vec::new();
    for (place, selector) in selectors {
        for misfit in misfits(field, selector, Reader::Go, MAX_FINDINGS_PER_RULE_AND_SEVERITY) {
            let expected = accepted_values_in_words(misfit.field);
            faults.push(DevicePluginFault {
                pointer: format!("{at}{place}{}", misfit.pointer),
                severity: Severity::Warning,
                message: format!(
                    "{}, but the device plugin expects {expected}, and drops resource {name}",
                    key_and_value_in_words(&misfit)
                ),
                fix: fix_sentence(&misfit).into(),
                concern: ConsequenceOfFault::Devices,
            });
        }
    }
    faults
}

/// `selectors` is one object or a list of them.
fn selectors(entry: &Map<String, Value>) -> Vec<(String, &Map<String, Value>)> {
    match entry.get("selectors") {
        Some(Value::Object(one)) => vec![("/selectors".to_owned(), one)],
        Some(Value::Array(list)) => {
            let each = list.iter().enumerate();
            each.filter_map(|(i, s)| Some((format!("/selectors/{i}"), s.as_object()?))).collect()
        }
        _ => Vec::new(),
    }
}

/// Number of values that a comparison looks at; a long text counts as several.
fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(count_values).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(count_values).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}

/// Whether one selector takes all devices that another one takes: it has no condition that the other does not have as
/// strictly.
fn covers(wide: &Map<String, Value>, narrow: &Map<String, Value>) -> bool {
    wide.iter().all(|(key, value)| match (value, narrow.get(key)) {
        (Value::Array(wide), _) if wide.is_empty() => true,
        (Value::Bool(false), _) => true,
        (Value::Array(wide), Some(Value::Array(narrow))) => {
            !narrow.is_empty() && narrow.iter().all(|v| wide.contains(v))
        }
        (value, Some(other)) => value == other,
        (_, None) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        read: fn(&Map<String, Value>) -> Vec<DevicePluginFault>,
        config: &str,
    ) -> Vec<(String, ConsequenceOfFault)> {
        let config: Value = serde_json::from_str(config).unwrap();
        read(config.as_object().unwrap()).into_iter().map(|f| (f.pointer, f.concern)).collect()
    }

    #[test]
    fn the_shared_plugin() {
        use ConsequenceOfFault::{Devices, Operator, Start};
        for (entry, expected) in [
            (r#"{"resourceName":"a","rdmaHcaMax":63,"selectors":{"ifNames":["e"]}}"#, vec![]),
            (r#"{"resourceName":"a","rdmaHcaMax":63,"devices":["e"]}"#, vec![]),
            (r#"{"resourceName":"a","rdmaHcaMax":"63","devices":["e"]}"#, vec![("/rdmaHcaMax", Start)]),
            (r#"{"rdmaHcaMax":63,"devices":["e"]}"#, vec![("", Start)]),
            (r#"{"resourceName":"a","rdmaHcaMax":null,"devices":["e"]}"#, vec![("/rdmaHcaMax", Devices)]),
            (r#"{"resourceName":"a","devices":["e"]}"#, vec![("/rdmaHcaMax", Devices)]),
            (
                r#"{"resourceName":"a-b","rdmaHcaMax":-1,"devices":["e"],"resourcePrefix":"rdma"}"#,
                vec![("/rdmaHcaMax", Start), ("/resourceName", Start), ("/resourcePrefix", Operator)],
            ),
            (
                r#"{"resourceName":"a","rdmaHcaMax":0,"selectors":{"vendors":["15b3"]},"devices":["e"]}"#,
                vec![("/devices", Start), ("/rdmaHcaMax", Devices)],
            ),
            (
                r#"{"resourceName":"a","rdmaHcaMax":1,"selectors":{"pfNames":["e"]}}"#,
                vec![("", Start), ("/selectors/pfNames", Devices)],
            ),
        ] {
            let expected: Vec<_> = expected.iter().map(|(p, c)| (format!("/configList/0{p}"), *c)).collect();
            assert_eq!(
                found(faults_of_shared_plugin_config, &format!("{{\"configList\":[{entry}]}}")),
                expected,
                "{entry}"
            );
        }
        let twice = r#"{"resourceName":"a","rdmaHcaMax":1,"devices":["e"]}"#;
        let found = found(faults_of_shared_plugin_config, &format!("{{\"configList\":[{twice},{twice}]}}"));
        assert_eq!(found, [("/configList/1/resourceName".to_owned(), Start)]);
    }

    #[test]
    fn the_sriov_plugin() {
        use ConsequenceOfFault::{Devices, Operator, Start};
        for (entries, expected) in [
            (
                r#"{"resourceName":"a","selectors":{"vendors":["15b3"],"linkTypes":["ether"],"isRdma":true}}"#,
                vec![],
            ),
            (
                r#"{"resourceName":"a.b","deviceType":"nic","selectors":[{"pfNames":["e"],"isRdma":true,"vdpaType":"vhost"}]}"#,
                vec![("0/deviceType", Start), ("0/resourceName", Start)],
            ),
            (
                r#"{"resourceName":"a-b","selectors":[{"pKeys":["1"],"isRdma":true,"vdpaType":"vhost"}]}"#,
                vec![
                    ("0/resourceName", Operator),
                    ("0/selectors/0/vdpaType", Start),
                    ("0/selectors/0/pKeys", Operator),
                ],
            ),
            (
                r#"{"resourceName":"a","selectors":{"vendors":["15b3"],"isRdma":true}},
                   {"resourceName":"b","selectors":{"vendors":["15b3"],"isRdma":true,"pfNames":["e"]}}"#,
                vec![("0/selectors", Devices), ("1/selectors", Devices)],
            ),
            (
                r#"{"resourceName":"b","selectors":{"pfNames":["e","f"]}},{"resourceName":"a","selectors":{"pfNames":["f","g"]}}"#,
                vec![],
            ),
            (r#"{"resourceName":"a"},{"selectors":{}}"#, vec![("0", Start), ("1", Start)]),
            (
                r#"{"resourceName":"a","selectors":{"isRdma":"yes","pfNames":"e"}},{"resourceName":"b","selectors":[{"pfNames":[1]}]}"#,
                vec![
                    ("0/selectors/isRdma", Devices),
                    ("0/selectors/pfNames", Devices),
                    ("1/selectors/0/pfNames/0", Devices),
                ],
            ),
            (
                r#"{"resourceName":"a","selectors":{"pfNames":["e"]}},{"resourceName":"a","selectors":{"pfNames":["f"]}}"#,
                vec![("1/resourceName", Start)],
            ),
        ] {
            let expected: Vec<_> = expected.iter().map(|(p, c)| (format!("/resourceList/{p}"), *c)).collect();
            assert_eq!(
                found(faults_of_sriov_plugin_config, &format!("{{\"resourceList\":[{entries}]}}")),
                expected,
                "{entries}"
            );
        }
    }
}
