//! Denied objects on stderr, for formats without findings: an object without a patch must not look like one that fits.

use crate::cli::review::document_results::DocumentReview;
use crate::cli::review::output_format::Format;
use crate::report::review_text;
use crate::report::source_line_snippet::LinesOfFile;
use crate::rules::Severity;
use std::io::{self, Write};

/// Names the denied objects, with the errors that deny them.
pub(super) fn write_denied_objects(
    err: &mut dyn Write,
    format: Format,
    review: &DocumentReview,
    width: usize,
    lines: &LinesOfFile<'_>,
) -> io::Result<()> {
    for r in review.results.iter().filter(|r| r.decision.denied) {
        let errors = || r.findings.iter().filter(|f| f.item.severity == Severity::Error);
        let mut rules: Vec<&str> = Vec::new();
        for found in errors() {
            if !rules.contains(&found.item.rule) {
                rules.push(found.item.rule);
            }
        }
        let rules = match rules.as_slice() {
            [] if !r.waived.is_empty() => "a finding that the configuration ignores".to_owned(),
            [] => "a finding reported with an earlier object".to_owned(),
            rules => rules.join(", "),
        };
        let consequence = match format {
            Format::Yaml => "the object is printed unchanged",
            Format::Diff => "no diff is printed for the object",
            _ => "no patch is printed for the object",
        };
        writeln!(
            err,
            "denied: {}: {} by {rules}; {consequence}",
            review_text::file_and_line(r),
            review_text::kind_name_and_template(r)
        )?;
        for found in errors() {
            review_text::write_finding(err, &r.decision, found, width, Some(lines))?;
        }
    }
    Ok(())
}
