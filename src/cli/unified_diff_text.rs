//! The text of a unified diff. The printer of imara-diff 0.2.0 names a wrong first line if the first change has four to six lines
//! above it, and `patch` refuses some of these diffs.

use imara_diff::Hunk;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// Equal lines that are shown above and below changes (count).
const CONTEXT: u32 = 3;

/// The hunks of a diff, without the names of files. `from` is the number of equal lines of both texts before those that are compared,
/// and `shown` gives a line as it is printed; a line break at its end is left out.
pub(in crate::cli) fn unified_diff_text<'a>(
    hunks: &[Hunk],
    [before, after]: [&[&'a str]; 2],
    from: u32,
    shown: impl Fn(&'a str) -> Cow<'a, str>,
) -> String {
    let mut text = String::new();
    let add_lines = |text: &mut String, sign: char, lines: &[&'a str], numbers: Range<u32>| {
        for line in lines.get(numbers.start as usize..numbers.end as usize).unwrap_or_default() {
            let line = shown(line);
            let _ = writeln!(text, "{sign}{}", line.strip_suffix('\n').unwrap_or(&line));
        }
    };
    let lines_of_before = u32::try_from(before.len()).unwrap_or(u32::MAX);
    for near in hunks.chunk_by(|one, other| other.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
        let above = first.before.start.min(CONTEXT);
        let below = (lines_of_before - last.before.end).min(CONTEXT);
        let place = |start: u32, end: u32| {
            // GNU diff names the line before an empty part.
            let first = from.saturating_add(start).saturating_add(u32::from(start < end));
            format!("{first},{}", end - start)
        };
        let old = place(first.before.start - above, last.before.end + below);
        let new = place(first.after.start - above, last.after.end + below);
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        let mut next = first.before.start - above;
        for hunk in near {
            add_lines(&mut text, ' ', before, next..hunk.before.start);
            add_lines(&mut text, '-', before, hunk.before.clone());
            add_lines(&mut text, '+', after, hunk.after.clone());
            next = hunk.before.end;
        }
        add_lines(&mut text, ' ', before, next..next + below);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use imara_diff::{Algorithm, Diff, InternedInput};

    fn diff(before: &str, after: &str) -> String {
        let hunks: Vec<Hunk> =
            Diff::compute(Algorithm::Histogram, &InternedInput::new(before, after)).hunks().collect();
        let [before, after] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        unified_diff_text(&hunks, [&before, &after], 0, Cow::Borrowed)
    }

    #[test]
    fn the_first_line_of_a_hunk_is_the_one_that_it_names() {
        let before: String = (1..30).map(|i| format!("{i}\n")).collect();
        for changed in 1..10 {
            let found = diff(&before, &before.replacen(&format!("{changed}\n"), "x\n", 1));
            let first = changed.max(4) - 3;
            let lines = changed + 4 - first;
            let header = format!("@@ -{first},{lines} +{first},{lines} @@\n");
            assert!(found.starts_with(&header), "{header}{found}");
        }
    }

    #[test]
    fn changes_with_few_lines_between_them_are_one_hunk() {
        let before = "a\n1\n2\n3\n4\n5\n6\nb\n";
        assert_eq!(diff(before, &before.replace('a', "x").replace('b', "y")).matches("@@ ").count(), 1);
        let before = "a\n1\n2\n3\n4\n5\n6\n7\nb\n";
        let expected = "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n";
        assert_eq!(diff(before, &before.replace('a', "x").replace('b', "y")), expected);
    }

    #[test]
    fn an_empty_text_has_no_first_line() {
        assert_eq!(diff("", "a\n"), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("a\n", ""), "@@ -1,1 +0,0 @@\n-a\n");
        assert_eq!(diff("a\n", "a\n"), "");
    }
}
