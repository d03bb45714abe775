//! Hunks between two versions of a YAML text whose top-level list has the same items in both.

use crate::cli::unified_diff_printer::LinePrinter;
use imara_diff::{
    Algorithm, Diff, IndentHeuristic, IndentLevel, InternedInput, Interner, Token, UnifiedDiffConfig,
};
use std::borrow::Cow;

/// A line, and the number of the pod that it belongs to: of items of a top-level list, and of lists of containers, which no change
/// adds. No pod moves, so lines of different pods are different lines: if they were not, the time for many equal pods would grow
/// with the square of their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct LineOfItem<'a> {
    item: usize,
    line: &'a str,
}

fn lines(text: &str) -> impl Iterator<Item = LineOfItem<'_>> {
    text.split_inclusive('\n').scan(0, |item, line| {
        *item += usize::from(line.starts_with("- ") || line.trim() == "containers:");
        Some(LineOfItem { item: *item, line })
    })
}

/// The unified diff of two texts, without the names of files.
pub(super) fn hunks(before: &str, after: &str) -> String {
    let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(0) };
    input.update_before(lines(before));
    input.update_after(lines(after));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    let indent = |token: Token| IndentLevel::for_ascii_line(input.interner[token].line.bytes(), 8);
    diff.postprocess_with_heuristic(&input, IndentHeuristic::new(indent));
    let line = |token: Token| Cow::Borrowed(input.interner[token].line);
    let printer = LinePrinter { line, from: 0 };
    diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string()
}
