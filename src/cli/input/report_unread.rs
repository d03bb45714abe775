//! Errors and warnings about inputs that cannot be read.

use super::documents_to_objects;
use crate::manifest::Document;
use crate::report::Unread;
use crate::report::ci::log_text;
use crate::rules::inputs::REPEATED_KEY;
use std::io::{self, Write};

/// Reports facts that cannot be read.
pub(in crate::cli) fn write_unread_facts(
    problems: &documents_to_objects::Problems,
    err: &mut dyn Write,
) -> io::Result<()> {
    for fact in &problems.warnings {
        writeln!(
            err,
            "warning: {}:{}:{}: {}; the object is ignored",
            fact.file, fact.line, fact.column, fact.message
        )?;
    }
    report_unread(&problems.errors, err)
}

/// Reports what cannot be read at all, with the lines of the file.
pub(in crate::cli) fn report_unread(
    unread: &[(Unread, Option<String>)],
    err: &mut dyn Write,
) -> io::Result<()> {
    for (problem, snippet) in unread {
        let (file, message) = (log_text(&problem.file), log_text(&problem.message));
        writeln!(err, "error: {file}:{}:{}: {message}", problem.line, problem.column)?;
        if let Some(snippet) = snippet {
            writeln!(err, "{snippet}")?;
        }
    }
    Ok(())
}

/// Reports keys that are given twice, for formats without findings.
pub(in crate::cli) fn warn_of_duplicates(document: &Document, err: &mut dyn Write) -> io::Result<()> {
    for d in &document.warnings {
        writeln!(
            err,
            "warning: {}:{}:{}: {} duplicate key {:?} (first on line {}); the last value is used",
            log_text(&document.file),
            d.second.line,
            d.second.column,
            REPEATED_KEY.id,
            d.key,
            d.first.line
        )?;
    }
    Ok(())
}
