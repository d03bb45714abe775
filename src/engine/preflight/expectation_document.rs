//! What the profile expects of the pod: a small JSON document in an environment variable, which the webhook writes and
//! `preflight` reads. Both may be of different releases, so the document has a version.

pub use crate::nccl::Transport;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The environment variable that holds the document.
pub const VARIABLE: &str = "FABRIC_ADMISSION_EXPECT";

/// The version that this release reads and writes.
pub const VERSION: u32 = 1;

/// Longest document that is read (bytes).
const LONGEST: usize = 64 << 10;

/// What a profile expects. Every field is optional: a check without an expectation judges by general facts only, or is
/// unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expectation {
    /// Version of the form, see [`VERSION`].
    pub v: u32,
    /// Profile and fingerprint, as `NAME@HASH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Transport of NCCL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Number of RDMA devices that the pod can use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<u32>,
    /// Interfaces of the rails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<String>,
    /// Number of GPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// Least rate of a port (Gbit/s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// Least size of /dev/shm (bytes).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm: Option<u64>,
    /// Policy by id of a check.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, Policy>,
    /// Policy for all other checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Policy>,
    /// Path of the `nccl.conf` to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<String>,
    /// Path of the `facts.json` to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
    /// Lines of `nccl.conf` that the profile sets, each as `NAME=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conf: Vec<String>,
    /// Peers to reach, each as `HOST:PORT`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<String>,
}

/// What a failed check does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The check fails, and the pod does not start.
    Fail,
    /// The check only warns.
    Warn,
    /// The check does not run. Profiles use this word too: YAML 1.1 makes a boolean of `off`.
    Skip,
}

impl Expectation {
    /// Reads a document. Fields of later releases are ignored.
    ///
    /// # Errors
    /// A document that is not JSON, is too long, has a field of another type, or has another version: what it expects is
    /// not known then.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("{} bytes, at most {LONGEST} are read", text.len()));
        }
        // The version first: a later form may have fields of other types.
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default)]
            v: serde_json::Value,
        }
        let Versioned { v } = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        if v.as_u64() != Some(u64::from(VERSION)) {
            return Err(format!("has version {v}; this release reads version {VERSION}"));
        }
        serde_json::from_str(text).map_err(|error| format!("cannot be decoded: {error}"))
    }

    /// The document as the webhook writes it: one line, with fields in a fixed order.
    #[must_use]
    pub fn to_text(&self) -> String {
        // A struct of texts and numbers can always be encoded.
        serde_json::to_string(&Self { v: VERSION, ..self.clone() }).unwrap_or_default()
    }

    /// The policy for a check.
    #[must_use]
    pub fn policy(&self, check: &str) -> Policy {
        self.checks.get(check).copied().or(self.default).unwrap_or(Policy::Fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_that_the_webhook_writes_is_read_back() {
        let full = Expectation {
            profile: Some("h100-roce@b89ff6ed2386045a".into()),
            transport: Some(Transport::Roce),
            devices: Some(8),
            interfaces: vec!["rail0".into()],
            checks: [("PF101".to_owned(), Policy::Warn)].into(),
            default: Some(Policy::Fail),
            conf: vec!["NCCL_IB_TC=106".into()],
            ..Expectation::default()
        };
        let text = full.to_text();
        assert_eq!(
            text,
            r#"{"v":1,"profile":"h100-roce@b89ff6ed2386045a","transport":"roce","devices":8,"interfaces":["rail0"],"checks":{"PF101":"warn"},"default":"fail","conf":["NCCL_IB_TC=106"]}"#
        );
        assert_eq!(Expectation::parse(&text), Ok(Expectation { v: 1, ..full }));
    }

    #[test]
    fn later_fields_are_ignored_and_another_version_is_an_error() {
        assert_eq!(Expectation::parse(r#"{"v":1,"gpus":8,"later":[1]}"#).unwrap().gpus, Some(8));
        for (text, words) in [
            (r#"{"v":2,"devices":"many"}"#, "has version 2; this release reads version 1"),
            ("{}", "has version null"),
            ("[]", "has version null"),
            ("", "is not JSON"),
            (r#"{"v":1,"devices":-1}"#, "cannot be decoded"),
            (r#"{"v":1,"transport":"carrier-pigeon"}"#, "cannot be decoded"),
        ] {
            let error = Expectation::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(Expectation::parse(&" ".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn a_check_without_a_policy_fails() {
        let some = Expectation::parse(r#"{"v":1,"default":"warn","checks":{"PF101":"skip"}}"#).unwrap();
        assert_eq!((some.policy("PF101"), some.policy("PF102")), (Policy::Skip, Policy::Warn));
        assert_eq!(Expectation::default().policy("PF101"), Policy::Fail);
    }
}
