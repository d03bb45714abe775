//! The texts of a ConfigMap that may hold the configuration of a device plugin. The object is not read as a whole: its other texts,
//! its labels and its managed fields may be long, and must not hide a configuration.

use crate::json::decode_with_place::decode_object;
use crate::json::reader;
use crate::json::types_of_decoded_fields::Text;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

#[derive(serde::Deserialize)]
struct ConfigMap<'a> {
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Default, serde::Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
}

/// What is read of a ConfigMap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TextsOfConfigMap<'a> {
    pub(super) name: Cow<'a, str>,
    /// Keys and texts. They are read from JSON objects that name a resource and the list of a device plugin.
    pub(super) texts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> TextsOfConfigMap<'a> {
    /// Of an object that cannot be read, nothing is.
    pub(super) fn read(json: &'a str) -> Self {
        let Ok(object) = decode_object::<ConfigMap<'a>>(json) else { return Self::default() };
        let metadata = object.metadata.and_then(|raw| reader::read::<Metadata<'a>>(raw.get()).ok());
        let name = metadata.unwrap_or_default().name.unwrap_or_default().0;
        let texts = object.data.and_then(|raw| reader::read::<Texts<'a>>(raw.get()).ok());
        Self { name, texts: texts.map(|texts| texts.0).unwrap_or_default() }
    }
}

/// Whether a text, in which quotes may be escaped, names a resource and the list of a device plugin.
fn may_be_configuration(text: &str) -> bool {
    text.contains("resourceName") && (text.contains("resourceList") || text.contains("configList"))
}

struct Texts<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Texts<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::new();
                while let Some((Text(key), raw)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    if may_be_configuration(raw.get())
                        && let Ok(Text(text)) = reader::read::<Text<'de>>(raw.get())
                        && text.trim_start().starts_with('{')
                    {
                        texts.push((key, text));
                    }
                }
                Ok(Texts(texts))
            }
        }
        d.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_may_be_a_configuration_is_read() {
        let plugin = r#"{"resourceList": [{"resourceName": "a"}]}"#;
        let object = json!({"metadata": {"name": "x", "labels": 1}, "data": {
            "a": plugin, "b": "{\"resourceName\": 1}", "c": format!("- {plugin}"), "d": 1, "e": "resourceName resourceList"}});
        let read = |object: &serde_json::Value| {
            let json = object.to_string();
            let read = TextsOfConfigMap::read(&json);
            (
                read.name.into_owned(),
                read.texts.into_iter().map(|(key, _)| key.into_owned()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(read(&object), ("x".to_owned(), vec!["a".to_owned()]));
        let long = json!({"metadata": {"managedFields": vec![1; 30_000]}, "data": {"a": plugin, "z": " ".repeat(300_000)}});
        assert_eq!(read(&long).1, ["a"]);
        assert_eq!(read(&json!({"metadata": 1, "data": [1]})), Default::default());
    }
}
