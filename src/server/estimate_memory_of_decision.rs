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
pub(super) const MAX_ESCAPES: usize = 500_000;

/// The estimate: the body, and every entry of a list or a map in it. It takes a body part by part.
#[derive(Debug, Default, Clone, Copy)]
pub struct DecisionMemoryEstimate {
    weighed: usize,
    /// Bytes of texts with escapes.
    escaped_texts: usize,
    // A body has fewer than four billion bytes.
    entries: u32,
    in_texts: u32,
    escapes: u32,
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
        let copies = self.escaped_texts.saturating_mul(COPIES_OF_ESCAPED_TEXT);
        self.weighed.saturating_add(entries).saturating_add(in_texts).saturating_add(copies)
    }

    /// Escape sequences (count).
    #[must_use]
    pub fn escapes(self) -> usize {
        self.escapes as usize
    }

    /// Weighs work as if it were so many bytes without entries.
    pub(super) fn weigh_work_as_bytes(&mut self, bytes: usize) {
        self.weighed = self.weighed.saturating_add(bytes);
    }

    /// Weighs the next part of a body.
    pub fn weigh_next_part_of_body(&mut self, part: &[u8]) {
        self.weighed = self.weighed.saturating_add(part.len());
        let mut bytes = part.iter();
        loop {
            let end = match self.within {
                Within::Json => {
                    let entries = &mut self.entries;
                    let quote = bytes.find(|b| {
                        *entries += u32::from(is_entry(**b));
                        **b == b'"'
                    });
                    quote.map(|_| Within::Text)
                }
                Within::Text => {
                    let in_texts = &mut self.in_texts;
                    let before = bytes.len();
                    let end = bytes.find(|b| {
                        *in_texts += u32::from(is_entry(**b));
                        matches!(b, b'"' | b'\\')
                    });
                    self.text =
                        self.text.saturating_add(u32::try_from(before - bytes.len()).unwrap_or(u32::MAX));
                    end.map(|b| {
                        let escape = *b != b'"';
                        self.escapes += u32::from(escape);
                        self.text_has_escape |= escape;
                        if !escape {
                            let length = std::mem::take(&mut self.text) as usize;
                            self.escaped_texts +=
                                if std::mem::take(&mut self.text_has_escape) { length } else { 0 };
                        }
                        if escape { Within::Escape } else { Within::Json }
                    })
                }
                Within::Escape => bytes.next().map(|_| Within::Text),
            };
            match end {
                Some(within) => self.within = within,
                None => return,
            }
        }
    }
}

/// Whether an entry of a list or a map begins here.
fn is_entry(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'[')
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
                assert_eq!(weight.escapes(), expected, "{text} by {size}");
            }
        }
    }

    #[test]
    fn texts_with_escapes_count_as_copies() {
        for (text, expected) in
            [(r#"["abc","d"]"#, 0), (r#"["abcde\n","d"]"#, 8), (r#"["\n","abc\u0041"]"#, 2 + 9)]
        {
            for size in 1..=text.len() {
                let mut weight = DecisionMemoryEstimate::default();
                text.as_bytes().chunks(size).for_each(|part| weight.weigh_next_part_of_body(part));
                assert!(
                    weight.escaped_texts.abs_diff(expected) <= 1,
                    "{text} by {size}: {}",
                    weight.escaped_texts
                );
            }
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
