//! SARIF 2.1.0, as code scanning on GitHub reads it (docs.github.com, "SARIF support for code scanning").

use super::gzip_size_limit::Gzipped;
use super::{CiFormat, FindingForCi};
use crate::report::baseline_comparison_while_reviewing::BaselineState;
use crate::report::json_without_runner_commands::json_text;
use crate::report::review_text::kind_name_and_template;
use crate::report::terminal_lines::without_backticks;
use crate::report::{ReviewedObject, UnreadInput};
use crate::rules::{Rule, Severity, find_rule};
use crate::text::count_with_noun;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Results of a run; GitHub refuses a file with more.
const MAX_RESULTS: usize = 25_000;
/// Bytes of results after gzip. GitHub refuses a file of more than 10 MB; the rest is for the rules and the notes.
const MAX_GZIPPED_BYTES: usize = 9_000_000;
/// Errors of inputs that are listed.
const MAX_LISTED_ERRORS: usize = 100;
/// Longest description of a rule (characters).
const MAX_DESCRIPTION_CHARACTERS: usize = 1_024;

/// Collects results, so that the least severe are left out if there are too many: no more are in memory than are written.
#[derive(Debug, Default)]
pub struct Sarif {
    errors: Vec<Box<str>>,
    warnings: Vec<Box<str>>,
    notes: Vec<Box<str>>,
    left_out: usize,
    rules: BTreeSet<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found<'a> {
    rule_id: &'a str,
    level: &'static str,
    message: Value,
    locations: [Value; 1],
    partial_fingerprints: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<BaselineState>,
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// A message without links: `[text](target)` is one in any message (SARIF 2.1.0, 3.11.6), and names could have it.
fn message(text: &str) -> Value {
    json!({"text": text.replace("](", "] (")})
}

impl Sarif {
    /// Whether there is room for a result; where the file is full, a less severe result is left out for it.
    fn make_room_for_result(&mut self, severity: Severity) -> bool {
        if self.errors.len() + self.warnings.len() + self.notes.len() < MAX_RESULTS {
            return true;
        }
        let note = if severity > Severity::Info { self.notes.pop() } else { None };
        let lower = note.or_else(|| if severity > Severity::Warning { self.warnings.pop() } else { None });
        self.left_out += usize::from(lower.is_some());
        lower.is_some()
    }
}

impl CiFormat for Sarif {
    fn add_reviewed_object(
        &mut self,
        _: &mut dyn Write,
        file: &str,
        r: &ReviewedObject,
        issues: &[FindingForCi<'_>],
    ) -> io::Result<()> {
        for issue in issues {
            let (finding, region) = (issue.finding, issue.region);
            self.rules.insert(finding.rule);
            if !self.make_room_for_result(finding.severity) {
                self.left_out += 1;
                continue;
            }
            let found = Found {
                rule_id: finding.rule,
                level: level(finding.severity),
                message: message(&format!("{}: {}", kind_name_and_template(r), issue.message_and_fix())),
                locations: [json!({
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(file)},
                        "region": {
                            "startLine": region.line, "startColumn": region.column,
                            "endLine": region.line, "endColumn": region.end_column,
                        },
                    },
                    "logicalLocations": [{"fullyQualifiedName": kind_name_and_template(r), "kind": "object"}],
                })],
                // GitHub uses only the first name. A given value stays; the upload action only logs that it differs from its
                // own (github/codeql-action, src/fingerprints.ts).
                partial_fingerprints: json!({
                    "primaryLocationLineHash": issue.fingerprint, "fabricAdmission/v1": issue.fingerprint,
                }),
                baseline_state: issue.baseline,
            };
            let results = match finding.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Info => &mut self.notes,
            };
            results.push(json_text(&found)?.into_boxed_str());
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, unread: &[UnreadInput]) -> io::Result<()> {
        let all = self.errors.len() + self.warnings.len() + self.notes.len();
        let results = || self.errors.iter().chain(&self.warnings).chain(&self.notes);
        let kept =
            Gzipped::count_texts_that_fit(results().map(|result| result.as_bytes()), MAX_GZIPPED_BYTES);
        let left_out = self.left_out + all.saturating_sub(kept);
        writeln!(
            out,
            "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"results\":["
        )?;
        for (at, result) in results().take(kept).enumerate() {
            let end = if at == 0 { "" } else { ",\n" };
            write!(out, "{end}{result}")?;
        }
        let rules: Vec<Value> = self.rules.iter().filter_map(|id| find_rule(id)).map(descriptor).collect();
        let driver = json!({
            "name": "fabric-admission", "version": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"), "rules": rules,
        });
        let run = json!({
            "tool": {"driver": driver}, "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": unread.is_empty(), "toolExecutionNotifications": notes(unread, left_out),
            }],
        });
        // The results are written before the rest of the run, which depends on them.
        let rest = json_text(&run)?;
        writeln!(out, "\n],{}]}}", rest.strip_prefix('{').unwrap_or(&rest))
    }
}

/// What a reader has to know of the whole run.
fn notes(unread: &[UnreadInput], left_out: usize) -> Vec<Value> {
    let mut notes: Vec<Value> = Vec::new();
    if !unread.is_empty() {
        let text =
            format!("The result is partial: {} of unreadable inputs", count_with_noun(unread.len(), "error"));
        notes.push(json!({"level": "error", "message": {"text": text}}));
    }
    if left_out > 0 {
        let text = format!(
            "{left_out} of the least severe results are left out: code scanning accepts {MAX_RESULTS}, and 10 MB after gzip"
        );
        notes.push(json!({"level": "warning", "message": {"text": text}}));
    }
    for UnreadInput { file, line, column, message } in unread.iter().take(MAX_LISTED_ERRORS) {
        notes.push(json!({
            "level": "error", "message": self::message(&format!("{file}:{line}:{column}: {message}")),
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(file)}, "region": {"startLine": line, "startColumn": column},
            }}],
        }));
    }
    notes
}

fn descriptor(rule: &Rule) -> Value {
    let page = rule.page();
    let text = |text: &str| json!({"text": without_backticks(text).chars().take(MAX_DESCRIPTION_CHARACTERS).collect::<String>()});
    let problem = match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "recommendation",
    };
    let markdown = format!("{}\n\n{}\n\n**Fix.** {}", page.what, page.why, page.fix);
    json!({
        "id": rule.id, "shortDescription": text(&page.summary), "fullDescription": text(&page.what),
        "help": {"text": without_backticks(&format!("{} {} {}", page.what, page.why, page.fix)), "markdown": markdown},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"precision": "high", "problem.severity": problem, "tags": [rule.group()]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("a b/ü:c#d.yaml"), "a%20b/%C3%BC%3Ac%23d.yaml");
    }

    #[test]
    fn text_of_a_manifest_makes_no_link() {
        let unread = UnreadInput {
            file: "[a](https://b)".into(),
            line: 1,
            column: 2,
            message: "[c][0](https://d)".to_owned(),
        };
        let notes = notes(&[unread], 0);
        assert_eq!(notes[1]["message"], json!({"text": "[a] (https://b):1:2: [c][0] (https://d)"}));
    }

    /// 20,000 results whose texts have no pattern: after gzip they would be larger than GitHub accepts.
    #[test]
    fn the_least_severe_results_are_cut_at_the_size_that_github_accepts() {
        let mut state = 1_u64;
        let mut result = |rule: &str| {
            let mut text = String::new();
            for _ in 0..125 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(&format!("{:08x}", state >> 32));
            }
            json!({"ruleId": rule, "message": {"text": text}}).to_string().into_boxed_str()
        };
        let mut sarif = Sarif {
            warnings: (0..20_000).map(|_| result("FAB401")).collect(),
            errors: vec![result("FAB301")],
            ..Sarif::default()
        };
        let mut out = Vec::new();
        assert!(sarif.end(&mut out, &[]).is_ok());
        let gzipped = miniz_oxide::deflate::compress_to_vec(&out, 6).len();
        assert!((8_000_000..10_000_000).contains(&gzipped), "{gzipped} bytes after gzip");
        let written: Value = serde_json::from_slice(&out).unwrap_or_default();
        let run = &written["runs"][0];
        assert_eq!(run["results"][0]["ruleId"], "FAB301");
        let kept = run["results"].as_array().map_or(0, Vec::len);
        let note = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        let start = format!("{} of the least severe results are left out", 20_001 - kept);
        assert!(note.as_str().is_some_and(|note| note.starts_with(&start)), "{note}");
    }
}
