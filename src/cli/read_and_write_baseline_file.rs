//! Baseline files of `audit` and `review`.

use super::input::links_in_directories::why_link_of_repository_is_refused;
use crate::report::baseline_file_format::{Baseline, BaselineEntry};
use crate::report::json_without_runner_commands::json_text;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Longest file (bytes).
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a baseline.
pub(super) fn read(path: &Path) -> Result<Baseline, String> {
    let shown = path.display();
    let text = text(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{shown}: no such file{}", nearest(path)),
        _ => format!("{shown}: {error}"),
    })?;
    Baseline::parse(&text).map_err(|error| format!("{shown}: {error}"))
}

fn text(path: &Path) -> io::Result<String> {
    // A change of others may replace a baseline of a repository by a link to a device that never ends.
    if let Some(refused) = why_link_of_repository_is_refused(path) {
        return Err(io::Error::other(refused));
    }
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("a baseline has at most 256 MiB"));
    }
    Ok(text)
}

/// A file of nearly the same name in the same directory.
fn nearest(path: &Path) -> String {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return String::new() };
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let near = crate::text::nearest_if_probably_meant(name, names.iter().map(String::as_str));
    near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// Writes a baseline, one finding a line, so that a change of the file is easy to read. `head` has no entries: those of a
/// long run are never in memory at once.
pub(super) fn write(
    file: File,
    head: &Baseline,
    entries: impl Iterator<Item = BaselineEntry>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let head = json_text(head)?;
    let (before, after) = head.split_once("\"entries\":[").unwrap_or((&head, ""));
    write!(file, "{before}\"entries\":[")?;
    let mut end = "";
    for entry in entries {
        let comma = if end.is_empty() { "" } else { "," };
        write!(file, "{comma}\n  {}", json_text(&entry)?)?;
        end = "\n";
    }
    writeln!(file, "{end}{after}")?;
    file.flush()
}
