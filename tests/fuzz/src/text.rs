//! Readers of text.

use fabric_admission::manifest::{self, DocumentOrError};
use fabric_admission::multus::cni_config::CniConfig;
use fabric_admission::multus::parse_networks_annotation::{
    RequestedAttachment, is_dns_label, is_dns_subdomain, is_interface_name,
};
use fabric_admission::multus::{NodeLabel, classify_cni_config, parse_within_limit};
use fabric_admission::nccl::interface_and_device_lists::NameList;
use fabric_admission::nccl::numbers_as_nccl_reads::is_word_for_number;
use fabric_admission::nccl::parse_nccl_conf;
use fabric_admission::pod::shell::sets_variable;
use fabric_admission::pod::{Bytes, Quantity};
use fabric_admission::preflight::address_range;
use serde_json::Value;

/// The networks annotation: names are names, and what is appended comes last with everything else as it was.
pub fn networks(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(networks) = parse_within_limit(text) else { return };
    for item in &networks.items {
        assert!(is_dns_subdomain(&item.name), "{item:?}");
        assert!(item.namespace.as_deref().is_none_or(is_dns_label), "{item:?}");
        assert!(item.interface.as_deref().is_none_or(is_interface_name), "{item:?}");
        // What the short form can say reads back from it. Its interfaces have neither `@` nor comma.
        let plain = item.interface.as_deref().is_none_or(|i| !i.contains(['@', ',', '[', '{', '"']));
        if plain && !item.name.contains('.') {
            let again = item.short_form();
            let again = parse_within_limit(&again).unwrap_or_else(|e| panic!("{again:?}: {e}"));
            assert_eq!(again.items.iter().map(names).collect::<Vec<_>>(), [names(item)]);
        }
    }
    assert_eq!(networks.annotation_with_added(&[]).trim_end(), text.trim_end());
    let added = [selection(None, "a", None), selection(Some("default"), "rdma-net", Some("rail0"))];
    let merged = networks.annotation_with_added(&added);
    if let Ok(again) = parse_within_limit(&merged) {
        let expected = networks.items.iter().chain(&added).map(names);
        assert!(again.items.iter().map(names).eq(expected), "{merged:?}: {:?}", again.items);
    } else {
        // Only a text near the limit becomes too long.
        assert!(text.len() > 1 << 10, "{text:?} became {merged:?}");
    }
}

/// Which network an item asks for, and as what.
fn names<'a>(item: &'a RequestedAttachment<'_>) -> (Option<&'a str>, &'a str, Option<&'a str>) {
    (item.namespace.as_deref(), &item.name, item.interface.as_deref())
}

fn selection(
    namespace: Option<&'static str>,
    name: &'static str,
    interface: Option<&'static str>,
) -> RequestedAttachment<'static> {
    RequestedAttachment {
        namespace: namespace.map(Into::into),
        name: name.into(),
        interface: interface.map(Into::into),
        requests: None,
    }
}

/// A CNI configuration: what can be read has plugins with names, and says what it is.
pub fn cni(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = NodeLabel::parse(text);
    match CniConfig::parse(text) {
        Ok(config) => {
            assert!(
                !config.plugins.is_empty() && config.plugins.iter().all(|p| !p.cni_type.is_empty()),
                "{config:?}"
            );
            let class = classify_cni_config(&config);
            let _ = (
                class.takes_device(),
                class.has_rdma_with_other_facts(Some(true)),
                class.link_layer_with_other_facts(None, None),
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Variables: `NAME=VALUE` in a line each. Values are also read as lists of names, and as ranges of addresses.
pub fn nccl(data: &[u8]) {
    let set = parse_nccl_conf::parse_variables_first_wins(data);
    assert!(set.len() <= data.len());
    let Ok(text) = std::str::from_utf8(data) else { return };
    for line in text.lines() {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let word = is_word_for_number(name, value);
        // A number is never a word, whatever the name.
        assert!(!word || value.parse::<i64>().is_err(), "{name}={value}");
        list(value);
        for (ipv6, width) in [(false, 32), (true, 128)] {
            let Some((base, length)) = address_range(value, ipv6) else { continue };
            assert!(
                value.contains('/') && length <= width && (ipv6 || base <= u128::from(u32::MAX)),
                "{value}"
            );
        }
    }
}

/// A list of names: `^` turns the choice round, and without ports each port of a device is chosen as the device is.
fn list(value: &str) {
    let list = NameList::parse(value);
    let _ = (list.first_mistake(), list.corrected());
    for device in ["mlx5_0", "mlx5_10", "eth0", ""] {
        for port in [1, 2] {
            let chosen = list.chooses_port(device, port);
            if list.device_and_port_items().all(|(_, port)| port.is_none()) {
                assert_eq!(chosen, list.chooses_device(device), "{value}");
            }
            if !list.excludes && list.names().next().is_some() {
                let not = format!("^{value}");
                assert_eq!(chosen, !NameList::parse(&not).chooses_port(device, port), "{value}");
            }
        }
    }
}

/// A quantity: rounded up by less than one, and what we print reads back.
pub fn quantity(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(quantity) = Quantity::parse(text) else { return };
    let units = quantity.units_rounded_up();
    if units != i64::MAX && units != i64::MIN {
        assert!(Quantity::from_units(units) >= quantity, "{text:?} is {units}");
        assert!(Quantity::from_units(units - 1) < quantity, "{text:?} is {units}");
        assert_eq!(quantity.is_integer(), Quantity::from_units(units) == quantity, "{text:?}");
    }
    let printed = Bytes(units).to_string();
    assert_eq!(
        Quantity::parse(&printed).map(Quantity::units_rounded_up),
        Ok(units),
        "{text:?} is printed as {printed:?}"
    );
    // A sign turns the number round.
    if let Some(rest) = text.strip_prefix('-') {
        let positive = Quantity::parse(rest.strip_prefix('+').map_or(rest, |_| "x"));
        assert!(positive.is_ok() || rest.starts_with(['+', '-']), "{text:?}");
    }
}

/// Shell text: the name of a variable in the first line, the text in the others.
pub fn shell(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (name, script) = text.split_once('\n').unwrap_or(("NCCL_IB_HCA", text));
    let name = if name.is_empty() { "NCCL_IB_HCA" } else { name };
    let sets = sets_variable(script, name);
    assert!(!sets || script.contains(name), "{name} is seen where it is not");
}

/// A stream of documents: each lies in the file, and what we print of it reads back as the same.
pub fn yaml(data: &[u8]) {
    let mut last = 0;
    // Next line, line separator and paragraph separator end lines of YAML 1.1 as well: no line is without a byte.
    let lines = 1 + data.len();
    for item in manifest::read_documents_of_file("input", data) {
        let document = match item {
            DocumentOrError::Document(document) => document,
            DocumentOrError::Error(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
            DocumentOrError::Empty { .. } => continue,
        };
        assert!(
            document.text.start <= document.text.end && document.text.end <= data.len(),
            "{:?}",
            document.text
        );
        assert!(document.text.start >= last, "documents overlap at {last}");
        last = document.text.end;
        for pointer in ["", "/spec", "/spec/containers/0", "/metadata/name", "/~1", "/a/0/b"] {
            let at = document.position_at_or_above_pointer(pointer);
            assert!(at.line >= 1 && at.column >= 1, "{pointer}: {at:?}");
            assert!(usize::try_from(at.line).unwrap_or(0) <= lines, "{pointer}: {at:?}");
            let _ = document.json_at_pointer(pointer);
        }
        let value: Value = serde_json::from_str(document.json.get()).unwrap();
        let printed = manifest::to_yaml(&value);
        let again = manifest::read_documents_of_file("printed", printed.as_bytes());
        let [DocumentOrError::Document(again)] = again.as_slice() else {
            panic!("{printed:?} reads as {again:?}")
        };
        let again: Value = serde_json::from_str(again.json.get()).unwrap();
        assert_eq!(again, value, "{printed:?}");
    }
}
