//! A place in a JSON text, and how to get past a value without reading it. It accepts what serde_json accepts, except that
//! it gives up on values with more than 62 containers around them.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A place in a JSON text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Whether the text has a control character anywhere, such as a line break. If not, no string has one, which JSON
    /// forbids: one pass with vectors over the text, instead of a test of every byte of every string.
    controls: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, controls: has_controls(text) }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text from a place to here.
    pub(super) fn since(&self, start: usize) -> Option<&'a str> {
        self.text.get(start..self.at)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The next byte that is not white space; the place is then at this byte.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Moves on by the byte that was seen.
    #[inline]
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Moves past an expected byte.
    #[inline]
    pub(super) fn take(&mut self, expected: u8) -> Option<()> {
        (self.peek()? == expected).then(|| self.step())
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The next value if it is a text without escapes; else the place does not move beyond white space.
    #[inline]
    pub(super) fn plain_text(&mut self) -> Option<&'a str> {
        if self.peek()? != b'"' {
            return None;
        }
        let (start, end) = (self.at + 1, quote_or_backslash(self.text.as_bytes(), self.at + 1)?);
        let text = self.text.get(start..end)?;
        if self.text.as_bytes().get(end) != Some(&b'"') || self.controls && has_controls(text) {
            return None;
        }
        self.at = end + 1;
        Some(text)
    }

    /// Moves past a value; `None` where it is not JSON.
    pub(super) fn skip_value(&mut self) -> Option<()> {
        // A copy stays in registers.
        let mut here = *self;
        here.skip()?;
        self.at = here.at;
        Some(())
    }

    /// Moves past a value as serde_json does: slower, with any number of containers around a value.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_deep_value(&mut self) -> Option<()> {
        let mut values =
            serde_json::Deserializer::from_str(self.text.get(self.at..)?).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    /// The text that begins at a place.
    #[cold]
    pub(super) fn text_at(&self, place: usize) -> Option<String> {
        String::deserialize(&mut serde_json::Deserializer::from_str(self.text.get(place..)?)).ok()
    }

    #[inline(always)]
    fn skip(&mut self) -> Option<()> {
        // A bit for each open container, one for an object; the topmost bit ends the list.
        let mut open: u64 = 1;
        loop {
            match self.peek()? {
                b'"' => self.skip_text()?,
                first @ (b'{' | b'[') => {
                    self.step();
                    // `{` and `}` differ by two, as `[` and `]` do.
                    if self.peek()? == first + 2 {
                        self.step();
                    } else {
                        if open >> 63 == 1 {
                            return None;
                        }
                        open = open << 1 | u64::from(first == b'{');
                        if first == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                _ => self.skip_scalar()?,
            }
            // A value has ended: the containers that end with it, then a comma.
            loop {
                if open == 1 {
                    return Some(());
                }
                let next = self.peek()?;
                self.step();
                if next == b',' {
                    break;
                }
                if next != if open & 1 == 1 { b'}' } else { b']' } {
                    return None;
                }
                open >>= 1;
            }
            if open & 1 == 1 {
                self.skip_key()?;
            }
        }
    }

    /// Moves past a key and its colon.
    #[inline(always)]
    fn skip_key(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        self.skip_text()?;
        self.take(b':')
    }

    /// Moves past a text; the place is at its first quote.
    #[inline(always)]
    fn skip_text(&mut self) -> Option<()> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at = quote_or_backslash(bytes, start + 1)?;
        while bytes.get(self.at) != Some(&b'"') {
            self.skip_escape()?;
            self.at = quote_or_backslash(bytes, self.at)?;
        }
        self.step();
        if self.controls && has_controls(self.since(start)?) {
            return None;
        }
        Some(())
    }

    fn skip_escape(&mut self) -> Option<()> {
        self.at += match self.rest() {
            [_, b'u', digits @ ..] if digits.get(..4)?.iter().all(u8::is_ascii_hexdigit) => 6,
            [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            _ => return None,
        };
        Some(())
    }

    /// Moves past a number, `true`, `false` or `null`.
    #[inline(never)]
    fn skip_scalar(&mut self) -> Option<()> {
        let rest = self.rest();
        let end =
            rest.iter().position(|b| !matches!(b, b'0'..=b'9' | b'a'..=b'z' | b'-' | b'+' | b'.' | b'E'));
        let scalar = rest.get(..end.unwrap_or(rest.len()))?;
        let known = match scalar {
            b"true" | b"false" | b"null" | b"0" => true,
            [b'1'..=b'9', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => true,
            other => serde_json::from_slice::<IgnoredAny>(other).is_ok(),
        };
        self.at += scalar.len();
        known.then_some(())
    }
}

/// Whether a text has a control character. It looks at every byte, so that the compiler uses vectors.
fn has_controls(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | (byte < b' '))
}

/// The place of the next quote or backslash. Eight bytes at once: most texts are too short for a call of memchr.
#[inline(always)]
fn quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    // The top bit of the first byte that is zero, and perhaps of bytes behind it.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    while let Some(word) = bytes.get(at..)?.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(at + rest)
}
