//! `explain NCCL_IB_HCA`.

use crate::cli::Exit;
use crate::cli::lines_on_stderr::write_error;
use crate::nccl::{NEWEST_RELEASE_IN_TABLE, Status, Unread, Variable};
use std::io::{self, Write};

pub(super) fn explain_known_variable(v: &Variable, out: &mut dyn Write) -> io::Result<Exit> {
    let read_by = if v.family == "none" { "no library" } else { v.family };
    writeln!(out, "{} (read by {read_by}; {}; about {})\n", v.name, v.kind, v.relevance)?;
    let since = v.since.map(|s| s.strip_prefix("..").map_or(s.to_owned(), |s| format!("{s} or earlier")));
    let bounds = match v.range {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("{least} or more")),
        (None, most) => most.map(|most| format!("at most {most}")),
    };
    let status = match v.status {
        Status::Read | Status::Other => None,
        Status::Deprecated => Some("deprecated"),
        Status::Removed => Some("no longer read"),
        Status::Newer => {
            Some("documented, but only for an NCCL release that is newer than the latest known one")
        }
    };
    let ranks = v
        .uniform
        .map(|uniform| if uniform { "must have the same value" } else { "may have different values" });
    let text = |t: Option<&str>| t.map(str::to_owned);
    let listed = |t: &str| (!t.is_empty()).then(|| t.replace(',', ", "));
    for (title, value) in [
        ("Status", text(status)),
        ("Read as", text(v.reading.expected_form_in_words())),
        ("Allowed words", listed(v.values)),
        ("Bounds", bounds),
        ("Default", text(v.default)),
        ("Ranks", text(ranks)),
        ("Since", since),
        ("Until", text(v.until)),
        ("Deprecated since", text(v.deprecated)),
        ("Instead", text(v.instead)),
        ("Misspelt as", listed(v.misnames)),
    ] {
        if let Some(value) = value {
            writeln!(out, "{title:<18}{value}")?;
        }
    }
    Ok(Exit::Clean)
}

pub(super) fn explain_unread_variable(name: &str, what: Unread, err: &mut dyn Write) -> io::Result<Exit> {
    let hint = match what {
        Unread::Misname(v) | Unread::Opposite(v) | Unread::Typo(v) | Unread::Removed(v) => {
            format!("; did you mean {}?", v.name)
        }
        Unread::Unknown => String::new(),
    };
    write_error(
        err,
        format_args!("unknown variable {name:?} (known up to NCCL {NEWEST_RELEASE_IN_TABLE}){hint}"),
    )?;
    Ok(Exit::Usage)
}
