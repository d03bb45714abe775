//! ConfigMaps with facts about a fabric: the configuration of a separately installed device plugin (`config.json`,
//! with the plugin's list in it), and variables of NCCL and its companions for containers, by name or in a script.

use super::extended_resource::ResourceFact;
use super::object_shape::Meta;
use super::resources_in_device_plugin_config::{
    STANDALONE_SRIOV_PLUGIN_PREFIX, resources_of_config_of_either_plugin,
};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::json::reader;
use crate::json::types_of_decoded_fields::{Text, optional_struct};
use crate::nccl::variable_table::{find_variable, may_be_in_table, may_set_known_variable};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<Meta>,
    #[serde(default)]
    data: Option<Data>,
}

/// The parts of a ConfigMap that are kept.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ConfigMapTexts {
    /// Values of the keys that are variables, and the texts that mention one.
    pub data: BTreeMap<String, String>,
}

/// The facts of a ConfigMap.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConfigMapFact {
    /// The resources that a device plugin serves.
    Pools(Vec<ResourceFact>),
    /// Variables.
    Texts(ConfigMapTexts),
}

/// Longest text that is kept (bytes): a script, not a data set.
const MAX_TEXT_LENGTH: usize = 64 * 1024;

/// Most variables and scripts of a ConfigMap that are kept (count); known variables are kept beyond it. The environment of a
/// container has some hundred.
const MAX_TEXTS: usize = 4_096;

/// `data`, of which only this is kept: of 200,000 keys, a map takes half a second.
#[derive(Default)]
struct Data {
    /// Configuration of a device plugin.
    config: Option<String>,
    /// Variables and scripts, the first ones in the order of the text. The API server writes keys in the order of their names.
    texts: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Data;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
                let mut data = Data::default();
                while let Some((Text(key), raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    // The API server accepts only texts. In a file, another value does not make the object unreadable. To make an
                    // error for each of 185,000 nulls took 100 ms.
                    if !raw.get().starts_with('"') {
                        continue;
                    }
                    let Ok(Text(text)) = reader::read::<Text<'de>>(raw.get()) else { continue };
                    if key == "config.json" {
                        data.config = Some(text.clone().into_owned());
                    }
                    let kept = text.len() <= MAX_TEXT_LENGTH
                        && (may_be_in_table(&key) || text.contains('=') && may_set_known_variable(&text));
                    // Other names must not hide one that a profile forbids.
                    if kept && (data.texts.len() < MAX_TEXTS || find_variable(&key).is_some()) {
                        data.texts.insert(key.into_owned(), text.into_owned());
                    }
                }
                Ok(data)
            }
        }
        d.deserialize_map(Entries)
    }
}

/// `None` if it has no facts about a fabric: any program may use the same file name as the plugins.
pub(super) fn read(json: &str) -> Result<(Meta, Option<ConfigMapFact>), DecodeError> {
    let object: ConfigMap = decode(json)?;
    let meta = object.metadata.unwrap_or_default();
    let Some(data) = object.data else { return Ok((meta, None)) };
    let config = data.config.as_deref().unwrap_or_default();
    if let Ok(pools) = resources_of_config_of_either_plugin(config, STANDALONE_SRIOV_PLUGIN_PREFIX) {
        return Ok((meta, Some(ConfigMapFact::Pools(pools))));
    }
    let data = data.texts;
    Ok((meta, (!data.is_empty()).then_some(ConfigMapFact::Texts(ConfigMapTexts { data }))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_device_plugins_configurations_count() {
        let pools = |config: &str| {
            let json = serde_json::json!({"data": {"config.json": config, "other": "x"}}).to_string();
            match read(&json).unwrap().1 {
                Some(ConfigMapFact::Pools(pools)) => Some(pools),
                _ => None,
            }
        };
        let names = |config: &str| pools(config).unwrap()[0].name.to_string();
        assert_eq!(names(r#"{"resourceList":[{"resourceName":"a"}]}"#), "intel.com/a");
        assert_eq!(names(r#"{"configList":[{"resourceName":"a"}]}"#), "rdma/a");
        assert!(pools(r#"{"log":"debug"}"#).is_none());
        assert!(read(r#"{"data":{"run.sh":"echo"}}"#).unwrap().1.is_none());
    }

    #[test]
    fn many_other_names_hide_no_known_variable() {
        let names =
            (0..MAX_TEXTS + 10).map(|i| format!(r#""NCCL_A{i:05}":"1""#)).collect::<Vec<_>>().join(",");
        let json = format!(r#"{{"data":{{{names},"NCCL_DEBUG":"INFO","NCCL_Z":"1"}}}}"#);
        let Some(ConfigMapFact::Texts(texts)) = read(&json).unwrap().1 else { panic!("no texts") };
        assert_eq!(texts.data.len(), MAX_TEXTS + 1);
        assert!(texts.data.contains_key("NCCL_DEBUG") && !texts.data.contains_key("NCCL_Z"));
    }

    #[test]
    fn config_maps_with_variables_are_kept() {
        let json = r#"{"data":{"a":null,"b":1,"c":{"NCCL_A":"b"},"d":["e"],"NCCL_IB_TC":true,"NCCL_DEBUG":"INFO","run.sh":"export UCX_TLS=rc","page":"a=b","other":"x"}}"#;
        let Some(ConfigMapFact::Texts(texts)) = read(json).unwrap().1 else { panic!("no texts") };
        assert_eq!(texts.data.keys().collect::<Vec<_>>(), ["NCCL_DEBUG", "run.sh"]);
        let long =
            serde_json::json!({"data": {"run.sh": format!("NCCL_DEBUG={}", "x".repeat(MAX_TEXT_LENGTH))}});
        assert!(read(&long.to_string()).unwrap().1.is_none());
    }
}
