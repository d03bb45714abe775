//! GitLab's Code Quality report (docs.gitlab.com/ci/testing/code_quality).

use super::{CiFormat, FindingForCi};
use crate::report::json_without_runner_commands::write_json;
use crate::report::{ReviewedObject, UnreadInput};
use crate::rules::Severity;
use serde::Serialize;
use std::io::{self, Write};

/// Writes the report: one array.
#[derive(Debug, Default)]
pub struct GitLab {
    begun: bool,
}

#[derive(Serialize)]
struct CodeQualityEntry<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Begin,
}

#[derive(Serialize)]
struct Begin {
    begin: u32,
}

impl GitLab {
    fn write(&mut self, out: &mut dyn Write, entry: &CodeQualityEntry<'_>) -> io::Result<()> {
        out.write_all(if self.begun { b",\n" } else { b"\n" })?;
        self.begun = true;
        write_json(out, entry)
    }
}

impl CiFormat for GitLab {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "[")
    }

    fn add_reviewed_object(
        &mut self,
        out: &mut dyn Write,
        file: &str,
        _: &ReviewedObject,
        issues: &[FindingForCi<'_>],
    ) -> io::Result<()> {
        for issue in issues {
            let severity = match issue.severity() {
                Severity::Error => "critical",
                Severity::Warning => "minor",
                Severity::Info => "info",
            };
            self.write(
                out,
                &CodeQualityEntry {
                    description: issue.message_and_fix().replace('\n', " "),
                    check_name: issue.finding.rule,
                    fingerprint: &issue.fingerprint,
                    severity,
                    location: Location { path: file, lines: Begin { begin: issue.region.line } },
                },
            )?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, unread: &[UnreadInput]) -> io::Result<()> {
        for UnreadInput { file, line, column, message } in unread {
            self.write(
                out,
                &CodeQualityEntry {
                    description: format!("The input could not be read, so the report is partial: {message}"),
                    check_name: "unreadable-input",
                    // A cluster has one place for all kinds that may not be read.
                    fingerprint: &format!("unreadable:{file}:{line}:{column}:{message}"),
                    severity: "blocker",
                    location: Location { path: file, lines: Begin { begin: *line } },
                },
            )?;
        }
        writeln!(out, "\n]")
    }
}
