//! What must hold of every review: the JSON parses, its patches apply and give what `-o yaml` shows, and the
//! result reviewed again gives no patch and the same findings.

use crate::support::{Ran, run};
use fabric_admission::manifest::{self, DocumentOrError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A review with `-o json`.
pub(crate) struct Review {
    pub(crate) ran: Ran,
    pub(crate) json: Value,
}

/// Reviews with `-o json`; `args` hold the path.
pub(crate) fn review(args: &[String], stdin: &[u8], cwd: &Path) -> Result<Review, String> {
    let mut all = vec!["review".to_owned(), "-o".to_owned(), "json".to_owned()];
    all.extend_from_slice(args);
    let ran = run(&all, stdin, cwd)?;
    let json = serde_json::from_str(&ran.stdout).map_err(|e| format!("stdout is not JSON ({e}): {ran:?}"))?;
    Ok(Review { ran, json })
}

/// The message of a finding without the note that a profile sets the value: only reports have it.
pub(crate) fn without_owner(message: &str) -> &str {
    let ours = message.strip_prefix("with profile ").and_then(|rest| rest.split_once("\", "));
    ours.map_or(message, |(_, rest)| rest)
}

impl Review {
    /// An array of the report.
    pub(crate) fn list(&self, key: &str) -> &[Value] {
        self.json[key].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn results(&self) -> &[Value] {
        self.list("results")
    }

    /// Every finding of a result, as text to compare.
    ///
    /// Lines and columns are left out: the patched document is printed again. Paths are the same, since what is
    /// added comes after what is there.
    pub(crate) fn findings(&self) -> Vec<Vec<String>> {
        let of = |result: &Value| {
            let mut findings = result["findings"].as_array().cloned().unwrap_or_default();
            // A printed document has no key twice.
            findings.retain(|f| f["rule"] != "FAB902");
            // What the profile sets at first is in the file when it is reviewed again.
            let text = |f: &Value, key: &str| without_owner(f[key].as_str().unwrap_or("?")).to_owned();
            let one = |f: &Value| {
                ["rule", "severity", "path", "message", "fix"].map(|key| text(f, key)).join(" | ")
            };
            findings.iter().map(one).collect()
        };
        self.results().iter().map(of).collect()
    }

    /// Ids of the rules that spoke, in order.
    pub(crate) fn rules(&self) -> Vec<String> {
        let findings = self.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
        findings.filter_map(|f| f["rule"].as_str().map(str::to_owned)).collect()
    }

    /// The documents with every patch applied.
    fn patched(&self, mut documents: Vec<(usize, Value)>) -> Result<Vec<Value>, String> {
        for result in self.results() {
            let operations: json_patch::Patch = serde_json::from_value(result["patch"].clone())
                .map_err(|e| format!("a patch does not apply (RFC 6902): {e}: {}", result["patch"]))?;
            let index = result["source"]["document"].as_u64();
            let document = documents.iter_mut().find(|(i, _)| Some(*i as u64) == index);
            let (_, document) = document.ok_or_else(|| format!("no document for {}", result["source"]))?;
            let template = result["template"].as_str().unwrap_or_default();
            let pointer = format!("{}{template}", result["source"]["pointer"].as_str().unwrap_or_default());
            let object =
                document.pointer_mut(&pointer).ok_or_else(|| format!("nothing at {pointer:?} to patch"))?;
            let before = object.clone();
            json_patch::patch(object, &operations)
                .map_err(|e| format!("a patch does not apply: {e}: {}", result["patch"]))?;
            changes_point_at_what_changed(result, &before, object)?;
        }
        Ok(documents.into_iter().map(|(_, json)| json).collect())
    }
}

/// Each change of a result names a place of its own, where the patched object has something new.
fn changes_point_at_what_changed(result: &Value, before: &Value, after: &Value) -> Result<(), String> {
    let changes = result["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut seen = BTreeSet::new();
    for change in changes {
        let path = change["path"].as_str().unwrap_or_default();
        let value = after.pointer(path).ok_or_else(|| format!("nothing at the path of {change}"))?;
        if before.pointer(path) == Some(value) || !seen.insert(path) {
            return Err(format!("{change} names a value that something else has set: {value}"));
        }
    }
    Ok(())
}

/// Documents of a stream with their numbers; those that cannot be read are left out.
pub(crate) fn documents(bytes: &[u8]) -> Vec<(usize, Value)> {
    let items = manifest::read_documents_of_file("input", bytes).into_iter();
    items
        .filter_map(|item| match item {
            DocumentOrError::Document(d) => {
                Some((d.index, serde_json::from_str(d.json.get()).unwrap_or_default()))
            }
            DocumentOrError::Error(_) | DocumentOrError::Empty { .. } => None,
        })
        .collect()
}

/// Checks a review and its way back. Returns the review and the output of `-o yaml`.
pub(crate) fn check(args: &[String], path: &str, cwd: &Path) -> Result<(Review, String), String> {
    let with = |path: &str| [args, &[path.to_owned()]].concat();
    let first = review(&with(path), b"", cwd)?;
    let mut yaml_args = vec!["review".to_owned(), "-o".to_owned(), "yaml".to_owned()];
    yaml_args.extend(with(path));
    let yaml = run(&yaml_args, b"", cwd)?;
    same("exit code of -o yaml", first.ran.code, yaml.code)?;

    let bytes = std::fs::read(cwd.join(path)).map_err(|e| format!("{path}: {e}"))?;
    let patched = first.patched(documents(&bytes))?;
    let shown: Vec<Value> = documents(yaml.stdout.as_bytes()).into_iter().map(|(_, json)| json).collect();
    same("documents of -o yaml", patched.len(), shown.len())?;
    for (patched, shown) in patched.iter().zip(&shown) {
        if patched != shown {
            return Err(format!(
                "-o yaml shows another object than the patch gives:\n{patched:#}\n{shown:#}"
            ));
        }
    }

    let second = review(&with("-"), yaml.stdout.as_bytes(), cwd)?;
    if let Some(result) = second.results().iter().find(|r| r["patch"] != Value::Array(Vec::new())) {
        return Err(format!("reviewed again, the result is patched again: {}", result["patch"]));
    }
    same("findings of the second review", first.findings(), second.findings())?;
    if first.list("errors").is_empty() {
        same("exit code of the second review", first.ran.code, second.ran.code)?;
    }
    Ok((first, yaml.stdout))
}

/// Fails where two values differ.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, actual: T) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    Err(format!("{what}:\n  expected {expected:#?}\n  actual   {actual:#?}"))
}
