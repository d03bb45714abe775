//! Mappings of any number of keys, as requests have them: a sorted map of 200,000 keys in random order takes half a second,
//! so none is built of more keys than are wanted.

use super::types_of_decoded_fields::Text;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A mapping with at most `MOST` keys. Of a key that is repeated, the last value counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FewEntries<V, const MOST: usize>(pub(crate) BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>, const MOST: usize> Deserialize<'de> for FewEntries<V, MOST> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        few_entries::<V, MOST, D>(d).map(Self)
    }
}

/// For `deserialize_with`: the entries of a mapping.
///
/// # Errors
/// Those of the deserializer; and one that names the length and the limit, if there are more than `MOST` keys.
pub(crate) fn few_entries<'de, V: Deserialize<'de>, const MOST: usize, D: Deserializer<'de>>(
    d: D,
) -> Result<BTreeMap<String, V>, D::Error> {
    struct Few<V, const MOST: usize>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>, const MOST: usize> Visitor<'de> for Few<V, MOST> {
        type Value = BTreeMap<String, V>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while found.len() <= MOST {
                let Some((key, value)) = map.next_entry::<String, V>()? else { return Ok(found) };
                found.insert(key, value);
            }
            let mut length = found.len();
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                length += 1;
            }
            Err(de::Error::custom(format_args!("{length} entries; expected at most {MOST}")))
        }
    }
    d.deserialize_map(Few::<V, MOST>(PhantomData))
}

/// The texts of some keys of a mapping; `null` reads as the empty text, as Go's decoder reads it. All other keys are passed
/// over.
///
/// # Errors
/// Those of the deserializer.
pub(crate) fn texts_of_keys<'de, D: Deserializer<'de>>(
    d: D,
    keys: &'static [&'static str],
) -> Result<BTreeMap<&'static str, String>, D::Error> {
    struct Wanted(&'static [&'static str]);
    impl<'de> Visitor<'de> for Wanted {
        type Value = BTreeMap<&'static str, String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping")
        }
        fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(BTreeMap::new())
        }
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(BTreeMap::new())
        }
        fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
            d.deserialize_map(self)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some(key) = map.next_key::<Text<'de>>()? {
                // The values of the other keys must be texts as well. The API server refuses an object with any other value.
                let value = map.next_value::<Option<Text<'de>>>()?;
                if let Some(wanted) = self.0.iter().find(|wanted| key.0 == ***wanted) {
                    found.insert(*wanted, value.map(|text| text.0.into_owned()).unwrap_or_default());
                }
            }
            Ok(found)
        }
    }
    d.deserialize_option(Wanted(keys))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Three = FewEntries<Option<String>, 3>;

    #[test]
    fn as_many_keys_as_are_wanted() {
        let of = |n: usize| {
            let keys: Vec<String> = (0..n).map(|i| format!(r#""{i}":"v""#)).collect();
            serde_json::from_str::<Three>(&format!("{{{}}}", keys.join(",")))
        };
        assert_eq!(of(0).unwrap().0.len(), 0);
        assert_eq!(of(3).unwrap().0.len(), 3);
        assert!(of(4).unwrap_err().to_string().starts_with("4 entries; expected at most 3"));
        assert!(of(40).unwrap_err().to_string().starts_with("40 entries; expected at most 3"));
    }

    #[test]
    fn the_last_value_of_a_repeated_key_counts() {
        let read: Three = serde_json::from_str(r#"{"a":"1","a":"2","b":null,"c":"3","a":null}"#).unwrap();
        assert_eq!(read.0.get("a"), Some(&None));
        assert_eq!(read.0.len(), 3);
    }

    #[test]
    fn wanted_keys_alone() {
        let read = |text: &str| {
            let mut d = serde_json::Deserializer::from_str(text);
            texts_of_keys(&mut d, &["a", "b"])
        };
        let found = read(r#"{"x":"0","a":"1","\u0062":"2","a":"3"}"#).unwrap();
        assert_eq!(found, BTreeMap::from([("a", "3".to_owned()), ("b", "2".to_owned())]));
        assert_eq!(read(r#"{"a":"1","a":null}"#).unwrap(), BTreeMap::from([("a", String::new())]));
        assert_eq!(read("null").unwrap(), BTreeMap::new());
        for unreadable in ["[]", r#"{"x":1}"#, r#"{"a":{}}"#] {
            assert!(read(unreadable).is_err(), "{unreadable}");
        }
    }
}
