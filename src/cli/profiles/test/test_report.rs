//! Results of the cases in three formats.

use super::case::{Case, CaseOutcome};
use crate::report::ci::{
    command_property, command_text, text_without_runner_commands, xml_attribute, xml_text,
};
use crate::text::count_with_noun;
use clap::ValueEnum;
use std::io::{self, Write};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal or a CI log
    Text,
    /// JUnit XML
    Junit,
    /// Text, with GitHub workflow commands for the cases that fail
    Github,
}

pub(super) fn write(format: Format, results: &[(Case, CaseOutcome)], out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => write_text(results, out),
        Format::Junit => write_junit(results, out),
        Format::Github => {
            write_text(results, out)?;
            write_github(results, out)
        }
    }
}

fn write_text(results: &[(Case, CaseOutcome)], out: &mut dyn Write) -> io::Result<()> {
    for (case, outcome) in results {
        let name = text_without_runner_commands(&case.input.display().to_string());
        match outcome {
            CaseOutcome::Same => writeln!(out, "ok      {name}")?,
            CaseOutcome::Written => writeln!(
                out,
                "written {}",
                text_without_runner_commands(&case.expected.display().to_string())
            )?,
            CaseOutcome::Different(difference) => write!(out, "FAILED  {name}\n{difference}")?,
            CaseOutcome::Unreadable(_) => writeln!(out, "ERROR   {name}")?,
        }
    }
    let number = |is: fn(&CaseOutcome) -> bool| results.iter().filter(|(_, outcome)| is(outcome)).count();
    let failed = number(|outcome| matches!(outcome, CaseOutcome::Different(_)));
    let unreadable = number(|outcome| matches!(outcome, CaseOutcome::Unreadable(_)));
    let written = number(|outcome| matches!(outcome, CaseOutcome::Written));
    write!(out, "\n{}, {failed} failed", count_with_noun(results.len(), "case"))?;
    for (number, what) in [(unreadable, "unreadable"), (written, "written")] {
        if number > 0 {
            write!(out, ", {number} {what}")?;
        }
    }
    writeln!(out)
}

fn write_junit(results: &[(Case, CaseOutcome)], out: &mut dyn Write) -> io::Result<()> {
    let number = |is: fn(&CaseOutcome) -> bool| results.iter().filter(|(_, outcome)| is(outcome)).count();
    let failures = number(|outcome| matches!(outcome, CaseOutcome::Different(_)));
    let errors = number(|outcome| matches!(outcome, CaseOutcome::Unreadable(_)));
    let name = "fabric-admission profiles test";
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\">")?;
    let tests = results.len();
    writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\">"
    )?;
    for (case, outcome) in results {
        let file = xml_attribute(&case.input.display().to_string());
        write!(out, "    <testcase classname=\"{name}\" name=\"{file}\" file=\"{file}\" time=\"0\"")?;
        let (element, kind, message, content) = match outcome {
            CaseOutcome::Same | CaseOutcome::Written => {
                writeln!(out, "/>")?;
                continue;
            }
            CaseOutcome::Different(text) => {
                ("failure", "difference", "the results differ from the expectation", text)
            }
            CaseOutcome::Unreadable(text) => {
                ("error", "input", "the case cannot be read", &text_without_runner_commands(text))
            }
        };
        let content = xml_text(content);
        writeln!(out, ">\n      <{element} message=\"{message}\" type=\"{kind}\">{content}</{element}>")?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

fn write_github(results: &[(Case, CaseOutcome)], out: &mut dyn Write) -> io::Result<()> {
    for (case, outcome) in results {
        let (file, text) = match outcome {
            CaseOutcome::Same | CaseOutcome::Written => continue,
            CaseOutcome::Different(text) => (&case.expected, text),
            CaseOutcome::Unreadable(text) => (&case.input, text),
        };
        let file = command_property(&file.display().to_string());
        writeln!(out, "::error file={file},line=1,title=profiles test::{}", command_text(text))?;
    }
    Ok(())
}
