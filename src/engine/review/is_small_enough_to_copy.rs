//! Which JSON text a decision may build again as a tree, change, write and judge once more. That takes about ten times as
//! long as to judge it where it is, and a short body can ask for several of such copies.

/// Longest text that is copied (bytes), and the most values in it (count). Runtimes and the templates of workers have
/// 2 to 5 kB.
pub(super) const MAX_COPIED_BYTES: usize = 32 << 10;
pub(super) const MAX_COPIED_VALUES: usize = 1_500;

/// Whether it is. Values are counted by the bytes between them, which texts may have too.
pub(super) fn is_small_enough_to_copy(json: &str) -> bool {
    let between = || json.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    json.len() <= MAX_COPIED_BYTES && between() <= MAX_COPIED_VALUES
}
