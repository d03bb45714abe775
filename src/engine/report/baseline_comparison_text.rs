//! The comparison with a baseline as text.

use super::baseline_comparison::Comparison;
use super::baseline_file_format::BaselineEntry;
use super::review_text::{BOLD, GREEN, RED, YELLOW};
use crate::text::{cut_without_runner_commands as shown_and_cut, text_without_runner_commands};
use std::io::{self, Write};

/// Writes the counts, and a line for each finding that is new, resolved or incomparable.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, c: &Comparison) -> io::Result<()> {
    writeln!(
        out,
        "{BOLD}Since the baseline{BOLD:#}: {} new, {} resolved, {} unchanged, {} incomparable",
        total(&c.new),
        total(&c.resolved),
        c.unchanged,
        c.incomparable.len()
    )?;
    for (style, word, entries) in [(RED, "new     ", &c.new), (GREEN, "resolved", &c.resolved)] {
        for entry in entries {
            writeln!(out, "  {style}{word}{style:#} {}", line(entry))?;
        }
    }
    for incomparable in &c.incomparable {
        let what =
            incomparable.finding.as_ref().map(|entry| format!("{}: ", line(entry))).unwrap_or_default();
        writeln!(out, "  {YELLOW}incomparable{YELLOW:#} {what}{}", incomparable.reason)?;
    }
    Ok(())
}

fn total(entries: &[BaselineEntry]) -> usize {
    // Whoever writes the file chooses the counts.
    entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.count))
}

fn line(entry: &BaselineEntry) -> String {
    let BaselineEntry { fingerprint, severity, count } = entry;
    let object = fingerprint.object.kind_namespace_and_name();
    let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
    let (severity, rule, path) = (
        shown_and_cut(severity, 10),
        shown_and_cut(&fingerprint.rule, 20),
        shown_and_cut(&fingerprint.path, 300),
    );
    text_without_runner_commands(&format!("{severity} {rule} {object} {path}{times}"))
}

#[cfg(test)]
mod tests {
    use super::super::finding_identity_for_baselines::FindingIdentity;
    use super::*;

    #[test]
    fn counts_of_a_file_do_not_overflow() {
        let fingerprint =
            FindingIdentity { rule: String::new(), object: Default::default(), path: String::new() };
        let most = BaselineEntry { fingerprint, severity: String::new(), count: usize::MAX };
        assert_eq!(total(&[most.clone(), most]), usize::MAX);
    }
}
