//! A finding with what CI systems ask of one: a place in a file, and a fingerprint (`fingerprints`).

use super::fingerprints::Fingerprints;
use crate::report::baseline_comparison_while_reviewing::BaselineState;
use crate::report::finding_identity_for_baselines::NamedPaths;
use crate::report::source_line_snippet::{LinesOfFile, range_of_key_or_value};
use crate::report::{Located, Place, ReviewedObject, message_with_profile_that_sets_value};
use crate::rules::{Finding, Severity};

/// A part of one line, from 1. The end column is the one behind the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Column behind the last one.
    pub end_column: u32,
}

impl Region {
    /// The key or value at a place.
    #[must_use]
    pub fn new(place: Place, lines: &LinesOfFile<'_>) -> Self {
        let Place { line, column } = place;
        let text =
            lines.line_short_enough_to_show(line).filter(|text| text.chars().count() >= column as usize);
        let length = text.map_or(1, |text| range_of_key_or_value(text, column).len());
        let end_column = column.saturating_add(u32::try_from(length).unwrap_or(1));
        Self { line, column, end_column }
    }
}

/// A finding for CI.
pub struct FindingForCi<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// Its message.
    pub message: String,
    /// Its place.
    pub region: Region,
    /// Whether it makes the command fail.
    pub fails: bool,
    /// What the baseline says about it; `None` without one.
    pub baseline: Option<BaselineState>,
    /// Its identity: the same in the next run, also if lines before it move.
    pub fingerprint: String,
}

impl<'a> FindingForCi<'a> {
    /// A finding of a result. `paths` are those of its object.
    pub fn from_finding_with_next_fingerprint(
        (r, found): (&'a ReviewedObject, &'a Located<Finding>),
        (file, paths): (&str, &NamedPaths),
        lines: &LinesOfFile<'_>,
        fails: Option<Severity>,
        fingerprints: &mut Fingerprints,
    ) -> Self {
        let finding = &found.item;
        let mut message = message_with_profile_that_sets_value(&r.decision, finding).into_owned();
        if found.repeats > 0 {
            message.push_str(&format!(" ({} more like this)", found.repeats));
        }
        if found.is_in_baseline() {
            message.push_str(" (in the baseline)");
        }
        Self {
            finding,
            message,
            region: Region::new(found.place, lines),
            fails: found.does_fail_command(fails),
            baseline: found.baseline,
            fingerprint: fingerprints.next_fingerprint(r, finding, file, paths),
        }
    }

    /// The message and the fix.
    #[must_use]
    pub fn message_and_fix(&self) -> String {
        format!("{}\nFix: {}", self.message, self.finding.fix)
    }

    /// The severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.finding.severity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::source_line_snippet::LineStarts;

    #[test]
    fn a_region_is_the_key_or_the_value() {
        let starts = LineStarts::default();
        let lines = LinesOfFile::new(b"spec:\n  isRdma: true\n", 1, &starts);
        let region = |line, column| Region::new(Place { line, column }, &lines);
        assert_eq!(region(2, 3), Region { line: 2, column: 3, end_column: 9 });
        assert_eq!(region(2, 99), Region { line: 2, column: 99, end_column: 100 });
        assert_eq!(region(9, 1), Region { line: 9, column: 1, end_column: 2 });
    }
}
