//! The first lines in which two texts differ.

use crate::cli::unified_diff_text::unified_diff_text;
use crate::text::cut_to_bytes;
use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Text that is compared, from the first difference on (bytes). Nobody reads more of it, and a diff of long texts may take a time
/// that grows with the square of their length. A short file with YAML aliases has a long text.
const MAX_BYTES: usize = 32 << 10;
/// Lines that are compared, however long they are.
const MIN_LINES: usize = 64;
/// Equal lines before the first difference that are compared as well: a group of changed lines may be shown some lines higher, where
/// it begins with the start of an entry.
const EQUAL_LINES: usize = 50;
/// Longest line that is shown whole (bytes).
const MAX_LINE: usize = 2_000;

/// The unified diff of two texts, without the names of files. If it ends before the texts, the last line says so.
pub(super) fn first_hunks(old: &str, new: &str) -> String {
    let equal = old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(|(a, b)| a == b).count();
    let from = equal.saturating_sub(EQUAL_LINES);
    let (old, rest_of_old) = part_from_line(old, from);
    let (new, rest_of_new) = part_from_line(new, from);
    let lines = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Myers, &lines);
    diff.postprocess_lines(&lines);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let from = u32::try_from(from).unwrap_or(u32::MAX);
    let mut text = unified_diff_text(&hunks, [&old, &new], from, cut_line);
    if rest_of_old + rest_of_new > 0 {
        let _ = writeln!(
            text,
            "The rest is not compared: {rest_of_old} lines of the expectation, and {rest_of_new} lines of the results."
        );
    }
    text
}

/// A line without what is too long to be shown.
fn cut_line(line: &str) -> Cow<'_, str> {
    match cut_to_bytes(line, MAX_LINE) {
        whole if whole.len() == line.len() => Cow::Borrowed(line),
        start => Cow::Owned(format!("{start}…")),
    }
}

/// The part of a text from a line on that is compared, and how many lines follow it.
fn part_from_line(text: &str, from: usize) -> (&str, usize) {
    let start: usize = text.split_inclusive('\n').take(from).map(str::len).sum();
    let text = text.get(start..).unwrap_or_default();
    let mut length = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number >= MIN_LINES && length + line.len() > MAX_BYTES {
            break;
        }
        length += line.len();
    }
    let (part, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    (part, rest.split_inclusive('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_between_others() {
        assert_eq!(first_hunks("a\nb\nc\n", "a\nx\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
        let lines = |word: &str| -> String {
            (0..500).map(|i| if i == 200 { format!("{word}\n") } else { format!("{i}\n") }).collect()
        };
        let expected = "@@ -198,7 +198,7 @@\n 197\n 198\n 199\n-old\n+new\n 201\n 202\n 203\n";
        assert_eq!(first_hunks(&lines("old"), &lines("new")), expected);
    }

    #[test]
    fn only_the_first_part_of_long_texts_is_compared() {
        let text =
            |word: &str| -> String { (0..200_000).map(|i| format!("line {i}\n{word} {i}\n")).collect() };
        let found = first_hunks(&text("old"), &text("new"));
        assert!(found.len() < 4 * MAX_BYTES, "{}", found.len());
        assert!(found.starts_with("@@ -1,") && found.contains("\n-old 0\n+new 0\n"), "{found:.300}");
        let last = found.lines().last().unwrap_or_default();
        assert!(last.starts_with("The rest is not compared: 39"), "{last}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let (old, new) = ("é".repeat(1 << 20), "a\n".repeat(3) + &"x".repeat(1 << 20));
        let found = first_hunks(&old, &new);
        assert!(found.len() < 3 * MAX_LINE && found.lines().filter(|line| line.ends_with('…')).count() == 2);
    }
}
