//! The examples of each rule: `bad.yaml` gives the rule's finding, `good.yaml` gives none, and no other rule has a finding
//! for either.

use crate::support::root;
use crate::support::round_trip::{Review, review, same};
use crate::support::suite::{Outcome, Suite};
use fabric_admission::rules::{RULES, Rule};
use serde_json::Value;

/// Speaks wherever no profile is named, as in most examples of other rules.
const NO_PROFILE: &str = "FAB803";

/// Whether manifests show the rule. Where none does, its declaration says why.
pub(super) fn is_shown(rule: &Rule) -> bool {
    rule.files.no_example.is_empty()
}

pub(crate) fn add(suite: &mut Suite) {
    for rule in RULES.iter().copied().filter(|rule| is_shown(rule)) {
        suite.add(format!("rules::{}::bad_example", rule.id), || example(rule, rule.files.bad, &[rule.id]));
        suite.add(format!("rules::{}::good_example", rule.id), || example(rule, rule.files.good, &[]));
    }
}

/// Reviews an example by itself. `expected`: the rules that must speak, and no other may.
fn example(rule: &Rule, manifest: &str, expected: &[&str]) -> Outcome {
    let review = review(&["-".to_owned()], manifest.as_bytes(), root())?;
    same("errors", 0, review.list("errors").len())?;
    same("stderr", "", review.ran.stderr.as_str())?;
    let mut rules = review.rules();
    rules.retain(|r| r != NO_PROFILE || rule.id == NO_PROFILE);
    rules.dedup();
    same("rules that speak", expected.iter().map(|r| (*r).to_owned()).collect(), rules)?;
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    let own = findings.filter(|f| f["rule"] == rule.id).map(|f| f["severity"].as_str().unwrap_or("?"));
    for finding in findings_of(&review, rule) {
        phrased(&finding)?;
    }
    // The example shows the rule at its loudest, which FAB803 is in the webhook only.
    let worst = rule.severity.to_string();
    if !expected.is_empty() && !own.clone().any(|s| s == worst) && rule.id != NO_PROFILE {
        return Err(
            format!("expected a finding of severity {worst}, found {:?}", own.collect::<Vec<_>>()).into()
        );
    }
    Ok(())
}

fn findings_of(review: &Review, rule: &Rule) -> Vec<Value> {
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    findings.filter(|f| f["rule"] == rule.id).cloned().collect()
}

/// A message names a subject and what is wrong with it; a fix is a sentence. Both fit into one warning.
fn phrased(finding: &Value) -> Outcome {
    let text = |key: &str| finding[key].as_str().unwrap_or_default();
    let (rule, message, fix) = (text("rule"), text("message"), text("fix"));
    let sentence = fix.starts_with(|c: char| c.is_ascii_uppercase()) && fix.ends_with(['.', '?']);
    if !sentence {
        return Err(format!("the fix is not a sentence: {fix}").into());
    }
    if message.ends_with('.') || message.is_empty() {
        return Err(format!("the message ends with a dot, or is empty: {message}").into());
    }
    let long = format!("{rule} {message}; {fix}").chars().count();
    if finding["severity"] != "info" && long >= 200 {
        return Err(format!("{long} characters, a warning has less than 200: {message}; {fix}").into());
    }
    Ok(())
}
