//! JUnit XML: one suite for each file, one case for each object. Everything to read is in the content of elements, since
//! GitLab shows no attribute `message` (docs.gitlab.com/ci/testing/unit_test_reports).

use super::{CiFormat, FindingForCi};
use crate::report::review_text::kind_name_and_template;
use crate::report::{ReviewedObject, UnreadInput};
use crate::text::text_without_runner_commands;
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes a suite when the next file begins.
#[derive(Debug, Default)]
pub struct JUnit {
    suite: Suite,
}

#[derive(Debug, Default)]
struct Suite {
    file: String,
    cases: Vec<Case>,
    /// Names of cases, with their number. Of cases with equal names GitLab shows one.
    names: HashMap<String, usize>,
}

#[derive(Debug)]
struct Case {
    name: String,
    failure: String,
    output: String,
}

impl Suite {
    /// The name of a case that is not the name of another one.
    fn unique_case_name(&mut self, name: String) -> String {
        let number = self.names.entry(name.clone()).or_default();
        *number += 1;
        if *number > 1 { format!("{name} ({number})") } else { name }
    }
}

impl JUnit {
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let suite = std::mem::take(&mut self.suite);
        if suite.cases.is_empty() {
            return Ok(());
        }
        let file = escaped_attribute(&suite.file);
        let failures = suite.cases.iter().filter(|case| !case.failure.is_empty()).count();
        let tests = suite.cases.len();
        writeln!(
            out,
            "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">"
        )?;
        for Case { name, failure, output } in &suite.cases {
            write!(
                out,
                "    <testcase classname=\"{file}\" name=\"{}\" file=\"{file}\" time=\"0\"",
                escaped_attribute(name)
            )?;
            if failure.is_empty() && output.is_empty() {
                writeln!(out, "/>")?;
                continue;
            }
            writeln!(out, ">")?;
            if !failure.is_empty() {
                let first = failure.lines().next().unwrap_or_default();
                writeln!(
                    out,
                    "      <failure message=\"{}\" type=\"finding\">{}</failure>",
                    escaped_attribute(first),
                    escaped(failure)
                )?;
            }
            if !output.is_empty() {
                writeln!(out, "      <system-out>{}</system-out>", escaped(output))?;
            }
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")
    }
}

impl CiFormat for JUnit {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fabric-admission\">")
    }

    fn add_reviewed_object(
        &mut self,
        out: &mut dyn Write,
        file: &str,
        r: &ReviewedObject,
        issues: &[FindingForCi<'_>],
    ) -> io::Result<()> {
        if self.suite.file != file {
            self.flush(out)?;
            self.suite.file = file.to_owned();
        }
        let (mut failure, mut output) = (String::new(), String::new());
        let shown = text_without_runner_commands(file);
        for issue in issues {
            let (finding, region) = (issue.finding, issue.region);
            let text = format!(
                "{} {} {shown}:{}:{} {}",
                finding.severity,
                finding.rule,
                region.line,
                region.column,
                issue.message_and_fix()
            );
            let text = text.lines().map(text_without_runner_commands);
            let of_case = if issue.fails { &mut failure } else { &mut output };
            text.for_each(|line| *of_case += &format!("{line}\n"));
        }
        let name = self.suite.unique_case_name(kind_name_and_template(r));
        self.suite.cases.push(Case { name, failure, output });
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, unread: &[UnreadInput]) -> io::Result<()> {
        self.flush(out)?;
        if !unread.is_empty() {
            let errors = unread.len();
            writeln!(
                out,
                "  <testsuite name=\"unreadable inputs\" tests=\"{errors}\" failures=\"0\" errors=\"{errors}\" skipped=\"0\">"
            )?;
            for UnreadInput { file, line, column, message } in unread {
                let place = format!("{line}:{column}");
                let name = escaped_attribute(&self.suite.unique_case_name(format!("{file}:{place}")));
                let file = escaped_attribute(file);
                writeln!(
                    out,
                    "    <testcase classname=\"unreadable inputs\" name=\"{name}\" file=\"{file}\" time=\"0\">"
                )?;
                let text = escaped(&text_without_runner_commands(&format!("{place} {message}")));
                writeln!(
                    out,
                    "      <error message=\"{}\" type=\"input\">{text}\nThe result is partial.</error>",
                    escaped_attribute(message)
                )?;
                writeln!(out, "    </testcase>")?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")
    }
}

/// Text of an attribute in double quotes. Line breaks and other control characters are escaped as in text: the file may be
/// shown in a log.
#[must_use]
pub fn escaped_attribute(text: &str) -> String {
    escaped(&text_without_runner_commands(text))
}

/// Text of an element. XML 1.0 has no way to write most control characters.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("a<b>&\"c\"\t\u{1b}]]>\n"), "a&lt;b&gt;&amp;&quot;c&quot;&#9;\u{fffd}]]&gt;\n");
    }
}
