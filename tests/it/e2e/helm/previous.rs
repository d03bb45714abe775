//! A chart as a release before this one could have had it. There has been no release yet: the chart of today with an older
//! version, another port, and a CRD that lacks a column and a field. After the first release, a copy of that release's
//! chart belongs here.

use crate::support::Scratch;
use crate::support::helm::chart;
use crate::support::read;
use std::path::{Path, PathBuf};

/// What the CRD of this version has and the previous one has not.
pub(super) const COLUMN: &str =
    "    - jsonPath: .status.matchingNodes\n      name: Nodes\n      type: integer\n";

/// Writes it to a directory.
pub(super) fn write(scratch: &Scratch) -> Result<PathBuf, String> {
    copy(&chart(), scratch, "previous")?;
    edit(scratch, "Chart.yaml", &format!("version: {}\n", env!("CARGO_PKG_VERSION")), "version: 0.0.9\n")?;
    edit(scratch, "values.yaml", "\nport: 10250\n", "\nport: 8443\n")?;
    edit(scratch, "files/fabricprofiles.yaml", COLUMN, "")?;
    Ok(scratch.path().join("previous"))
}

fn edit(scratch: &Scratch, file: &str, from: &str, to: &str) -> Result<(), String> {
    let file = format!("previous/{file}");
    let text = read(&scratch.path().join(&file))?;
    if !text.contains(from) {
        return Err(format!("{file} has no {from:?}"));
    }
    scratch.write(&file, text.replace(from, to))
}

fn copy(from: &Path, scratch: &Scratch, to: &str) -> Result<(), String> {
    for name in crate::support::names(from) {
        let (path, to) = (from.join(&name), format!("{to}/{name}"));
        if path.is_dir() {
            copy(&path, scratch, &to)?;
        } else {
            scratch.write(&to, std::fs::read(&path).map_err(|e| e.to_string())?)?;
        }
    }
    Ok(())
}
