//! The variables of a container. Nearly all have a literal value, for which the reader has a short way.

use super::variable_sources::ValueFrom;
use crate::json::name_value_pair::PLAIN_PAIR;
use crate::json::types_of_decoded_fields::{Objects, Text, list_of_structs, optional_struct};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// `env[]`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvVar<'a> {
    /// Name.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    /// Literal value, before `$(VAR)` is expanded.
    #[serde(borrow, default)]
    pub value: Option<Text<'a>>,
    /// Value from another source. Boxed: a training container has dozens of variables, nearly all with a literal value.
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    pub value_from: Option<Box<ValueFrom<'a>>>,
}

impl EnvVar<'_> {
    /// Its text; `None` if it has another source. A variable without a value has the empty text: the API server drops
    /// an empty `value` (`omitempty` in k8s.io/api core/v1), so a live pod does not have it.
    #[must_use]
    pub fn literal_or_empty(&self) -> Option<&str> {
        self.value_from.is_none().then(|| self.value.as_deref().unwrap_or_default())
    }
}

/// For `deserialize_with`: the variables of a container.
///
/// # Errors
/// Those of the deserializer, and too many variables.
pub(super) fn read<'de: 'a, 'a, D: Deserializer<'de>>(d: D) -> Result<Option<Objects<EnvVar<'a>>>, D::Error> {
    Ok(Option::<Variables<'de>>::deserialize(d)?.map(|variables| variables.0))
}

struct Variables<'a>(Objects<EnvVar<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Variables<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        list_of_structs::<D, EnvVar<'a>, Element<'a>>(d).map(Self)
    }
}

/// A variable; `None` for `null`.
struct Element<'a>(Option<EnvVar<'a>>);

impl<'a> From<Element<'a>> for Option<EnvVar<'a>> {
    fn from(element: Element<'a>) -> Self {
        element.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Element<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_newtype_struct(PLAIN_PAIR, ElementVisitor)
    }
}

struct ElementVisitor;

impl<'de> Visitor<'de> for ElementVisitor {
    type Value = Element<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }
    /// Name and value, as the reader shows them.
    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Self::Value, A::Error> {
        let (name, value) = (texts.next_element()?, texts.next_element()?);
        Ok(Element(Some(EnvVar { name, value, value_from: None })))
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        optional_struct(d).map(Element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Holder<'a> {
        #[serde(borrow, default, deserialize_with = "super::read")]
        env: Option<Objects<EnvVar<'a>>>,
    }

    /// The names and values of variables, read by our reader and by serde_json.
    fn read(env: &str) -> Option<String> {
        let json = format!(r#"{{"env":{env}}}"#);
        let shown = |holder: Holder<'_>| {
            let of = |v: &EnvVar<'_>| format!("{:?}={:?}/{}", v.name, v.value, v.value_from.is_some());
            holder.env.unwrap().iter().map(of).collect::<Vec<_>>().join(" ")
        };
        let ours = crate::json::decode_with_place::decode_object(&json).ok().map(shown);
        let serdes = serde_json::from_str(&json).ok().map(shown);
        assert_eq!(ours, serdes, "{env}");
        ours
    }

    #[test]
    fn the_short_way_reads_what_serde_reads() {
        let plain = r#"{"name":"A","value":"b"}"#;
        let both = read(&format!("[{plain},{plain}]")).unwrap();
        assert_eq!(both.matches("Some(Text(\"A\"))=Some(Text(\"b\"))/false").count(), 2, "{both}");
        for element in [
            r#"{"name":"","value":""}"#,
            r#"{"name":"A","value":"x\"y"}"#,
            r#"{"name":"A\u0042","value":"b"}"#,
            r#"{"name":"é","value":"東京"}"#,
            r#"{"name":"A","value":"b","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}"#,
            r#"{ "name":"A","value":"b"}"#,
            r#"{"name":"A", "value":"b"}"#,
            r#"{"name":"A","value":"b" }"#,
            r#"{"value":"b","name":"A"}"#,
            r#"{"name":"A"}"#,
            r#"{"name":"A","value":null}"#,
            "{}",
            "null",
        ] {
            assert!(read(&format!("[{element},{plain}]")).is_some(), "{element}");
            assert!(read(&format!("[{plain}, {element} ]")).is_some(), "{element}");
        }
    }

    #[test]
    fn what_is_no_variable_is_refused() {
        for element in [
            r#"["A","b"]"#,
            r#""A""#,
            "1",
            r#"{"name":"A","value":1}"#,
            r#"{"name":"A","value":"b","value":"c"}"#,
            r#"{"name":"A","value":"b"#,
            r#"{"name":"A","value":"b""#,
            r#"{"name":"A","value":"b"},"#,
            "{\"name\":\"A\",\"value\":\"a\nb\"}",
            r#"{"name":"A","value":"b"}}"#,
        ] {
            assert_eq!(read(&format!("[{element}]")), None, "{element}");
        }
    }
}
