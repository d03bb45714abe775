//! JSON as serde_json reads it, with fewer instructions: most of a pod is skipped, and serde_json takes thirteen
//! instructions for each byte that it skips, this reader nine. Of 422,000 instructions of a review of 6.5 kB, 126,000 were
//! for that (callgrind).
//!
//! This reader knows structure, texts without escapes, truth values and null. Any other value it cuts out and gives to
//! serde_json. It reports no errors: who calls it repeats a refused text with serde_json, whose error names the reason.

use super::skip::Cursor;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Most containers around a value: the limit of serde_json, which keeps the stack from overflowing.
const MAX_DEPTH: u8 = 127;
/// What serde_json calls its raw values; with another name they would be read by serde_json itself.
const RAW: &str = "$serde_json::private::RawValue";

/// Reads a text; `None` where it is for serde_json to read or to refuse.
#[must_use]
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut reader = Reader { cursor: Cursor::new(text), depth: 0 };
    let value = T::deserialize(&mut reader).ok()?;
    reader.cursor.is_at_end().then_some(value)
}

struct Reader<'de> {
    cursor: Cursor<'de>,
    depth: u8,
}

/// Not for this reader.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not for this reader")
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Reader<'de> {
    /// The text of the next value.
    fn cut(&mut self) -> Result<&'de str, Refused> {
        self.cursor.peek();
        let start = self.cursor.at();
        self.cursor.skip_value().ok_or(Refused)?;
        self.cursor.since(start).ok_or(Refused)
    }

    /// Gives the next value to serde_json.
    fn by_serde_json<V>(
        &mut self,
        read: impl FnOnce(&mut serde_json::Deserializer<serde_json::de::StrRead<'de>>) -> serde_json::Result<V>,
    ) -> Result<V, Refused> {
        read(&mut serde_json::Deserializer::from_str(self.cut()?)).map_err(|_| Refused)
    }

    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.cursor.plain_text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.by_serde_json(|json| json.deserialize_str(visitor)),
        }
    }

    fn within<V>(&mut self, read: impl FnOnce(&mut Self) -> Result<V, Refused>) -> Result<V, Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refused);
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// Methods whose values serde_json reads.
macro_rules! by_serde_json {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
            self.by_serde_json(|json| json.$method(visitor))
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.cursor.peek() {
            Some(b'"') => self.text(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            _ => self.by_serde_json(|json| json.deserialize_any(visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.cursor.peek() == Some(b'n') {
            self.cursor.skip_value().ok_or(Refused)?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.cut()? {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Refused),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.text(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.text(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.cursor.take(b'{').ok_or(Refused)?;
        self.within(|reader| {
            let mut items = Items { reader, state: State::Start, end: b'}' };
            let value = visitor.visit_map(&mut items)?;
            items.ended(value)
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_map(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.cursor.take(b'[').ok_or(Refused)?;
        self.within(|reader| {
            let mut items = Items { reader, state: State::Start, end: b']' };
            let value = visitor.visit_seq(&mut items)?;
            items.ended(value)
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        self.cursor.skip_value().ok_or(Refused)?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        if name == RAW {
            return visitor.visit_map(Raw(Some(self.cut()?)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.by_serde_json(|json| json.deserialize_enum(name, variants, visitor))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Refused> {
        self.by_serde_json(|json| json.deserialize_tuple(len, visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Refused> {
        self.deserialize_tuple(len, visitor)
    }

    by_serde_json! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_bytes deserialize_byte_buf deserialize_unit
    }
}

/// The items of an object or of a list.
struct Items<'r, 'de> {
    reader: &'r mut Reader<'de>,
    state: State,
    end: u8,
}

#[derive(PartialEq, Eq)]
enum State {
    Start,
    Within,
    Ended,
}

impl Items<'_, '_> {
    /// Whether another item follows.
    fn more(&mut self) -> Result<bool, Refused> {
        let cursor = &mut self.reader.cursor;
        let more = match (&self.state, cursor.peek()) {
            (State::Start | State::Within, Some(next)) if next == self.end => false,
            (State::Start, Some(_)) => {
                self.state = State::Within;
                return Ok(true);
            }
            (State::Within, Some(b',')) => true,
            _ => return Err(Refused),
        };
        cursor.step();
        if !more {
            self.state = State::Ended;
        }
        Ok(more)
    }

    /// A visitor that stops early has not read the object.
    fn ended<V>(&self, value: V) -> Result<V, Refused> {
        if self.state == State::Ended { Ok(value) } else { Err(Refused) }
    }
}

impl<'de> MapAccess<'de> for &mut Items<'_, 'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        if !self.more()? {
            return Ok(None);
        }
        if self.reader.cursor.peek() != Some(b'"') {
            return Err(Refused);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        self.reader.cursor.take(b':').ok_or(Refused)?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        if !self.more()? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

/// A raw value as serde_json expects it: an object with its name and the text.
struct Raw<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for Raw<'de> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        seed.deserialize(serde::de::value::StrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Refused> {
        let text = self.0.take().ok_or(Refused)?;
        seed.deserialize(serde::de::value::BorrowedStrDeserializer::new(text))
    }
}
