//! JSON as serde_json reads it, with fewer instructions: most of a pod is skipped, and serde_json takes thirteen
//! instructions for each byte that it skips, this reader six. Of 422,000 instructions of a review of 6.5 kB, 126,000 were
//! for that (callgrind).
//!
//! Its errors name the place. So each type is compiled for one reader, and not again for another that finds the place:
//! that would be a tenth of the binary.

use super::cursor_in_text::Cursor;
use super::name_value_pair::{PLAIN_PAIR, Pair};
use super::read_error::{ReadError, Step};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::Number;

/// Most containers around a value: the limit of serde_json, which keeps the stack from overflowing.
const MAX_DEPTH: u8 = 127;
/// What serde_json calls its raw values; with another name they would be read by serde_json itself.
const RAW: &str = "$serde_json::private::RawValue";

/// Reads a text. Unlike serde_json, it refuses a list where a struct is expected, as Go's decoder does.
///
/// # Errors
/// The first value that does not fit.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ReadError> {
    let mut reader = Reader { cursor: Cursor::new(text), depth: 0 };
    let value = T::deserialize(&mut reader)?;
    if reader.cursor.is_at_end() { Ok(value) } else { Err(ReadError::syntax()) }
}

struct Reader<'de> {
    cursor: Cursor<'de>,
    depth: u8,
}

impl<'de> Reader<'de> {
    /// The text of the next value.
    fn text_of_next_value(&mut self) -> Result<&'de str, ReadError> {
        self.cursor.skip_space_and_peek();
        let start = self.cursor.at();
        self.skip()?;
        self.cursor.text_since(start).ok_or_else(ReadError::syntax)
    }

    fn skip(&mut self) -> Result<(), ReadError> {
        self.cursor.skip_value().ok_or_else(ReadError::syntax)
    }

    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        match self.cursor.take_text_without_escapes() {
            Some(text) => visitor.visit_borrowed_str(text),
            None if self.cursor.skip_space_and_peek() == Some(b'"') => {
                visitor.visit_string(self.read_text_with_escapes()?)
            }
            None => Err(self.other_type(&visitor)),
        }
    }

    /// The next value, a text with escapes.
    #[inline(never)]
    fn read_text_with_escapes(&mut self) -> Result<String, ReadError> {
        serde_json::from_str(self.text_of_next_value()?).map_err(|error| ReadError::from_serde_error(&error))
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        if !matches!(self.cursor.skip_space_and_peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.other_type(&visitor));
        }
        match self.parsed()? {
            Parsed::Unsigned(number) => visitor.visit_u64(number),
            Parsed::Signed(number) => visitor.visit_i64(number),
            Parsed::Float(number) => visitor.visit_f64(number),
        }
    }

    /// The next value, a number.
    #[inline(never)]
    fn parsed(&mut self) -> Result<Parsed, ReadError> {
        parsed(self.text_of_next_value()?)
    }

    /// The error for the next value, which has another type than the expected one.
    #[cold]
    #[inline(never)]
    fn other_type(&mut self, expected: &dyn Expected) -> ReadError {
        match self.text_of_next_value().and_then(|text| wrong_type_error(text, expected)) {
            Ok(wrong) | Err(wrong) => wrong,
        }
    }

    fn read_one_level_deeper<V>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<V, ReadError>,
    ) -> Result<V, ReadError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ReadError::value("recursion limit exceeded"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// A number by its JSON text.
enum Parsed {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

fn parsed(text: &str) -> Result<Parsed, ReadError> {
    let number: Number = serde_json::from_str(text).map_err(|error| ReadError::from_serde_error(&error))?;
    let whole = number.as_u64().map(Parsed::Unsigned).or_else(|| number.as_i64().map(Parsed::Signed));
    whole.or_else(|| number.as_f64().map(Parsed::Float)).ok_or_else(ReadError::syntax)
}

/// The error for a value of another type.
fn wrong_type_error(text: &str, expected: &dyn Expected) -> Result<ReadError, ReadError> {
    let string;
    let found = match text.as_bytes().first() {
        Some(b'"') => {
            string =
                serde_json::from_str::<String>(text).map_err(|error| ReadError::from_serde_error(&error))?;
            Unexpected::Str(&string)
        }
        Some(b'{') => Unexpected::Map,
        Some(b'[') => Unexpected::Seq,
        Some(b't') => Unexpected::Bool(true),
        Some(b'f') => Unexpected::Bool(false),
        Some(b'n') => Unexpected::Unit,
        _ => match parsed(text)? {
            Parsed::Unsigned(number) => Unexpected::Unsigned(number),
            Parsed::Signed(number) => Unexpected::Signed(number),
            Parsed::Float(number) => Unexpected::Float(number),
        },
    };
    Ok(ReadError::invalid_type(found, expected))
}

/// Methods for numbers.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.visit_number(visitor)
        }
    )*};
}

/// Methods for texts.
macro_rules! texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.visit_text(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.cursor.skip_space_and_peek() {
            Some(b'"') => self.visit_text(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            _ => self.visit_number(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.cursor.skip_space_and_peek() == Some(b'n') {
            self.skip()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if !matches!(self.cursor.skip_space_and_peek(), Some(b't' | b'f')) {
            return Err(self.other_type(&visitor));
        }
        visitor.visit_bool(self.text_of_next_value()? == "true")
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.cursor.step_past(b'{').is_none() {
            return Err(self.other_type(&visitor));
        }
        self.read_one_level_deeper(|reader| {
            let mut items = Items { reader, state: State::Start, end: b'}', place: 0 };
            let value = visitor.visit_map(&mut items)?;
            items.require_all_items_read(value)
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.cursor.step_past(b'[').is_none() {
            return Err(self.other_type(&visitor));
        }
        self.read_one_level_deeper(|reader| {
            let mut items = Items { reader, state: State::Start, end: b']', place: 0 };
            let value = visitor.visit_seq(&mut items)?;
            items.require_all_items_read(value)
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name == RAW {
            return visitor.visit_map(Raw(Some(self.text_of_next_value()?)));
        }
        if name == PLAIN_PAIR
            && let Some(texts) = self.cursor.take_name_and_value()
        {
            return visitor.visit_seq(Pair::new(texts));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        serde_json::Deserializer::from_str(self.text_of_next_value()?)
            .deserialize_enum(name, variants, visitor)
            .map_err(|error| ReadError::from_serde_error(&error))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.cursor.skip_space_and_peek() != Some(b'n') {
            return Err(self.other_type(&visitor));
        }
        self.skip()?;
        visitor.visit_unit()
    }

    texts! {
        deserialize_str deserialize_string deserialize_identifier deserialize_char deserialize_bytes deserialize_byte_buf
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }
}

/// The items of an object or of a list.
struct Items<'r, 'de> {
    reader: &'r mut Reader<'de>,
    state: State,
    end: u8,
    /// Where the key begins, in an object; the number of items before this one, in a list.
    place: usize,
}

#[derive(PartialEq, Eq)]
enum State {
    Start,
    Within,
    Ended,
}

impl Items<'_, '_> {
    /// Whether another item follows.
    #[inline]
    fn has_next_item(&mut self) -> Result<bool, ReadError> {
        let next = self.reader.cursor.skip_space_and_peek();
        if next == Some(b',') && self.state == State::Within {
            self.reader.cursor.step();
            return Ok(true);
        }
        self.first_or_none(next)
    }

    /// Whether an item follows although no comma does: the first one, or none.
    #[inline(never)]
    fn first_or_none(&mut self, next: Option<u8>) -> Result<bool, ReadError> {
        match (&self.state, next) {
            (State::Start | State::Within, Some(next)) if next == self.end => {
                self.reader.cursor.step();
                self.state = State::Ended;
                Ok(false)
            }
            (State::Start, Some(_)) => {
                self.state = State::Within;
                Ok(true)
            }
            _ => Err(ReadError::syntax()),
        }
    }

    #[cold]
    #[inline(never)]
    fn with_key_of_place(&self, wrong: ReadError) -> ReadError {
        match self.reader.cursor.decode_text_at(self.place) {
            Some(key) => wrong.with_outer_step(Step::Key(key)),
            None => wrong,
        }
    }

    /// A visitor that stops early has not read the object.
    fn require_all_items_read<V>(&self, value: V) -> Result<V, ReadError> {
        if self.state == State::Ended { Ok(value) } else { Err(ReadError::value("more items than expected")) }
    }
}

impl<'de> MapAccess<'de> for &mut Items<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        if !self.has_next_item()? {
            return Ok(None);
        }
        if self.reader.cursor.skip_space_and_peek() != Some(b'"') {
            return Err(ReadError::syntax());
        }
        self.place = self.reader.cursor.at();
        match seed.deserialize(&mut *self.reader) {
            Ok(key) => Ok(Some(key)),
            Err(wrong) => Err(self.with_key_of_place(wrong)),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        if self.reader.cursor.step_past(b':').is_none() {
            return Err(self.with_key_of_place(ReadError::syntax()));
        }
        seed.deserialize(&mut *self.reader).map_err(|wrong| self.with_key_of_place(wrong))
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        if !self.has_next_item()? {
            return Ok(None);
        }
        match seed.deserialize(&mut *self.reader) {
            Ok(item) => {
                self.place += 1;
                Ok(Some(item))
            }
            Err(wrong) => Err(wrong.with_outer_step(Step::Index(self.place))),
        }
    }
}

/// A raw value as serde_json expects it: an object with its name and the text.
struct Raw<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for Raw<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        seed.deserialize(serde::de::value::StrDeserializer::new(RAW)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let text = self.0.take().ok_or_else(ReadError::syntax)?;
        seed.deserialize(serde::de::value::BorrowedStrDeserializer::new(text))
    }
}
