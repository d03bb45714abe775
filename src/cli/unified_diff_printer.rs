//! The lines of a unified diff.

use imara_diff::{Token, UnifiedDiffPrinter};
use std::borrow::Cow;
use std::fmt;

/// Prints lines by their tokens.
pub(in crate::cli) struct LinePrinter<F> {
    /// The line of a token, as it is printed. A line break at its end is left out.
    pub(in crate::cli) line: F,
    /// Lines of both texts before those that are compared (count).
    pub(in crate::cli) from: u32,
}

impl<'a, F: Fn(Token) -> Cow<'a, str>> LinePrinter<F> {
    fn write_lines(&self, mut f: impl fmt::Write, sign: char, tokens: &[Token]) -> fmt::Result {
        for token in tokens {
            let line = (self.line)(*token);
            writeln!(f, "{sign}{}", line.strip_suffix('\n').unwrap_or(&line))?;
        }
        Ok(())
    }
}

impl<'a, F: Fn(Token) -> Cow<'a, str>> UnifiedDiffPrinter for LinePrinter<F> {
    fn display_header(
        &self,
        mut f: impl fmt::Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        let number = |start: u32| start.saturating_add(self.from).saturating_add(1);
        writeln!(f, "@@ -{},{len_before} +{},{len_after} @@", number(start_before), number(start_after))
    }

    fn display_context_token(&self, f: impl fmt::Write, token: Token) -> fmt::Result {
        self.write_lines(f, ' ', &[token])
    }

    fn display_hunk(&self, mut f: impl fmt::Write, before: &[Token], after: &[Token]) -> fmt::Result {
        self.write_lines(&mut f, '-', before)?;
        self.write_lines(f, '+', after)
    }
}
