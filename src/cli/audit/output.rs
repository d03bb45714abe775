//! Files that an audit reads and writes beside the cluster: results and baselines.

use super::arguments::{Format, Output};
use crate::report::audit::document::Document;
use crate::report::audit::text;
use crate::report::baseline::Baseline;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the result in one format.
pub(super) fn write(to: &Output, audit: &Document, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    match &to.file {
        None => format(to.format, audit, verbose, out),
        Some(path) => {
            // Colours are for terminals.
            let mut file: Box<dyn Write> = Box::new(BufWriter::new(File::create(path)?));
            let mut plain = anstream::StripStream::new(&mut *file);
            format(to.format, audit, verbose, &mut plain)?;
            plain.flush()
        }
    }
}

fn format(format: Format, audit: &Document, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text::write(out, audit, verbose),
        Format::Json => {
            serde_json::to_writer(&mut *out, audit)?;
            writeln!(out)
        }
    }
}

/// Reads a baseline.
pub(super) fn baseline(path: &Path) -> Result<Baseline, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{shown}: no such file{}", nearest(path)),
        _ => format!("{shown}: {error}"),
    })?;
    Baseline::read(&text).map_err(|error| format!("{shown}: {error}"))
}

/// A file of nearly the same name in the same directory.
fn nearest(path: &Path) -> String {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let near = crate::text::nearest(name, names.iter().map(String::as_str));
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// Writes a baseline, one finding a line, so that a change of the file is easy to read.
pub(super) fn write_baseline(path: &Path, baseline: &Baseline) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let head = Baseline { entries: Vec::new(), ..baseline.clone() };
    let head = serde_json::to_string(&head)?;
    let (before, after) = head.split_once("\"entries\":[").unwrap_or((&head, ""));
    write!(file, "{before}\"entries\":[")?;
    for (number, entry) in baseline.entries.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(file, "{comma}\n  {}", serde_json::to_string(entry)?)?;
    }
    writeln!(file, "{}{after}", if baseline.entries.is_empty() { "" } else { "\n" })?;
    file.flush()
}
