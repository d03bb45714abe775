//! Building blocks of the read model: values that borrow from the request body and read `null` as absent, as Go's
//! decoder does (encoding/json keeps the zero value when it reads `null`).

use super::lists_too_long_to_decode::{MAX_MEMORY_OF_OBJECTS, MAX_OBJECTS, MAX_RESOURCE_NAME, MAX_RESOURCES};
use super::quantity::shorten_with_same_meaning;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A string that borrows from the body if it has no escape sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_str<E: de::Error>(self, v: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(v)))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(v.to_owned())))
    }
    fn visit_string<E: de::Error>(self, v: String) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(v)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(TextVisitor)
    }
}

/// A list whose `null` elements read as zero values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element::<Option<T>>()? {
                    items.push(item.unwrap_or_default());
                }
                Ok(List(items))
            }
        }
        d.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// Reads a struct only from a JSON object. Derived decoders also accept a list and fill the fields by position, which
/// Go's decoder refuses.
struct FromMap<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FromMap<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(map))
    }
}

/// For `deserialize_with`: an optional struct, from an object or `null`.
///
/// # Errors
/// Those of the deserializer.
pub fn optional_struct<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<Option<T>, D::Error> {
    struct AbsentNullOrValue<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for AbsentNullOrValue<T> {
        type Value = Option<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping")
        }
        fn visit_none<E: de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }
        fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }
        fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Option<T>, D::Error> {
            d.deserialize_map(FromMap(PhantomData)).map(Some)
        }
    }
    d.deserialize_option(AbsentNullOrValue(PhantomData))
}

/// A list of structs, each from an object; `null` elements read as zero values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objects<T>(pub Vec<T>);

impl<T> Deref for Objects<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// One element of [`Objects`].
struct Element<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Element<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        optional_struct(d).map(Element)
    }
}

impl<T> From<Element<T>> for Option<T> {
    fn from(element: Element<T>) -> Self {
        element.0
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Objects<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        list_of_structs::<D, T, Element<T>>(d)
    }
}

/// For `deserialize_with`: a list of structs whose elements are read in a way of their own.
///
/// # Errors
/// Those of the deserializer, and too many elements.
pub(crate) fn list_of_structs<'de, D, T, E>(d: D) -> Result<Objects<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Default,
    E: Deserialize<'de> + Into<Option<T>>,
{
    struct ObjectsVisitor<T, E>(PhantomData<(T, E)>);
    impl<'de, T: Default, E: Deserialize<'de> + Into<Option<T>>> Visitor<'de> for ObjectsVisitor<T, E> {
        type Value = Objects<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Objects<T>, A::Error> {
            let mut items = Vec::new();
            let most = MAX_OBJECTS.min(MAX_MEMORY_OF_OBJECTS / size_of::<T>().max(1));
            while let Some(item) = seq.next_element::<E>()? {
                if items.len() == most {
                    return Err(de::Error::custom(format!("more than {most} items")));
                }
                items.push(item.into().unwrap_or_default());
            }
            Ok(Objects(items))
        }
    }
    d.deserialize_seq(ObjectsVisitor(PhantomData::<(T, E)>))
}

/// A string-keyed map in the order of the body. A key given twice counts with its last value, as in Go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<'a, V>(pub Vec<(Text<'a>, V)>);

impl<'a, V> Pairs<'a, V> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().rev().find(|(k, _)| &**k == key).map(|(_, v)| v)
    }
    /// Entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(k, v)| (&**k, v))
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de> + Default> Deserialize<'de> for Pairs<'a, V> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::deserialize_at_most(d, usize::MAX)
    }
}

impl<'a, V> Pairs<'a, V> {
    /// The same with at most so many entries; an error as soon as there is one more.
    pub(crate) fn deserialize_at_most<'de: 'a, D: Deserializer<'de>>(
        d: D,
        most: usize,
    ) -> Result<Self, D::Error>
    where
        V: Deserialize<'de> + Default,
    {
        struct PairsVisitor<V>(PhantomData<V>, usize);
        impl<'de, V: Deserialize<'de> + Default> Visitor<'de> for PairsVisitor<V> {
            type Value = Pairs<'de, V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de, V>, A::Error> {
                let mut items = Vec::new();
                while let Some((key, value)) = map.next_entry::<Text<'de>, Option<V>>()? {
                    if items.len() == self.1 {
                        return Err(de::Error::custom(format!("more than {} entries", self.1)));
                    }
                    items.push((key, value.unwrap_or_default()));
                }
                Ok(Pairs(items))
            }
        }
        d.deserialize_map(PairsVisitor(PhantomData, most))
    }
}

/// Fewer quantities than this are searched one by one: real containers have a handful.
const FEW: usize = 16;

/// Quantities by resource. More than 64 cannot be read, nor longer names than any resource has. A few are in the order of the
/// body. Many are in the order of their names, each once: rules look every name up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantities<'a>(Pairs<'a, QuantityText<'a>>);

impl<'a> Quantities<'a> {
    /// The quantity of a resource.
    #[must_use]
    pub fn get(&self, resource: &str) -> Option<&QuantityText<'a>> {
        if self.0.0.len() < FEW {
            return self.0.get(resource);
        }
        let place = self.0.0.binary_search_by(|(name, _)| (**name).cmp(resource)).ok()?;
        self.0.0.get(place).map(|(_, quantity)| quantity)
    }
    /// Entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &QuantityText<'a>)> {
        self.0.iter()
    }
}

impl<'a> Deref for Quantities<'a> {
    type Target = Pairs<'a, QuantityText<'a>>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Quantities<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut pairs = Pairs::deserialize_at_most(d, MAX_RESOURCES)?;
        // Every look-up of a name reads all of it.
        if let Some((name, _)) = pairs.0.iter().find(|(name, _)| name.len() > MAX_RESOURCE_NAME) {
            let length = name.len();
            let why = format!(
                "a resource name has {length} bytes; resource names have at most {MAX_RESOURCE_NAME}"
            );
            return Err(de::Error::custom(why));
        }
        if pairs.0.len() >= FEW {
            // Of equal names the last one counts, which is now the first.
            pairs.0.reverse();
            pairs.0.sort_by(|(a, _), (b, _)| str::cmp(a, b));
            pairs.0.dedup_by(|(a, _), (b, _)| **a == **b);
        }
        Ok(Self(pairs))
    }
}

/// A field that is absent, `null`, or has a value. Most fields need no such distinction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentNullOrValue<T> {
    value: Option<T>,
    /// Whether it is `null`.
    pub is_null: bool,
}

impl<T> Default for AbsentNullOrValue<T> {
    fn default() -> Self {
        Self { value: None, is_null: false }
    }
}

impl<T> Deref for AbsentNullOrValue<T> {
    type Target = Option<T>;
    fn deref(&self) -> &Option<T> {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AbsentNullOrValue<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = Option::<T>::deserialize(d)?;
        Ok(Self { is_null: value.is_none(), value })
    }
}

/// The text of a resource quantity, which the API takes as a string or as a number
/// (k8s.io/apimachinery pkg/api/resource, `Quantity.UnmarshalJSON`); `null` reads as zero. A long text is here in a short
/// form with the same meaning: every container may refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityText<'a>(pub Cow<'a, str>, Written);

/// How a quantity is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Value,
    Null,
}

impl<'a> QuantityText<'a> {
    fn of(text: impl Into<Cow<'a, str>>) -> Self {
        Self(shorten_with_same_meaning(text.into()), Written::Value)
    }
    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.1 == Written::Null
    }
}

/// `null`.
impl Default for QuantityText<'_> {
    fn default() -> Self {
        Self(Cow::Borrowed("0"), Written::Null)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for QuantityText<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct QuantityVisitor;
        impl<'de> Visitor<'de> for QuantityVisitor {
            type Value = QuantityText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity (a string or a number)")
            }
            fn visit_borrowed_str<E: de::Error>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(QuantityText::of(v))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
                Ok(QuantityText::of(v.to_owned()))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
                Ok(QuantityText::of(v.to_string()))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
                Ok(QuantityText::of(v.to_string()))
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Self::Value, E> {
                // All digits of 1e-307 are 309 characters.
                let is_short = v == 0.0 || (1e-9..1e18).contains(&v.abs());
                Ok(QuantityText::of(if is_short { v.to_string() } else { format!("{v:e}") }))
            }
            fn visit_bool<E: de::Error>(self, v: bool) -> Result<Self::Value, E> {
                Ok(QuantityText::of(if v { "true" } else { "false" }))
            }
            // An unrendered `{{ x }}` reads as a mapping; it is a quantity that the API refuses, but the rest of the
            // object can be read.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
                Ok(QuantityText::of("{…}"))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(QuantityText::of("[…]"))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(QuantityText::default())
            }
        }
        d.deserialize_any(QuantityVisitor)
    }
}
