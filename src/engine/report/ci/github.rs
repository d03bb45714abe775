//! GitHub's workflow commands: lines of a step's log that become annotations of a pull request.

use super::{CiFormat, FindingForCi};
use crate::report::baseline_comparison_while_reviewing::BaselineState;
use crate::report::review_text::kind_name_and_template;
use crate::report::{ReviewedObject, UnreadInput};
use crate::rules::Severity;
use crate::text::{count_with_noun, escaped_and_cut, is_unprintable};
use crate::text::{text_without_runner_commands, without_commands_inside_lines};
use std::io::{self, Write};

/// Annotations of each level that a step shows. GitHub drops further ones silently (actions/toolkit, docs/problem-matchers.md).
const MAX_ANNOTATIONS_PER_LEVEL: usize = 10;

/// Writes commands up to the limit, and plain lines beyond it.
#[derive(Debug, Default)]
pub struct GitHub {
    errors: AnnotationsOfLevel,
    warnings: AnnotationsOfLevel,
    notices: AnnotationsOfLevel,
}

/// The annotations of one level.
#[derive(Debug, Default)]
struct AnnotationsOfLevel {
    count: usize,
    /// The last one that fits, while it is not known whether more follow: then a count takes its place.
    last: Option<String>,
}

impl AnnotationsOfLevel {
    fn write_annotation_or_hold_last(
        &mut self,
        out: &mut dyn Write,
        command: String,
        plain: &str,
    ) -> io::Result<()> {
        self.count += 1;
        if self.count < MAX_ANNOTATIONS_PER_LEVEL {
            return writeln!(out, "{command}");
        }
        if self.count == MAX_ANNOTATIONS_PER_LEVEL {
            self.last = Some(command);
        }
        writeln!(out, "{}", text_without_runner_commands(plain))
    }

    fn write_count_beyond_limit(&self, out: &mut dyn Write, name: &str, noun: &str) -> io::Result<()> {
        match &self.last {
            Some(last) if self.count == MAX_ANNOTATIONS_PER_LEVEL => writeln!(out, "{last}"),
            Some(_) => {
                let more = count_with_noun(self.count + 1 - MAX_ANNOTATIONS_PER_LEVEL, noun);
                writeln!(
                    out,
                    "::{name} title=fabric-admission::{more} more; the log of this step has all of them"
                )
            }
            None => Ok(()),
        }
    }
}

/// Text of a command. The runner shows it, so control characters other than line breaks are escaped as in text, and commands
/// inside of it are broken: other runners read them at any place of a line.
#[must_use]
pub fn escape_command_data(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            c if is_unprintable(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    without_commands_inside_lines(&out, " #")
}

/// A property of a command.
#[must_use]
pub fn escape_command_property(text: &str) -> String {
    escape_command_data(text).replace(':', "%3A").replace(',', "%2C")
}

/// An annotation of a pull request.
#[derive(Debug)]
pub struct Annotation<'a> {
    /// Level.
    pub severity: Severity,
    /// File.
    pub file: &'a str,
    /// `line=1`, and more properties of the place.
    pub place: String,
    /// First line of the annotation.
    pub title: &'a str,
}

impl Annotation<'_> {
    /// The name of its level in a command.
    fn name(&self) -> &'static str {
        match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        }
    }
}

impl GitHub {
    /// Writes an annotation, or beyond the limit a plain line that begins with the level and `plain`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_annotation_or_plain_line(
        &mut self,
        out: &mut dyn Write,
        annotation: &Annotation<'_>,
        plain: &str,
        text: &str,
    ) -> io::Result<()> {
        let name = annotation.name();
        let level = match annotation.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Info => &mut self.notices,
        };
        let (at, title) =
            (escape_command_property(annotation.file), escape_command_property(annotation.title));
        let command =
            format!("::{name} file={at},{},title={title}::{}", annotation.place, escape_command_data(text));
        level.write_annotation_or_hold_last(
            out,
            command,
            &format!("{name} {plain} {}", text.replace('\n', " ")),
        )
    }
}

impl CiFormat for GitHub {
    fn add_reviewed_object(
        &mut self,
        out: &mut dyn Write,
        file: &str,
        r: &ReviewedObject,
        issues: &[FindingForCi<'_>],
    ) -> io::Result<()> {
        for issue in issues {
            let (rule, region) = (issue.finding.rule, issue.region);
            let (line, column, end) = (region.line, region.column, region.end_column);
            let title = format!("{rule} {}", kind_name_and_template(r));
            let at = Annotation {
                severity: issue.severity(),
                file,
                place: format!("line={line},endLine={line},col={column},endColumn={end}"),
                title: &title,
            };
            // The file's own name may have line breaks, which stay as escapes.
            let plain = format!("{rule} {}:{line}:{column}", escaped_and_cut(file, usize::MAX));
            // Annotations are few: those of the baseline would take the place of new ones.
            if issue.baseline == Some(BaselineState::Unchanged) {
                let name = at.name();
                writeln!(
                    out,
                    "{}",
                    text_without_runner_commands(&format!(
                        "{name} {plain} {}",
                        issue.message_and_fix().replace('\n', " ")
                    ))
                )?;
            } else {
                self.write_annotation_or_plain_line(out, &at, &plain, &issue.message_and_fix())?;
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, unread: &[UnreadInput]) -> io::Result<()> {
        for UnreadInput { file, line, column, message } in unread {
            let text = format!("the input could not be read, so the result is partial: {message}");
            let command = format!(
                "::error file={},line={line},col={column}::{}",
                escape_command_property(file),
                escape_command_data(&text)
            );
            self.errors.write_annotation_or_hold_last(
                out,
                command,
                &format!("error {file}:{line}:{column} {text}"),
            )?;
        }
        self.errors.write_count_beyond_limit(out, "error", "error")?;
        self.warnings.write_count_beyond_limit(out, "warning", "warning")?;
        self.notices.write_count_beyond_limit(out, "notice", "notice")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_manifest_starts_no_command() {
        assert_eq!(escape_command_data("100%\r\n::error::x"), "100%25%0D%0A::error::x");
        assert_eq!(escape_command_data("\u{1b}[2J\u{202e}"), "\\u{1b}[2J\\u{202e}");
        assert_eq!(escape_command_data("a ##vso[b] ##[c]"), "a # #vso[b] # #[c]");
        assert_eq!(escape_command_property("a:b,c%"), "a%3Ab%2Cc%25");
        let mut out = Vec::new();
        let mut level = AnnotationsOfLevel { count: MAX_ANNOTATIONS_PER_LEVEL, last: Some(String::new()) };
        level.write_annotation_or_hold_last(&mut out, String::new(), "error a ##[add-path]/tmp").unwrap();
        level
            .write_annotation_or_hold_last(&mut out, String::new(), "error m\r\n::add-mask::x:1:1 text")
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "error a # #[add-path]/tmp\nerror m\\r\\n::add-mask::x:1:1 text\n");
    }

    #[test]
    fn the_last_annotation_counts_those_that_do_not_fit() {
        for (number, last) in
            [(9, "::error::9"), (10, "::error::10"), (12, "::error title=fabric-admission::3 errors more")]
        {
            let (mut level, mut out) = (AnnotationsOfLevel::default(), Vec::new());
            for at in 1..=number {
                level.write_annotation_or_hold_last(&mut out, format!("::error::{at}"), "plain").unwrap();
            }
            level.write_count_beyond_limit(&mut out, "error", "error").unwrap();
            let text = String::from_utf8(out).unwrap();
            let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("::")).collect();
            assert_eq!(commands.len(), number.min(MAX_ANNOTATIONS_PER_LEVEL));
            assert!(commands.last().unwrap().starts_with(last), "{text}");
        }
    }
}
