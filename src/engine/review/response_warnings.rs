//! The warnings of a response: bounded, the worst first, each once.

use super::changes_in_words::kinds_of_changes_in_words;
use super::decide_webhook_request::{Answer, WebhookEntry};
use crate::rules::{Finding, Severity, fold_by_other_object};
use crate::text::{escaped_and_cut, format_with_capacity, is_ascii_and_short};
use std::collections::HashSet;

/// Longest warning (characters). The API server cuts at 256 once all of them pass 4096
/// (k8s.io/apiserver endpoints/filters/warning.go).
const MAX_WARNING: usize = 199;
/// Most warnings of one answer.
const MAX_WARNINGS: usize = 15;
/// Most findings that are compared with each other; a hostile object has thousands, and the worst come first.
const MAX_COMPARED: usize = 200;

/// Warnings of the findings, and lines for what was or will be injected. The same finding has the same text from
/// every entry, so that the API server shows it once.
pub(super) fn warnings(outcome: &Answer) -> Vec<String> {
    let decision = &outcome.decision;
    let mut warnings = Vec::new();
    let changes = &decision.plan.changes;
    if !changes.is_empty() {
        let verb = if outcome.withheld { "would inject" } else { "injected" };
        let profile = decision.profile.as_deref().unwrap_or("?");
        let what = kinds_of_changes_in_words(changes.iter().map(|c| &c.edit));
        let words = format_args!("fabric-admission {verb} {what} (profile {profile})");
        warnings.push(line(format_with_capacity(MAX_WARNING, words)));
    }
    let to_come = injections_to_come(outcome);
    let mut findings = finding_texts(outcome).into_iter();
    let most = MAX_WARNINGS - warnings.len() - to_come.len() - 1;
    warnings.extend(findings.by_ref().take(most).map(line));
    let left = findings.count();
    if left > 0 {
        warnings.push(format!("fabric-admission: {left} more findings"));
    }
    warnings.extend(to_come);
    warnings
}

/// The findings as texts. A finding that several templates of a workload share is reported once, with the first template.
fn finding_texts(outcome: &Answer) -> Vec<String> {
    let findings = outcome.decision.findings.iter().filter(|f| f.severity >= Severity::Warning);
    let text = |f: &Finding, at: &str| format!("{}{at} {}", f.rule, f.message_and_fix_in_line());
    if outcome.templates.is_empty() && !matches!(outcome.entry, WebhookEntry::Workload(_)) {
        let more =
            |more: usize| if more == 0 { String::new() } else { format!(" and {more} more like this:") };
        return fold_by_other_object(findings).into_iter().map(|(f, n)| text(f, &more(n))).collect();
    }
    let mut groups: Vec<(&Finding, Vec<&str>)> = Vec::new();
    let templates: HashSet<&str> = outcome.templates.iter().map(|t| t.pointer.as_str()).collect();
    for finding in findings.take(MAX_COMPARED) {
        let mut around = std::iter::successors(Some(&*finding.path), |p| Some(p.rsplit_once('/')?.0));
        let place = around.find(|path| templates.contains(path)).unwrap_or(&finding.path);
        let same =
            |f: &Finding| (f.rule, &f.message, &f.fix) == (finding.rule, &finding.message, &finding.fix);
        match groups.iter_mut().find(|(first, _)| same(first)) {
            Some((_, places)) if places.contains(&place) => {}
            Some((_, places)) => places.push(place),
            None => groups.push((finding, vec![place])),
        }
    }
    let place = |places: &[&str]| match places {
        [] | [""] => String::new(),
        [one] => format!(" {one}:"),
        [first, rest @ ..] => format!(" {first} and {} more:", rest.len()),
    };
    groups.into_iter().map(|(finding, places)| text(finding, &place(&places))).collect()
}

/// What the pods of a workload will get, each text once, for at most three templates that differ.
fn injections_to_come(outcome: &Answer) -> Vec<String> {
    let verb = if outcome.withheld { "would inject" } else { "will inject" };
    let mut lines: Vec<String> = Vec::new();
    for template in &outcome.templates {
        let Some(what) = template.injection.as_ref().filter(|_| lines.len() < 3) else { continue };
        let profile = template.profile.as_deref().unwrap_or("?");
        let text = line(format!("fabric-admission {verb} {what} into its pods (profile {profile})"));
        if !lines.contains(&text) {
            lines.push(text);
        }
    }
    lines
}

fn line(text: String) -> String {
    if is_ascii_and_short(&text, MAX_WARNING - 1) {
        return text;
    }
    let text = escaped_and_cut(&text, MAX_WARNING - 1);
    if text.len() <= MAX_WARNING {
        return text;
    }
    text.chars().take(MAX_WARNING).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_short_and_printable() {
        assert!(line("é\n".repeat(500)).chars().count() <= MAX_WARNING);
        assert!(!line("a\u{1b}[31m\nb".to_owned()).contains(char::is_control));
    }
}
