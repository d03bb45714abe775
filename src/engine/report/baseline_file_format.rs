//! A baseline: the findings of an earlier run, by their fingerprints, and how far that run could see
//! (`fabric-admission.dev/baseline/v1`).

use super::finding_identity_for_baselines::FindingIdentity;
use crate::rules::{RULES, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/baseline/v1";

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    /// Always `fabric-admission.dev/baseline/v1`.
    pub schema: String,
    /// Version of fabric-admission that wrote the file.
    pub tool_version: String,
    /// Ids of the rules of that version.
    pub rules: BTreeSet<String>,
    /// What that run could read.
    pub coverage: Coverage,
    /// Findings.
    pub entries: Vec<BaselineEntry>,
}

/// How far a run could see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The only namespace; null for all namespaces.
    pub namespace: Option<String>,
    /// Kinds that could not be read.
    pub gaps: BTreeSet<KindNotRead>,
}

/// A kind that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Unseen")]
pub struct KindNotRead {
    /// API group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct BaselineEntry {
    /// Its identity.
    #[serde(flatten)]
    pub fingerprint: FindingIdentity,
    /// `error`, `warning` or `info`. Not part of the identity.
    pub severity: String,
    /// Findings with this identity.
    pub count: usize,
}

/// Why a file is not a baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// Not JSON, or a field of another type.
    #[error("not a baseline: {0}")]
    Json(String),
    /// JSON of something else.
    #[error("not a baseline of fabric-admission: {found}; expected \"schema\": \"{SCHEMA}\"{hint}")]
    Other {
        /// The schema that the file has.
        found: String,
        /// What the file may be instead.
        hint: &'static str,
    },
}

#[derive(Deserialize)]
struct Headed {
    schema: Option<String>,
}

/// What to write where the output of a command was given.
const OUTPUT: &str = ". This is the output of a command; write a baseline with --write-baseline FILE";
const VERSION: &str = ". The file is of another version; write a new baseline with --write-baseline FILE";

impl Baseline {
    /// The baseline of a run.
    #[must_use]
    pub fn new(tool_version: &str, coverage: Coverage, mut entries: Vec<BaselineEntry>) -> Self {
        entries.sort();
        Self {
            schema: SCHEMA.to_owned(),
            tool_version: tool_version.to_owned(),
            rules: ids_of_all_rules(),
            coverage,
            entries,
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`BaselineError`] says what the file is instead.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let json = |e: serde_json::Error| BaselineError::Json(e.to_string());
        let head: Headed = serde_json::from_str(text).map_err(json)?;
        match head.schema.as_deref() {
            Some(SCHEMA) => serde_json::from_str(text).map_err(json),
            None => Err(BaselineError::Other { found: "the file has no \"schema\"".to_owned(), hint: "" }),
            Some(other) => {
                let found = format!("\"schema\" is {:?}", crate::text::escaped_and_cut(other, 80));
                let hint = match other.rsplit_once('/').map_or(other, |(name, _)| name) {
                    "fabric-admission.dev/audit" | "fabric-admission.dev/review" => OUTPUT,
                    "fabric-admission.dev/baseline" => VERSION,
                    _ => "",
                };
                Err(BaselineError::Other { found, hint })
            }
        }
    }
}

/// Ids of all rules.
#[must_use]
pub fn ids_of_all_rules() -> BTreeSet<String> {
    RULES.iter().map(|rule| rule.id.to_owned()).collect()
}

/// The severity by its name.
#[must_use]
pub fn severity_by_name(name: &str) -> Option<Severity> {
    [Severity::Info, Severity::Warning, Severity::Error].into_iter().find(|s| s.to_string() == name)
}
