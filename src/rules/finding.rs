//! What a rule says about an object.

use super::Meta;
use crate::text::printable;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Usually wrong, or wrong in a way that depends on what cannot be seen.
    Warning,
    /// Cannot work; denied where the mode is enforce.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A place inside of a text field, both counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Line of the text.
    pub line: u32,
    /// Column in that line.
    pub column: u32,
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// How bad it is here.
    pub severity: Severity,
    /// JSON pointer of the value it is about.
    pub path: String,
    /// Where in the text of that value, where it is about a part of it.
    pub spot: Option<Spot>,
    /// What is wrong and what it leads to.
    pub message: String,
    /// What to do.
    pub fix: String,
}

/// Takes the findings of one rule.
#[derive(Debug)]
pub struct Findings<'a> {
    meta: &'static Meta,
    out: &'a mut Vec<Finding>,
}

/// Longest message and fix (characters). Texts may quote what a user wrote.
const MAX_TEXT: usize = 300;
/// Findings of one rule on one object; a pod may have a thousand containers.
pub(crate) const MAX_PER_RULE: usize = 50;

impl<'a> Findings<'a> {
    /// Findings of one rule, collected into `out`.
    pub fn new(meta: &'static Meta, out: &'a mut Vec<Finding>) -> Self {
        Self { meta, out }
    }

    /// A finding of the rule's own severity.
    pub fn add(&mut self, path: impl Into<String>, message: impl AsRef<str>, fix: impl AsRef<str>) {
        self.add_as(self.meta.severity, path, message, fix);
    }

    /// A finding of a lesser severity than the rule's.
    pub fn add_as(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        self.put(severity, path.into(), None, message.as_ref(), fix.as_ref());
    }

    /// A finding of the rule's own severity about a place inside of a text field.
    pub fn add_within(
        &mut self,
        path: impl Into<String>,
        spot: Spot,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        self.add_within_as(self.meta.severity, path, spot, message, fix);
    }

    /// The same of a lesser severity.
    pub fn add_within_as(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        spot: Spot,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        self.put(severity, path.into(), Some(spot), message.as_ref(), fix.as_ref());
    }

    fn put(&mut self, severity: Severity, path: String, spot: Option<Spot>, message: &str, fix: &str) {
        let id = self.meta.id;
        if self.out.iter().rev().take_while(|f| f.rule == id).count() >= MAX_PER_RULE {
            return;
        }
        self.out.push(Finding {
            rule: id,
            severity: severity.min(self.meta.severity),
            path,
            spot,
            message: printable(message, MAX_TEXT),
            fix: printable(fix, MAX_TEXT),
        });
    }
}
