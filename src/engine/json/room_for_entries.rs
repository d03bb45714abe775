//! A limit on the entries of an object that are kept, by number and by length.

/// What is left of the limit.
pub(crate) struct Room {
    entries: usize,
    bytes: usize,
}

impl Room {
    pub(crate) const fn new(entries: usize, bytes: usize) -> Self {
        Self { entries, bytes }
    }

    /// Whether an entry of this length (bytes) finds room, which is then less.
    pub(crate) fn take(&mut self, length: usize) -> bool {
        let (entries, bytes) = (self.entries.checked_sub(1), self.bytes.checked_sub(length));
        let (Some(entries), Some(bytes)) = (entries, bytes) else { return false };
        *self = Self { entries, bytes };
        true
    }
}
