//! Names that many ranks share, each kept once, up to a number of bytes.

use std::collections::HashMap;

/// Bytes of all names.
const MAX_TOTAL_BYTES: usize = 4 << 20;
/// Bytes of one name.
const MAX_NAME_BYTES: usize = 1024;

/// A name that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

/// The names.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_text: HashMap<Box<str>, Name>,
    texts: Vec<Box<str>>,
    bytes: usize,
}

impl Names {
    /// The name of a text; `None` beyond the limit.
    pub(super) fn keep_text_once(&mut self, text: &str) -> Option<Name> {
        let text =
            text.char_indices().nth(MAX_NAME_BYTES).map_or(text, |(at, _)| text.get(..at).unwrap_or(text));
        if let Some(known) = self.by_text.get(text) {
            return Some(*known);
        }
        if self.bytes + text.len() > MAX_TOTAL_BYTES {
            return None;
        }
        self.bytes += text.len() + 64;
        let name = Name(u32::try_from(self.texts.len()).ok()?);
        self.texts.push(text.into());
        self.by_text.insert(text.into(), name);
        Some(name)
    }

    pub(super) fn text(&self, name: Name) -> &str {
        self.texts.get(name.0 as usize).map_or("", |text| text)
    }
}
