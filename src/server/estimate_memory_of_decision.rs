//! Memory that the decision on a body takes, estimated before any of it is decoded.
//!
//! Entries of lists and maps count, not bytes: `""` and a comma are three bytes of a body and 66 bytes while it is decided,
//! and `{}` in a list of containers is half a kilobyte. Entries in texts count too: annotations, configurations of CNI and
//! of device plugins are JSON in a text. The trials `memory::…` compare the estimate with what decisions take.

/// Memory of one entry (bytes). The most expensive shape of pods takes 280 per bracket or comma: `null` again and again in
/// a list of containers. Some shapes of other kinds take up to one and a half times the estimate.
const MEMORY_OF_ENTRY: usize = 320;
/// The same of one in a text. The most expensive takes 380: `null` in the routes of a CNI configuration.
const MEMORY_OF_ENTRY_IN_TEXT: usize = 384;

/// A text without escapes is borrowed from the body. A text with an escape is copied, and the buffer for it doubles as it grows.
const COPIES_OF_ESCAPED_TEXT: usize = 3;

/// Most escape sequences of a body (count). Each reading of a text stops at each of them, so that 4 million took 130 ms and
/// more. A body of JSON in texts, which is nearly all quotes, reaches the limit of memory sooner.
const MAX_ESCAPES: usize = 300_000;

/// Most texts of a body that have an escape sequence, keys included (count). Such a text is copied each time that it is read. A
/// JobSet with 176,000 keys of this kind took 80 ms more than a plain one (release build, x86-64).
const MAX_TEXTS_WITH_ESCAPES: usize = 50_000;

/// Most white space of a body between its values (bytes). Each reading of the body looks at it again: 8 MiB in short runs took
/// 25 ms more than plain text (release build, x86-64). API servers send none (Go's encoding/json, `Marshal`).
const MAX_WHITE_SPACE: usize = 1 << 20;

/// The estimate: the body, and every entry of a list or a map in it. It takes a body part by part.
#[derive(Debug, Default, Clone, Copy)]
pub struct DecisionMemoryEstimate {
    weighed: usize,
    // A body has fewer than four billion bytes.
    entries: u32,
    /// Bytes of texts with escapes.
    escaped_texts: u32,
    in_texts: u32,
    escapes: u32,
    texts_with_escapes: u32,
    /// Bytes of white space between values.
    white_space: u32,
    /// Bytes of the text so far.
    text: u32,
    /// Whether this text has an escape.
    text_has_escape: bool,
    within: Within,
}

/// Where a part ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Within {
    #[default]
    Json,
    Text,
    /// After a backslash in a text.
    Escape,
}

impl DecisionMemoryEstimate {
    /// Bytes that were weighed.
    #[must_use]
    pub fn weighed_bytes(self) -> usize {
        self.weighed
    }

    /// Memory of the decision (bytes).
    #[must_use]
    pub fn memory_of_decision(self) -> usize {
        let entries = (self.entries as usize).saturating_mul(MEMORY_OF_ENTRY);
        let in_texts = (self.in_texts as usize).saturating_mul(MEMORY_OF_ENTRY_IN_TEXT);
        let copies = (self.escaped_texts as usize).saturating_mul(COPIES_OF_ESCAPED_TEXT);
        self.weighed.saturating_add(entries).saturating_add(in_texts).saturating_add(copies)
    }

    /// Which limit the body exceeds, as an answer for its sender. The limits hold for what has been weighed.
    pub(super) fn exceeded_limit(self) -> Option<String> {
        let Self { escapes, texts_with_escapes: texts, white_space, .. } = self;
        if escapes as usize > MAX_ESCAPES || texts as usize > MAX_TEXTS_WITH_ESCAPES {
            return Some(format!(
                "the body has {escapes} escape sequences, such as \\n and \\\", in {texts} texts; at most {MAX_ESCAPES} escape \
                 sequences in at most {MAX_TEXTS_WITH_ESCAPES} texts are allowed"
            ));
        }
        (white_space as usize > MAX_WHITE_SPACE).then(|| {
            format!(
                "the body has {white_space} bytes of white space between its values; at most {MAX_WHITE_SPACE} are allowed; API \
                 servers send none"
            )
        })
    }

    /// Weighs work as if it were so many bytes without entries.
    pub(super) fn weigh_work_as_bytes(&mut self, bytes: usize) {
        self.weighed = self.weighed.saturating_add(bytes);
    }

    /// Weighs the next part of a body.
    pub fn weigh_next_part_of_body(&mut self, part: &[u8]) {
        self.weighed = self.weighed.saturating_add(part.len());
        let mut rest = part;
        while !rest.is_empty() {
            rest = match self.within {
                Within::Json => self.weigh_until_text(rest),
                Within::Text => self.weigh_until_end_of_text_or_escape(rest),
                Within::Escape => {
                    self.text = self.text.saturating_add(1);
                    self.within = Within::Text;
                    rest.get(1..).unwrap_or_default()
                }
            };
        }
    }

    fn weigh_until_text<'p>(&mut self, rest: &'p [u8]) -> &'p [u8] {
        let (Counts { entries, white_space }, from_quote) = count_until(rest, |byte| byte == b'"');
        self.entries += entries;
        self.white_space += white_space;
        let Some((_, after)) = from_quote.split_first() else { return from_quote };
        self.within = Within::Text;
        after
    }

    fn weigh_until_end_of_text_or_escape<'p>(&mut self, rest: &'p [u8]) -> &'p [u8] {
        let (mut at, mut escapes) = (rest, 0);
        loop {
            let (counts, from_end) = count_until(at, |byte| (byte == b'"') | (byte == b'\\'));
            self.in_texts += counts.entries;
            let after_text = match from_end {
                [b'\\', _, after @ ..] => {
                    escapes += 1;
                    at = after;
                    continue;
                }
                [b'\\'] => {
                    escapes += 1;
                    self.within = Within::Escape;
                    &[]
                }
                [_, after @ ..] => {
                    self.within = Within::Json;
                    after
                }
                [] => from_end,
            };
            self.escapes += escapes;
            self.text_has_escape |= escapes > 0;
            let length = u32::try_from(rest.len() - after_text.len()).unwrap_or(u32::MAX);
            self.text = self.text.saturating_add(length);
            if self.within == Within::Json {
                let length = std::mem::take(&mut self.text);
                if std::mem::take(&mut self.text_has_escape) {
                    self.texts_with_escapes += 1;
                    self.escaped_texts += length;
                }
            }
            return after_text;
        }
    }
}

/// How many bytes are looked at together, so that the compiler uses vectors.
const BLOCK: usize = 16;

/// What a part of a body has before its end.
#[derive(Default, Clone, Copy)]
struct Counts {
    entries: u32,
    white_space: u32,
}

/// Counts what stands before the first byte of a kind; beside it, the text from that byte on. Most texts are shorter than a
/// block.
#[inline(always)]
fn count_until(rest: &[u8], is_end: impl Fn(u8) -> bool) -> (Counts, &[u8]) {
    let mut counts = Counts::default();
    let (first, mut long) = rest.split_at_checked(BLOCK).unwrap_or((rest, &[]));
    if let Some(at) = position_and_counts_before(first, &is_end, &mut counts) {
        return (counts, rest.get(at..).unwrap_or_default());
    }
    while let Some((block, after)) = long.split_first_chunk::<BLOCK>()
        && !block.iter().fold(false, |found, byte| found | is_end(*byte))
    {
        counts.entries += count_in_block(block, is_entry);
        counts.white_space += count_in_block(block, is_white_space);
        long = after;
    }
    let at = position_and_counts_before(long, &is_end, &mut counts).unwrap_or(long.len());
    (counts, long.get(at..).unwrap_or_default())
}

#[inline(always)]
fn count_in_block(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> u32 {
    block.iter().fold(0_u8, |sum, byte| sum + u8::from(is(*byte))).into()
}

#[inline(always)]
fn position_and_counts_before(
    bytes: &[u8],
    is_end: &impl Fn(u8) -> bool,
    counts: &mut Counts,
) -> Option<usize> {
    // The last byte that is looked at is a quote or a backslash: neither an entry nor white space.
    bytes.iter().position(|byte| {
        counts.entries += u32::from(is_entry(*byte));
        counts.white_space += u32::from(is_white_space(*byte));
        is_end(*byte)
    })
}

/// Whether an entry of a list or a map begins here. With `matches!`, the compiler looks each byte up in a table of bits, and not
/// at a whole block: that takes four times as long or more.
fn is_entry(byte: u8) -> bool {
    (byte == b',') | (byte == b'{') | (byte == b'[')
}

/// JSON has four kinds of white space; the other bytes up to a space are errors between values.
fn is_white_space(byte: u8) -> bool {
    byte <= b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_count_in_texts() {
        for (text, expected) in [(r#"{"a\n":"\u0041\\"}"#, 3), (r#"{"a":"b"} \n"#, 0), (r#""\"#, 1)] {
            for size in 1..=text.len() {
                let mut weight = DecisionMemoryEstimate::default();
                text.as_bytes().chunks(size).for_each(|part| weight.weigh_next_part_of_body(part));
                assert_eq!(weight.escapes, expected, "{text} by {size}");
            }
        }
    }

    #[test]
    fn texts_with_escapes_count_as_copies() {
        for (text, expected) in [
            (r#"["abc","d"]"#, (0, 0)),
            (r#"["abcde\n","d"]"#, (1, 8)),
            (r#"["\n","abc\u0041"]"#, (2, 3 + 10)),
        ] {
            for size in 1..=text.len() {
                let mut weight = DecisionMemoryEstimate::default();
                text.as_bytes().chunks(size).for_each(|part| weight.weigh_next_part_of_body(part));
                let found = (weight.texts_with_escapes, weight.escaped_texts);
                assert_eq!(found, expected, "{text} by {size}");
            }
        }
    }

    /// Long texts and white space are weighed in blocks.
    #[test]
    fn long_parts_have_the_entries_of_short_ones() {
        for length in (0..3 * BLOCK).chain([999]) {
            let (text, spaces) = ("a,".repeat(length), " ".repeat(length));
            let body = format!(r#"[{spaces}"{text}\"{{",{spaces}1,"{text}"{spaces}]{spaces}"#);
            let mut whole = DecisionMemoryEstimate::default();
            whole.weigh_next_part_of_body(body.as_bytes());
            let found = (whole.entries, whole.in_texts as usize, whole.escapes, whole.escaped_texts as usize);
            assert_eq!(found, (3, 2 * length + 1, 1, 2 * length + 4));
            assert_eq!(whole.white_space as usize, 4 * length);
        }
    }

    #[test]
    fn entries_count_within_texts_and_without() {
        for (text, expected) in [
            ("", (0, 0)),
            ("{}", (1, 0)),
            (r#"{"a":[1,2,3]}"#, (4, 0)),
            (r#"["a,b,c","{[","\\\",","\\\\",""]"#, (5, 5)),
            (r#"{"a":"\"},{"#, (1, 2)),
            (r#"["a"#, (1, 0)),
            ("\"\\", (0, 0)),
        ] {
            // Wherever the parts end.
            for size in 1..=text.len().max(1) {
                let mut weight = DecisionMemoryEstimate::default();
                text.as_bytes().chunks(size).for_each(|part| weight.weigh_next_part_of_body(part));
                let found = (weight.entries as usize, weight.in_texts as usize);
                assert_eq!((found, weight.weighed_bytes()), (expected, text.len()), "{text} by {size}");
            }
        }
    }
}
