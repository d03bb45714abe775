//! The lines in which two texts differ.

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

/// The unified diff of two texts, without the names of files. The algorithm is Myers', whose heuristics bound its cost. The
/// histogram algorithm begins again with the rest of both texts behind each line that they share, so its cost grows with the square
/// of their length where every second line differs.
pub(super) fn hunks(old: &str, new: &str) -> String {
    let lines = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Myers, &lines);
    diff.postprocess_lines(&lines);
    let printer = BasicLineDiffPrinter(&lines.interner);
    diff.unified_diff(&printer, UnifiedDiffConfig::default(), &lines).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Two texts that share every second line. The shortest time of three.
    fn time(lines: usize) -> Duration {
        let text = |word: &str| -> String { (0..lines).map(|i| format!("line {i}\n{word} {i}\n")).collect() };
        let (old, new) = (text("old"), text("new"));
        let times = (0..3).map(|_| {
            let began = Instant::now();
            assert_eq!(hunks(&old, &new).matches("\n+new").count(), lines);
            began.elapsed()
        });
        times.min().unwrap_or_default()
    }

    #[test]
    fn every_second_line_differs() {
        let (few, many) = (time(1_500), time(12_000));
        assert!(many < 24 * few, "{few:?} {many:?} for eight times as many lines");
    }

    #[test]
    fn a_line_between_others() {
        assert_eq!(hunks("a\nb\nc\n", "a\nx\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    }
}
