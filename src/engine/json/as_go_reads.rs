//! JSON inside of text fields, as Go programs read it.
//!
//! `encoding/json` matches a key with a field of a struct in any case ([`does_key_match_field`]), and the last of several such keys
//! wins (<https://pkg.go.dev/encoding/json#Unmarshal>). CNI plugins, their IPAM and both device plugins read their
//! configurations that way. Keys of maps keep their case, and so do those that libcni looks up in a map: `plugins` of
//! a list (containernetworking/cni libcni/conf.go, `ConfListFromBytes`).

use crate::text::{refuse_long_cni_document, refuse_long_document};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// Fields of CNI plugins and their IPAM that are read here (k8snetworkplumbingwg/sriov-cni and ib-sriov-cni
/// pkg/types, containernetworking/plugins, k8snetworkplumbingwg/whereabouts pkg/types, Mellanox/nvidia-k8s-ipam).
pub(crate) const CNI_FIELDS: &[&str] = &[
    "address",
    "addresses",
    "allmulti",
    "bcqueuelen",
    "capabilities",
    "device",
    "deviceID",
    "dst",
    "exclude",
    "gateway",
    "gw",
    "hwaddr",
    "ibKubernetesEnabled",
    "ipRanges",
    "ipam",
    "kernelpath",
    "linkInContainer",
    "link_state",
    "logFile",
    "logLevel",
    "mac",
    "master",
    "max_tx_rate",
    "min_tx_rate",
    "mode",
    "mtu",
    "pciBusID",
    "pkey",
    "poolName",
    "poolType",
    "promisc",
    "range",
    "rangeEnd",
    "rangeStart",
    "range_end",
    "range_start",
    "ranges",
    "rdmaIsolation",
    "routes",
    "spoofchk",
    "subnet",
    "sysctl",
    "trust",
    "txQLen",
    "type",
    "vfioPciMode",
    "vlan",
    "vlanProto",
    "vlanQoS",
];

/// Fields of the device plugins' configurations (k8snetworkplumbingwg/sriov-network-device-plugin and
/// Mellanox/k8s-rdma-shared-dev-plugin pkg/types/types.go).
pub(crate) const DEVICE_PLUGIN_FIELDS: &[&str] = &[
    "acpiIndexes",
    "additionalInfo",
    "auxTypes",
    "configList",
    "ddpProfiles",
    "deviceIDs",
    "deviceType",
    "devices",
    "drivers",
    "excludeTopology",
    "ifNames",
    "isRdma",
    "linkTypes",
    "needVhostNet",
    "pKeys",
    "pciAddresses",
    "periodicUpdateInterval",
    "pfNames",
    "rdmaHcaMax",
    "resourceList",
    "resourceName",
    "resourcePrefix",
    "rootDevices",
    "selectors",
    "vdpaType",
    "vendors",
];

/// Fields that are maps: the keys below them are arbitrary.
const FIELDS_WITH_FREE_KEYS: [&str; 4] = ["additionalInfo", "args", "capabilities", "sysctl"];

/// Fields of one number or text that are pointers in Go (k8snetworkplumbingwg/sriov-cni and
/// Mellanox/k8s-rdma-shared-dev-plugin pkg/types).
const POINTER_FIELDS: [&str; 6] =
    ["max_tx_rate", "min_tx_rate", "periodicUpdateInterval", "vlan", "vlanProto", "vlanQoS"];

/// Whether `encoding/json` takes a key for a field with an ASCII name: in any case, and with two letters that are no
/// ASCII, U+017F (long s) for `s` and U+212A (Kelvin sign) for `k`, because their simple case folding is ASCII (Go's
/// encoding/json/fold.go, `foldName`). tests/recorded/go-json has what a Go decoder said.
#[must_use]
pub(crate) fn does_key_match_field(field: &str, key: &str) -> bool {
    let folded = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    field.eq_ignore_ascii_case(key)
        || !key.is_ascii() && field.chars().map(|c| c.to_ascii_lowercase()).eq(key.chars().map(folded))
}

/// Whether a key may match a field: its letters are ASCII or fold to ASCII, and it is not longer than any field.
fn may_match_any_field(key: &str) -> bool {
    const LONGEST: usize = 40;
    key.len() <= LONGEST && key.chars().all(|c| c.is_ascii() || matches!(c, '\u{17f}' | '\u{212a}'))
}

/// The fields that keys below a key may match.
pub(crate) fn fields_below_key<'f>(fields: &'f [&'static str], key: &str) -> &'f [&'static str] {
    if FIELDS_WITH_FREE_KEYS.contains(&key) { &[] } else { fields }
}

/// Whether a field keeps its value if null follows: Go does not change numbers, texts and truth values then, and sets
/// slices, maps and pointers to nil. Objects are taken for pointers, as IPAM plugins have them.
pub(crate) fn does_value_survive_null(field: &str, scalar: bool) -> bool {
    scalar && !POINTER_FIELDS.contains(&field)
}

/// A text as a document with the keys spelled like the fields they match; returns whether any was spelled otherwise.
///
/// # Errors
/// The error of `serde_json` for a text that is not JSON, or an error for one that is too long.
pub(crate) fn read_and_respell_keys(
    text: &str,
    fields: &[&'static str],
) -> serde_json::Result<(Value, bool)> {
    refuse_long_document(text)?;
    let respelt = Cell::new(false);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Reader { fields, respelt: &respelt }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, respelt.get()))
}

/// A text of CNI as a document.
///
/// # Errors
/// As [`read_and_respell_keys`].
pub(crate) fn read_cni_and_respell_keys(text: &str) -> serde_json::Result<Value> {
    refuse_long_cni_document(text)?;
    read_and_respell_keys(text, CNI_FIELDS).map(|(value, _)| value)
}

#[derive(Clone, Copy)]
struct Reader<'f> {
    fields: &'f [&'static str],
    respelt: &'f Cell<bool>,
}

impl Reader<'_> {
    /// The field that a key matches; the key itself if it matches none.
    fn field(&self, key: String) -> String {
        if self.fields.contains(&key.as_str()) || !may_match_any_field(&key) {
            return key;
        }
        match self.fields.iter().find(|field| does_key_match_field(field, &key)) {
            Some(field) => {
                self.respelt.set(true);
                (*field).to_owned()
            }
            None => key,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::Number(v.into()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(Number::from_f64(v).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::String(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element_seed(self)? {
            list.push(value);
        }
        Ok(Value::Array(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let key = self.field(key);
            let value = map.next_value_seed(Self { fields: fields_below_key(self.fields, &key), ..self })?;
            let scalar = || object.get(&key).is_some_and(|old: &Value| !old.is_array() && !old.is_object());
            if value.is_null() && !self.fields.is_empty() && does_value_survive_null(&key, scalar()) {
                continue;
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        read_cni_and_respell_keys(text).unwrap().to_string()
    }

    #[test]
    fn keys_match_fields_in_any_case() {
        assert_eq!(of(r#"{"Type":"sriov","VLAN":3}"#), r#"{"type":"sriov","vlan":3}"#);
        assert_eq!(of(r#"{"IPAM":{"POOLNAME":"a"},"other":1}"#), r#"{"ipam":{"poolName":"a"},"other":1}"#);
        assert_eq!(
            read_and_respell_keys(r#"{"type":"a"}"#, CNI_FIELDS).unwrap(),
            (serde_json::json!({"type": "a"}), false)
        );
        assert!(read_and_respell_keys(r#"[{"ResourceName":"a"}]"#, DEVICE_PLUGIN_FIELDS).unwrap().1);
    }

    #[test]
    fn two_letters_fold_to_ascii() {
        assert_eq!(
            of("{\"poolType\":1,\"\u{17f}ubnet\":\"a\",\"p\u{212a}ey\":\"b\"}"),
            r#"{"poolType":1,"subnet":"a","pkey":"b"}"#
        );
        // A Turkish dotless i does not.
        assert_eq!(of("{\"dev\u{131}ce\":1}"), "{\"dev\u{131}ce\":1}");
    }

    #[test]
    fn the_last_of_several_wins_however_it_is_spelt() {
        assert_eq!(of(r#"{"type":"a","Type":"b"}"#), r#"{"type":"b"}"#);
        assert_eq!(of(r#"{"Type":"a","type":"b"}"#), r#"{"type":"b"}"#);
        assert_eq!(of(r#"{"type":"a","Type":"b","type":"c"}"#), r#"{"type":"c"}"#);
    }

    #[test]
    fn null_clears_values_that_are_not_scalars() {
        assert_eq!(of(r#"{"type":"a","Type":null}"#), r#"{"type":"a"}"#);
        assert_eq!(of(r#"{"type":null,"Type":"a"}"#), r#"{"type":"a"}"#);
        assert_eq!(of(r#"{"mtu":1500,"MTU":null}"#), r#"{"mtu":1500}"#);
        assert_eq!(of(r#"{"routes":[{"dst":"0.0.0.0/0"}],"Routes":null}"#), r#"{"routes":null}"#);
        assert_eq!(of(r#"{"sysctl":{"a":"1"},"sysctl":null}"#), r#"{"sysctl":null}"#);
        assert_eq!(of(r#"{"vlan":5000,"VLAN":null}"#), r#"{"vlan":null}"#);
        assert_eq!(of(r#"{"sysctl":{"a":"1","a":null}}"#), r#"{"sysctl":{"a":null}}"#);
    }

    #[test]
    fn keys_of_maps_and_of_lists_of_plugins_keep_their_case() {
        let maps = r#"{"capabilities":{"MTU":true},"sysctl":{"Vlan":"1"}}"#;
        assert_eq!(of(maps), maps);
        assert_eq!(of(r#"{"Plugins":[{"Type":"a"}]}"#), r#"{"Plugins":[{"type":"a"}]}"#);
    }

    #[test]
    fn all_other_values_are_those_of_serde_json() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,1.5e3,"x\ny",{}],"b":{"c":[]}}"#;
        assert_eq!(read_cni_and_respell_keys(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for broken in ["{", "{} x", "{\"a\":1,}", ""] {
            let own = read_cni_and_respell_keys(broken).unwrap_err().to_string();
            assert_eq!(own, serde_json::from_str::<Value>(broken).unwrap_err().to_string());
        }
    }
}
