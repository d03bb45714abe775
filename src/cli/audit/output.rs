//! The formats of an audit.

use super::arguments::Format;
use crate::cli::create_output_file::create_output_file;
use crate::cli::output_flag::Output;
use crate::report::audit::json::AuditDocument;
use crate::report::audit::text;
use crate::report::json_without_runner_commands::write_json;
use std::io::{self, BufWriter, Write};

/// Writes the result in one format.
pub(super) fn write(
    to: &Output<Format>,
    audit: &AuditDocument,
    verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match &to.file {
        None => write_in_format(to.format, audit, verbose, out),
        Some(path) => {
            // Colours are for terminals.
            let mut file: Box<dyn Write> = Box::new(BufWriter::new(create_output_file(path)?));
            let mut plain = anstream::StripStream::new(&mut *file);
            write_in_format(to.format, audit, verbose, &mut plain)?;
            plain.flush()
        }
    }
}

fn write_in_format(
    format: Format,
    audit: &AuditDocument,
    verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(out, audit, verbose),
        Format::Json => {
            write_json(&mut *out, audit)?;
            writeln!(out)
        }
    }
}
