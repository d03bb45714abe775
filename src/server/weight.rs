//! Memory that the decision on a body takes, estimated before any of it is decoded.
//!
//! Entries of lists and maps count, not bytes: `""` and a comma are three bytes of a body and 66 bytes while it is decided,
//! and `{}` in a list of containers is half a kilobyte.

/// Memory of one entry (bytes). The most expensive shapes that a search found take 190 per bracket or comma: containers
/// and volumes of many templates without any field.
const ENTRY: usize = 192;

/// The estimate: the body, and every entry of a list or a map in it. What stands in quotes is text. It takes a body part by
/// part.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Weight {
    weighed: usize,
    entries: usize,
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

impl Weight {
    /// Bytes that were weighed.
    pub(super) fn weighed(self) -> usize {
        self.weighed
    }

    /// Memory of the decision (bytes).
    pub(super) fn decoded(self) -> usize {
        self.weighed.saturating_add(self.entries.saturating_mul(ENTRY))
    }

    /// Weighs the next part of a body.
    pub(super) fn add(&mut self, part: &[u8]) {
        self.weighed = self.weighed.saturating_add(part.len());
        let mut bytes = part.iter();
        loop {
            let end = match self.within {
                Within::Json => {
                    let entries = &mut self.entries;
                    let quote = bytes.find(|b| {
                        *entries += usize::from(matches!(b, b',' | b'{' | b'['));
                        **b == b'"'
                    });
                    quote.map(|_| Within::Text)
                }
                Within::Text => {
                    let end = bytes.find(|b| matches!(b, b'"' | b'\\'));
                    end.map(|b| if *b == b'"' { Within::Json } else { Within::Escape })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_count_and_texts_do_not() {
        for (text, expected) in [
            ("", 0),
            ("{}", 1),
            (r#"{"a":[1,2,3]}"#, 4),
            (r#"["a,b,c","{[","\\\",","\\\\",""]"#, 5),
            (r#"{"a":"\"},{"#, 1),
            (r#"["a"#, 1),
            ("\"\\", 0),
        ] {
            // Wherever the parts end.
            for size in 1..=text.len().max(1) {
                let mut weight = Weight::default();
                text.as_bytes().chunks(size).for_each(|part| weight.add(part));
                assert_eq!((weight.entries, weight.weighed()), (expected, text.len()), "{text} by {size}");
            }
        }
    }
}
