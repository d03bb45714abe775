//! Errors and warnings about inputs that cannot be read.

use super::documents_to_objects;
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::manifest::Document;
use crate::report::UnreadInput;
use crate::report::ci::text_without_runner_commands;
use crate::rules::inputs::REPEATED_KEY;
use crate::text::escaped_and_cut;
use std::io::{self, Write};

/// Reports facts that cannot be read.
pub(in crate::cli) fn write_fact_warnings_and_input_errors(
    problems: &documents_to_objects::FactProblems,
    err: &mut dyn Write,
) -> io::Result<()> {
    for fact in problems.warnings.iter().chain(&problems.unread_objects) {
        let UnreadInput { file, line, column, message } = fact;
        write_warning(err, format_args!("{file}:{line}:{column}: {message}; the object is ignored"))?;
    }
    report_unread(&problems.errors, err)
}

/// Reports what cannot be read at all, with the lines of the file.
pub(in crate::cli) fn report_unread(
    unread: &[(UnreadInput, Option<String>)],
    err: &mut dyn Write,
) -> io::Result<()> {
    for (problem, snippet) in unread {
        let UnreadInput { file, line, column, message } = problem;
        write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
        for line in snippet.iter().flat_map(|snippet| snippet.lines()) {
            writeln!(err, "{}", text_without_runner_commands(line))?;
        }
    }
    Ok(())
}

/// Keys of one document that are given twice and named, at most; the rest are counted.
const MAX_DUPLICATES: usize = 50;
/// What is shown of a key (characters).
const MAX_KEY: usize = 200;

/// Reports keys that are given twice, for formats without findings.
pub(in crate::cli) fn warn_of_duplicates(document: &Document, err: &mut dyn Write) -> io::Result<()> {
    let file = &document.file;
    for d in document.warnings.iter().take(MAX_DUPLICATES) {
        write_warning(
            err,
            format_args!(
                "{file}:{}:{}: {} duplicate key \"{}\" (first on line {}); the last value is used",
                d.second.line,
                d.second.column,
                REPEATED_KEY.id,
                escaped_and_cut(&d.key, MAX_KEY),
                d.first.line
            ),
        )?;
    }
    let more = document.warnings.len().saturating_sub(MAX_DUPLICATES);
    if more > 0 {
        write_warning(
            err,
            format_args!("{file}:{}: {} {more} more duplicate keys", document.line, REPEATED_KEY.id),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{DocumentOrError, read_documents_of_file};

    /// A document of a few kilobytes must not print megabytes.
    #[test]
    fn warnings_about_repeated_keys_are_bounded() {
        let text = format!("k: &k \"{}\"\nv: {{{}}}\n", "\\n".repeat(2000), "*k : ,".repeat(60));
        let items = read_documents_of_file("a.yaml", text.as_bytes());
        let mut out = Vec::new();
        for item in items {
            let DocumentOrError::Document(document) = item else { panic!("{item:?}") };
            warn_of_duplicates(&document, &mut out).unwrap();
        }
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.lines().count(), MAX_DUPLICATES + 1, "{out}");
        assert!(out.ends_with("warning: a.yaml:1: FAB902 9 more duplicate keys\n"), "{out}");
        assert!(out.len() < 50_000, "{} bytes", out.len());
    }
}
