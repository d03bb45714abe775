//! A place in a JSON text, and how to get past a value without reading it. It accepts what serde_json accepts.

use serde::Deserialize;

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

    /// The start of a part of a text. `controls`: whether the whole text has a control character.
    pub(super) fn of_part(text: &'a str, controls: bool) -> Self {
        Self { text, at: 0, controls }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The text from a place to here.
    pub(super) fn text_since(&self, start: usize) -> Option<&'a str> {
        self.text.get(start..self.at)
    }

    /// The next byte that is not white space; the place is then at this byte.
    #[inline]
    pub(super) fn skip_space_and_peek(&mut self) -> Option<u8> {
        let next = *self.text.as_bytes().get(self.at)?;
        if next > b' ' { Some(next) } else { self.skip_first_space_and_peek() }
    }

    #[inline(never)]
    fn skip_first_space_and_peek(&mut self) -> Option<u8> {
        let rest = after_space(self.text.as_bytes().get(self.at..)?);
        self.at = self.text.len() - rest.len();
        rest.first().copied()
    }

    /// Moves on by the byte that was seen.
    #[inline]
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Moves on by bytes that are known.
    pub(super) fn step_by(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Moves past an expected byte.
    #[inline]
    pub(super) fn step_past(&mut self, expected: u8) -> Option<()> {
        (self.skip_space_and_peek()? == expected).then(|| self.step())
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_space_and_peek().is_none()
    }

    /// The next value if it is a text without escapes; else the place does not move beyond white space.
    #[inline]
    pub(super) fn take_text_without_escapes(&mut self) -> Option<&'a str> {
        if self.skip_space_and_peek()? != b'"' {
            return None;
        }
        let (text, _) = until_quote(self.text.get(self.at + 1..)?)?;
        if self.controls && has_controls(text) {
            return None;
        }
        self.at += text.len() + 2;
        Some(text)
    }

    /// The texts of `{"name":"…","value":"…"}` without escapes and white space; else the place does not move.
    pub(super) fn take_name_and_value(&mut self) -> Option<[&'a str; 2]> {
        if self.controls {
            return None;
        }
        let (name, rest) = until_quote(self.text.get(self.at..)?.strip_prefix(r#"{"name":""#)?)?;
        let (value, rest) = until_quote(rest.strip_prefix(r#"","value":""#)?)?;
        let rest = rest.strip_prefix("\"}")?;
        self.at = self.text.len() - rest.len();
        Some([name, value])
    }

    /// Moves past a value; `None` where it is not JSON.
    pub(super) fn skip_value(&mut self) -> Option<()> {
        let rest = self.after_value(self.text.as_bytes().get(self.at..)?)?;
        self.at = self.text.len() - rest.len();
        Some(())
    }

    /// The text that begins at a place.
    #[cold]
    pub(super) fn decode_text_at(&self, place: usize) -> Option<String> {
        String::deserialize(&mut serde_json::Deserializer::from_str(self.text.get(place..)?)).ok()
    }

    /// What follows a value.
    fn after_value(&self, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        // A bit for each open container, one for an object; the topmost bit ends the list. Further containers outside of
        // these are in `outer`.
        let mut open: u64 = 1;
        let mut outer: Vec<u64> = Vec::new();
        loop {
            rest = match rest {
                [b'"', text @ ..] => self.after_text(text)?,
                [b'{', b'}', after @ ..] | [b'[', b']', after @ ..] => after,
                [first @ (b'{' | b'['), within @ ..] => {
                    let within = after_space(within);
                    // `{` and `}` differ by two, as `[` and `]` do.
                    match within.split_first() {
                        Some((end, after)) if *end == first + 2 => after,
                        _ => {
                            if open >> 63 == 1 {
                                outer.push(std::mem::replace(&mut open, 1));
                            }
                            open = open << 1 | u64::from(*first == b'{');
                            rest = if *first == b'{' { self.after_key(within)? } else { within };
                            continue;
                        }
                    }
                }
                [space, after @ ..] if is_space(*space) => {
                    rest = after_space(after);
                    continue;
                }
                _ => after_scalar(rest)?,
            };
            // A value has ended: the containers that end with it, then a comma.
            loop {
                if open == 1 {
                    match outer.pop() {
                        Some(outside) => open = outside,
                        None => return Some(rest),
                    }
                }
                let (next, after) = rest.split_first()?;
                rest = after;
                match next {
                    b',' => break,
                    space if is_space(*space) => rest = after_space(after),
                    end if *end == if open & 1 == 1 { b'}' } else { b']' } => open >>= 1,
                    _ => return None,
                }
            }
            if open & 1 == 1 {
                rest = self.after_key(rest)?;
            }
        }
    }

    /// What follows a key and its colon.
    #[inline(always)]
    fn after_key(&self, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        loop {
            let text = match rest {
                [b'"', text @ ..] => text,
                spaced => after_space(spaced).strip_prefix(b"\"")?,
            };
            let after = self.after_text(text)?;
            // Nearly all members of managed fields are such.
            rest = match after {
                [b':', b'{', b'}', b',', next @ ..] => next,
                [b':', value @ ..] => return Some(value),
                spaced => return after_space(spaced).strip_prefix(b":"),
            };
        }
    }

    /// What follows a text; its first quote is read.
    #[inline(always)]
    fn after_text(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = text;
        let after = loop {
            let found = from_quote_or_backslash(rest)?;
            if let [b'"', after @ ..] = found {
                break after;
            }
            rest = after_escape(found)?;
            // Often several stand together, such as `\n\t`.
            while let [b'\\', ..] = rest {
                rest = after_escape(rest)?;
            }
        };
        let text = text.get(..text.len() - after.len())?;
        (!self.controls || !bytes_have_controls(text)).then_some(after)
    }
}

/// What JSON counts as white space. With `matches!`, the compiler looks each byte up in a table of bits, and not at a whole block:
/// that takes six times as long.
#[inline(always)]
fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\n') | (byte == b'\t') | (byte == b'\r')
}

/// A text without the white space at its start.
#[inline(never)]
pub(super) fn after_space(rest: &[u8]) -> &[u8] {
    after_run(rest, is_space)
}

/// Most runs are shorter (bytes).
const SHORT_RUN: usize = 8;

/// A text without the bytes of a kind at its start, of which there may be megabytes.
#[inline(always)]
fn after_run(mut rest: &[u8], is_of_kind: impl Fn(u8) -> bool) -> &[u8] {
    for _ in 0..SHORT_RUN {
        match rest {
            [byte, after @ ..] if is_of_kind(*byte) => rest = after,
            _ => return rest,
        }
    }
    let mut rest = after_blocks::<16>(after_blocks::<32>(rest, &is_of_kind), &is_of_kind);
    while let [byte, after @ ..] = rest
        && is_of_kind(*byte)
    {
        rest = after;
    }
    rest
}

/// A text without the blocks at its start that have bytes of a kind only. The compiler looks at all bytes of a block at once.
#[inline(always)]
fn after_blocks<const LENGTH: usize>(mut rest: &[u8], is_of_kind: impl Fn(u8) -> bool) -> &[u8] {
    while let Some((block, after)) = rest.split_first_chunk::<LENGTH>()
        && block.iter().fold(true, |all, byte| all & is_of_kind(*byte))
    {
        rest = after;
    }
    rest
}

/// What follows an escape sequence.
#[inline(always)]
fn after_escape(escape: &[u8]) -> Option<&[u8]> {
    match escape {
        [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => Some(after),
        [_, b'u', digits @ ..] => after_digits_of_escape(digits),
        _ => None,
    }
}

/// What follows the four digits of an escape sequence.
#[inline(never)]
fn after_digits_of_escape(digits: &[u8]) -> Option<&[u8]> {
    let (digits, after) = digits.split_first_chunk::<4>()?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(after)
}

/// What follows a number, `true`, `false` or `null`.
#[inline(never)]
fn after_scalar(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [b't', b'r', b'u', b'e', after @ ..]
        | [b'f', b'a', b'l', b's', b'e', after @ ..]
        | [b'n', b'u', b'l', b'l', after @ ..] => Some(after),
        [b'-', number @ ..] => after_number(number),
        number => after_number(number),
    }
}

/// What follows a number without its sign (RFC 8259, section 6). Its size does not matter, as for serde_json.
fn after_number(rest: &[u8]) -> Option<&[u8]> {
    let mut rest = match rest {
        [b'0', after @ ..] => after,
        digits => after_digits(digits)?,
    };
    if let [b'.', fraction @ ..] = rest {
        rest = after_digits(fraction)?;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        rest = match exponent {
            [b'+' | b'-', digits @ ..] => after_digits(digits)?,
            digits => after_digits(digits)?,
        };
    }
    Some(rest)
}

/// What follows one digit or more.
pub(super) fn after_digits(rest: &[u8]) -> Option<&[u8]> {
    let after = after_run(rest, |byte| byte.is_ascii_digit());
    (after.len() < rest.len()).then_some(after)
}

/// The text from the next quote or backslash on. Eight bytes at once: most texts are too short for a call of memchr.
#[inline(always)]
pub(super) fn from_quote_or_backslash(mut rest: &[u8]) -> Option<&[u8]> {
    const ONES: u64 = u64::MAX / 0xff;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        // The top bit of the first byte that is a quote or a backslash, and perhaps of bytes behind it.
        let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
        let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
        let found = (quote | backslash) & !word & (ONES << 7);
        if found != 0 {
            return rest.get(found.trailing_zeros() as usize / 8..);
        }
        rest = after;
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    rest.get(at..)
}

/// A text without escapes, and what follows it from its last quote on.
#[inline(always)]
fn until_quote(text: &str) -> Option<(&str, &str)> {
    let rest = from_quote_or_backslash(text.as_bytes())?;
    if rest.first() != Some(&b'"') {
        return None;
    }
    text.split_at_checked(text.len() - rest.len())
}

/// Whether a text has a control character. It looks at every byte, so that the compiler uses vectors.
pub(super) fn has_controls(text: &str) -> bool {
    bytes_have_controls(text.as_bytes())
}

fn bytes_have_controls(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |found, byte| found | (*byte < b' '))
}
