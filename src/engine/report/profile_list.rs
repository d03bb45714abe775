//! The profiles of a cluster or of files: `profiles list`, as text and JSON (`fabric-admission.dev/profiles/v1`).

use super::UnreadInput;
use super::review_text::{BOLD, DIM, YELLOW};
use super::terminal_lines::wrapped;
use crate::profile::FabricProfileStatus;
use crate::text::count_with_noun;
use crate::text::cut_without_runner_commands as shown_and_cut;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/profiles/v1";

/// The whole document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct ProfileListReport {
    /// Always `fabric-admission.dev/profiles/v1`.
    pub schema: &'static str,
    /// The profiles by name.
    pub profiles: Vec<ProfileEntry>,
    /// Errors of unreadable inputs.
    pub errors: Vec<UnreadInput>,
}

/// One profile.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileEntry {
    /// Name; null if the object has no name.
    pub name: Option<String>,
    /// Place of the object: `FILE:LINE`, `cluster`, or `built in`.
    pub source: String,
    /// Name of its base; null without one.
    pub base: Option<String>,
    /// Transport; null if the profile cannot be used.
    pub transport: Option<String>,
    /// Attachment; null if the profile cannot be used.
    pub attachment: Option<String>,
    /// Priority; null if the profile cannot be used.
    pub priority: Option<i32>,
    /// Nodes that the profile selects (count); null if no nodes are known, or if the profile selects none by label or
    /// instance type.
    pub nodes: Option<u32>,
    /// Namespaces that may use the profile (count); null if no namespaces are known.
    pub namespaces: Option<u32>,
    /// Reasons why the profile is not used, and objects that it names and that do not exist.
    pub problems: Vec<ProblemEntry>,
    /// Facts about the profile that may be intended.
    pub notes: Vec<ProblemEntry>,
}

/// A problem or a note.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProblemEntry {
    /// JSON pointer of the field.
    pub pointer: String,
    /// Place of the field: `FILE:LINE:COLUMN`; null if the object does not come from a file.
    pub place: Option<String>,
    /// The problem and the expected value, or the fact.
    pub message: String,
}

impl ProfileEntry {
    /// An entry from the status that the server would write. `place` gives the place of a field by its JSON pointer.
    #[must_use]
    pub fn new(
        (name, base, source): (Option<&str>, Option<&str>, String),
        status: FabricProfileStatus,
        place: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let entries = |list: Vec<crate::profile::Problem>| {
            let entry = |problem: crate::profile::Problem| ProblemEntry {
                place: place(&problem.pointer),
                pointer: problem.pointer,
                message: problem.message,
            };
            list.into_iter().map(entry).collect()
        };
        Self {
            name: name.map(str::to_owned),
            source,
            base: base.map(str::to_owned),
            transport: status.transport,
            attachment: status.attachment,
            priority: status.priority,
            nodes: status.matching_nodes,
            namespaces: status.matching_namespaces,
            problems: entries(status.problems),
            notes: entries(status.notes),
        }
    }
}

impl ProfileListReport {
    /// A list in the order of names.
    #[must_use]
    pub fn new(mut profiles: Vec<ProfileEntry>, errors: Vec<UnreadInput>) -> Self {
        profiles.sort_by(|a, b| (&a.name, &a.source).cmp(&(&b.name, &b.source)));
        Self { schema: SCHEMA, profiles, errors }
    }

    /// Writes a table, with the problems and notes below each profile.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_table(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        let mut rows = vec![
            ["NAME", "BASE", "TRANSPORT", "ATTACHMENT", "PRIORITY", "NODES", "NAMESPACES"].map(str::to_owned),
        ];
        rows.extend(self.profiles.iter().map(row));
        let mut widths = [0; 7];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for (at, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            if at == 0 {
                writeln!(out, "{BOLD}{}{BOLD:#}", line.trim_end())?;
                continue;
            }
            writeln!(out, "{}", line.trim_end())?;
            let Some(profile) = self.profiles.get(at - 1) else { continue };
            for problem in &profile.problems {
                write!(out, "  {YELLOW}problem{YELLOW:#} ")?;
                line_of(out, problem, width)?;
            }
            for note in &profile.notes {
                write!(out, "  {DIM}note{DIM:#}    ")?;
                line_of(out, note, width)?;
            }
        }
        let bad = self.profiles.iter().filter(|profile| !profile.problems.is_empty()).count();
        let rest = if bad == 0 { "no problems".to_owned() } else { format!("{bad} with problems") };
        writeln!(out, "\n{}, {rest}", count_with_noun(self.profiles.len(), "profile"))
    }
}

fn row(profile: &ProfileEntry) -> [String; 7] {
    let text = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), |text| shown_and_cut(text, 63));
    let number = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
    [
        profile.name.as_deref().map_or_else(|| "(no name)".to_owned(), |name| shown_and_cut(name, 63)),
        text(profile.base.as_deref()),
        text(profile.transport.as_deref()),
        text(profile.attachment.as_deref()),
        number(profile.priority.map(|n| n.to_string())),
        number(profile.nodes.map(|n| n.to_string())),
        number(profile.namespaces.map(|n| n.to_string())),
    ]
}

fn line_of(out: &mut dyn Write, problem: &ProblemEntry, width: usize) -> io::Result<()> {
    let place = problem.place.as_deref().map(|place| format!("{place} ")).unwrap_or_default();
    let text = shown_and_cut(&format!("{place}{}: {}", problem.pointer, problem.message), 2_000);
    writeln!(out, "{}", wrapped(&text, 10, 10, width))
}
