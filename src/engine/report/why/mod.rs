//! How a profile was found, as people and programs read it.

pub mod json;
pub mod text;

use crate::resolve::explain_resolution::MAX_LISTED;

/// The entries of a list that are shown, and how many are not.
fn shown_entries_and_rest<T>(all: &[T]) -> (&[T], usize) {
    let shown = all.get(..MAX_LISTED).unwrap_or(all);
    (shown, all.len() - shown.len())
}
