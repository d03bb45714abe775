//! The result of one check.

use schemars::JsonSchema;
use serde::Serialize;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// As it should be.
    Success,
    /// Something works less well, or may fail.
    Warning,
    /// Something does not work.
    Error,
    /// Nothing is known: a right or an object is missing.
    Skipped,
}

impl Kind {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorCheckOutcome {
    /// What it found.
    pub kind: Kind,
    /// What is wrong and the consequence, or why it was skipped, or what was found.
    pub message: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

/// Most problems of one check that are named.
const SHOWN: usize = 3;

impl DoctorCheckOutcome {
    /// As it should be.
    pub(super) fn success() -> Self {
        Self { kind: Kind::Success, message: None, hint: None }
    }

    /// As it should be, with what was found.
    pub(super) fn success_with(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::success() }
    }

    /// Something may fail.
    pub(super) fn warning(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Warning, message: Some(message.into()), hint: Some(hint.into()) }
    }

    /// Something does not work.
    pub(super) fn error(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Error, ..Self::warning(message, hint) }
    }

    /// Nothing is known.
    pub(super) fn skipped(why: impl Into<String>) -> Self {
        Self { kind: Kind::Skipped, message: Some(why.into()), hint: None }
    }

    /// Nothing is known, and what would change that.
    pub(super) fn skipped_with(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::skipped(why) }
    }

    /// An error in place of a skipped check: without this check nothing is known about the installation.
    pub(super) fn error_in_place_of_skip(self) -> Self {
        let hint = "Restore the connection to the API server, or the missing right, and run doctor again."
            .to_owned();
        Self { kind: Kind::Error, hint: self.hint.filter(|hint| !hint.is_empty()).or(Some(hint)), ..self }
    }

    /// Warnings as one, or success without any.
    pub(super) fn warning_if_any(problems: &[String], hint: impl Into<String>) -> Self {
        if problems.is_empty() { Self::success() } else { Self::warning(joined(problems), hint) }
    }

    /// Errors as one, or success without any.
    pub(super) fn error_if_any(problems: &[String], hint: impl Into<String>) -> Self {
        if problems.is_empty() { Self::success() } else { Self::error(joined(problems), hint) }
    }
}

/// The first of some problems, and how many more there are.
pub(super) fn joined(problems: &[String]) -> String {
    let shown: Vec<&str> = problems.iter().take(SHOWN).map(String::as_str).collect();
    let more = problems.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", shown.join("; "))
}
