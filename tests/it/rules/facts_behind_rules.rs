//! Facts of the field: one small manifest each in `tests/facts-behind-rules/GROUP/`, with its source and what the review must and must
//! not report. A report of a false or missed finding becomes a file here.
//!
//! The comment at the top of a file holds, one per line:
//!
//! ```text
//! # fact: what holds, in a sentence or two (further lines until the next key belong to it)
//! # source: where it is documented or implemented, with the version
//! # flags: --profile roce-sriov --cluster {file}        (optional; {file} is this file)
//! # must: FAB357 error                                  (a finding of this rule and severity is reported)
//! # must: FAB401 warning: text that its message, fix or reason holds
//! # must not: FAB357                                    (no finding of this rule)
//! # must not: error                                     (no finding of this severity)
//! # findings: 1                                         (optional; the number of findings in all)
//! # exit: 2                                             (optional; default: 0, or 1 where a `must` is an error)
//! ```

use crate::support::round_trip;
use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root};
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file as read_manifest};
use serde_json::Value;
use std::path::PathBuf;

const SEVERITIES: [&str; 3] = ["error", "warning", "info"];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("facts_behind_rules::the_reader_refuses_what_it_cannot_check", || Ok(refuses()?));
    suite.add("facts_behind_rules::a_report_of_a_false_finding_has_what_a_test_needs", || Ok(template()?));
    for group in names(&field()) {
        for file in names(&field().join(&group)) {
            let slug = file.trim_end_matches(".yaml");
            let path = format!("{group}/{file}");
            suite.add(format!("facts_behind_rules::{group}::{slug}"), move || check(&path));
        }
    }
}

fn field() -> PathBuf {
    root().join("tests/facts-behind-rules")
}

/// What a file promises.
#[derive(Debug, Default)]
struct Promise {
    flags: Vec<String>,
    must: Vec<Expected>,
    must_not: Vec<String>,
    findings: Option<usize>,
    exit: Option<i32>,
}

/// A finding that must be reported.
#[derive(Debug)]
struct Expected {
    rule: String,
    severity: String,
    text: String,
}

impl Promise {
    fn read(text: &str, path: &str) -> Result<Self, String> {
        let mut promise = Self::default();
        let mut given = [false, false];
        for line in text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim) {
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match key {
                "fact" => given[0] = !value.is_empty(),
                "source" => given[1] = !value.is_empty(),
                "flags" => {
                    promise.flags = value.split_whitespace().map(|f| f.replace("{file}", path)).collect();
                }
                "must" => {
                    let (head, text) = value.split_once(':').unwrap_or((value, ""));
                    let (rule, severity) = head.split_once(' ').ok_or("must: expected RULE SEVERITY")?;
                    if !is_rule(rule) || !SEVERITIES.contains(&severity) {
                        return Err(format!("must: {head:?} is not RULE SEVERITY"));
                    }
                    promise.must.push(Expected {
                        rule: rule.to_owned(),
                        severity: severity.to_owned(),
                        text: text.trim().to_owned(),
                    });
                }
                "must not" => {
                    if !is_rule(value) && !SEVERITIES.contains(&value) {
                        return Err(format!("must not: {value:?} is neither a rule nor a severity"));
                    }
                    promise.must_not.push(value.to_owned());
                }
                "findings" => {
                    promise.findings = Some(value.parse().map_err(|e| format!("findings: {e}"))?);
                }
                "exit" => promise.exit = Some(value.parse().map_err(|e| format!("exit: {e}"))?),
                _ => {}
            }
        }
        match (given, promise.must.is_empty() && promise.must_not.is_empty()) {
            ([true, true], false) => Ok(promise),
            ([false, _], _) => Err("no line `# fact: …`".into()),
            ([_, false], _) => Err("no line `# source: …`".into()),
            (_, true) => Err("neither `# must: …` nor `# must not: …`".into()),
        }
    }

    fn exit(&self) -> i32 {
        self.exit.unwrap_or_else(|| i32::from(self.must.iter().any(|m| m.severity == "error")))
    }
}

fn is_rule(text: &str) -> bool {
    text.strip_prefix("FAB").is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()))
}

fn check(path: &str) -> Outcome {
    let promise = Promise::read(&read(&field().join(path))?, path)?;
    // The round trip: what is patched is reviewed again, with the same findings and an empty patch.
    let (review, _) = round_trip::check(&promise.flags, path, &field())?;
    let ran = &review.ran;
    if ran.code != promise.exit() {
        return Err(format!("exit {}, not {}: {}{}", ran.code, promise.exit(), ran.stderr, ran.stdout).into());
    }
    let findings: Vec<[&str; 5]> = review
        .results()
        .iter()
        .flat_map(|result| result["findings"].as_array().into_iter().flatten())
        .map(|f| {
            ["rule", "severity", "message", "fix", "because"].map(|key| f[key].as_str().unwrap_or_default())
        })
        .collect();
    let shown = || findings.iter().map(|f| f.join(" ")).collect::<Vec<_>>().join("\n  ");
    let mut wrong = Vec::new();
    for Expected { rule, severity, text } in &promise.must {
        if !findings.iter().any(|[r, s, texts @ ..]| {
            r == rule && s == severity && texts.iter().any(|t| t.contains(text.as_str()))
        }) {
            wrong.push(format!("not reported: {rule} {severity} {text}"));
        }
    }
    for name in &promise.must_not {
        if findings.iter().any(|[rule, severity, ..]| rule == name || severity == name) {
            wrong.push(format!("reported: {name}"));
        }
    }
    if let Some(number) = promise.findings.filter(|number| *number != findings.len()) {
        wrong.push(format!("{} findings, not {number}", findings.len()));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\nall findings:\n  {}", wrong.join("\n"), shown()).into())
    }
}

/// The form for false findings asks for the manifest, its findings and the source, as a file here has them.
fn template() -> Result<(), String> {
    let file = root().join(".github/ISSUE_TEMPLATE/false-finding.yml");
    let form = match read_manifest("false-finding.yml", read(&file)?.as_bytes()).pop() {
        Some(DocumentOrError::Document(document)) => {
            serde_json::from_str::<Value>(document.json.get()).map_err(|e| e.to_string())?
        }
        other => return Err(format!("{other:?}")),
    };
    let fields = form["body"].as_array().into_iter().flatten();
    let required: Vec<&str> = fields
        .filter(|field| field["validations"]["required"] == true)
        .filter_map(|field| field["id"].as_str())
        .collect();
    for id in ["manifest", "output", "evidence"] {
        if !required.contains(&id) {
            return Err(format!("the form does not require {id:?}, only {required:?}"));
        }
    }
    Ok(())
}

/// A typing error in a promise must not turn it into one that always holds.
fn refuses() -> Result<(), String> {
    for (text, expected) in [
        ("# source: a\n# must: FAB357 error", "no line `# fact"),
        ("# fact: a\n# must: FAB357 error", "no line `# source"),
        ("# fact: a\n# source: b\na: b", "neither"),
        ("# fact: a\n# source: b\n# must: FAB357", "expected RULE SEVERITY"),
        ("# fact: a\n# source: b\n# must: FAB35 error", "not RULE SEVERITY"),
        ("# fact: a\n# source: b\n# must not: errors", "neither a rule nor a severity"),
    ] {
        match Promise::read(text, "a") {
            Err(error) if error.contains(expected) => {}
            other => return Err(format!("{text:?}: expected {expected:?}, got {other:?}")),
        }
    }
    Ok(())
}
