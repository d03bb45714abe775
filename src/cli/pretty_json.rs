//! JSON for people.

use crate::report::json_without_runner_commands::write_indented_json;
use std::io::{self, BufWriter, Write};

/// Writes a document as indented JSON, and ends the line. Its pieces are gathered: each write to standard output may be a system call.
pub(in crate::cli) fn write_pretty_json(
    out: &mut dyn Write,
    document: &impl serde::Serialize,
) -> io::Result<()> {
    let mut gathered = BufWriter::new(out);
    write_indented_json(&mut gathered, document)?;
    writeln!(gathered)?;
    gathered.flush()
}
