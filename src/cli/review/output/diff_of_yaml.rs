//! Hunks between two versions of a YAML text whose top-level list has the same items in both.

use imara_diff::{
    Algorithm, Diff, IndentHeuristic, IndentLevel, InternedInput, Interner, Token, UnifiedDiffConfig,
    UnifiedDiffPrinter,
};
use std::fmt;

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
    let printer = Printer(&input.interner);
    diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string()
}

struct Printer<'a>(&'a Interner<LineOfItem<'a>>);

impl Printer<'_> {
    fn write_lines(&self, mut f: impl fmt::Write, sign: char, tokens: &[Token]) -> fmt::Result {
        for token in tokens {
            let line = self.0[*token].line;
            writeln!(f, "{sign}{}", line.strip_suffix('\n').unwrap_or(line))?;
        }
        Ok(())
    }
}

impl UnifiedDiffPrinter for Printer<'_> {
    fn display_header(
        &self,
        mut f: impl fmt::Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        writeln!(f, "@@ -{},{len_before} +{},{len_after} @@", start_before + 1, start_after + 1)
    }

    fn display_context_token(&self, f: impl fmt::Write, token: Token) -> fmt::Result {
        self.write_lines(f, ' ', &[token])
    }

    fn display_hunk(&self, mut f: impl fmt::Write, before: &[Token], after: &[Token]) -> fmt::Result {
        self.write_lines(&mut f, '-', before)?;
        self.write_lines(f, '+', after)
    }
}
