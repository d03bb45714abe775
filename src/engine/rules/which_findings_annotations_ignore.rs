//! Annotations that set findings aside, and the findings of FAB815 about such annotations. A finding that is set aside
//! stays visible with its reason, and counts for no verdict.

use super::all_rules::{RULES, find_rule};
use super::finding::{Finding, FindingsOfRule, Severity};
use super::pointers_in_pod;
use super::profiles::INEFFECTIVE_IGNORE;
use super::rule_declaration::MayBeIgnored;
use crate::decision_limits::DecisionLimits;
use crate::profile::Ignorable;
use crate::text::{count_with_noun, escaped_and_cut, nearest_if_probably_meant};

pub use crate::pod::fabric_signs::IGNORE_PREFIX;

/// Most such annotations of one object that are read. They are a tenant's text.
const MAX_IGNORED: usize = 32;
/// Longest reason that is kept (characters).
const MAX_REASON: usize = 200;

/// A finding that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// The finding.
    pub finding: Finding,
    /// The reason in the annotation.
    pub reason: String,
}

/// How far findings may be ignored, and by whose setting.
#[derive(Debug, Clone, Copy)]
pub struct HowFarFindingsMayBeIgnored<'a> {
    /// How far.
    pub ignorable: Ignorable,
    /// The profile with the setting; `None`: the cluster's setting.
    pub profile: Option<&'a str>,
}

/// Moves the findings that annotations ignore out of `findings` into the result, and adds to `findings` what is wrong
/// with those annotations (FAB815). No other finding changes.
pub fn set_aside_ignored_findings<'a>(
    annotations: impl Iterator<Item = (&'a str, &'a str)>,
    limit: HowFarFindingsMayBeIgnored<'_>,
    findings: &mut Vec<Finding>,
    deadline: &DecisionLimits<'_>,
) -> Vec<Suppressed> {
    let mut suppressed = Vec::new();
    let mut reported = Vec::new();
    let mut out = FindingsOfRule::new(INEFFECTIVE_IGNORE.id, INEFFECTIVE_IGNORE.severity, &mut reported)
        .with_reasons(INEFFECTIVE_IGNORE.lesser)
        .with_deadline(deadline);
    let mut read: Vec<&str> = Vec::new();
    let mut left = 0_usize;
    for (key, value) in annotations {
        let Some(id) = key.strip_prefix(IGNORE_PREFIX) else { continue };
        // A key given twice counts with its last value; the API server never sends one.
        if read.contains(&id) {
            continue;
        }
        if read.len() == MAX_IGNORED {
            left += 1;
            continue;
        }
        read.push(id);
        let path = pointers_in_pod::annotation(&escaped_and_cut(key, 317));
        apply_ignore_annotation(id, value, &path, limit, findings, &mut suppressed, &mut out);
    }
    if left > 0 {
        let (annotations, are) = (count_with_noun(left, "annotation"), if left == 1 { "is" } else { "are" });
        out.add(
            "/metadata/annotations",
            format!("{annotations} {IGNORE_PREFIX}* beyond the first {MAX_IGNORED} {are} not read"),
            "Remove the annotations that have no effect.",
        );
    }
    findings.append(&mut reported);
    suppressed
}

fn apply_ignore_annotation(
    id: &str,
    value: &str,
    path: &str,
    limit: HowFarFindingsMayBeIgnored<'_>,
    findings: &mut Vec<Finding>,
    suppressed: &mut Vec<Suppressed>,
    out: &mut FindingsOfRule<'_>,
) {
    let Some(rule) = find_rule(id) else {
        if !out.may_still_report(INEFFECTIVE_IGNORE.severity) {
            return;
        }
        let ids = RULES.iter().map(|rule| rule.id);
        let wanted = id.to_ascii_uppercase();
        let hint = match nearest_if_probably_meant(&wanted, out.take_names_within_budgets(&wanted, ids)) {
            Some(near) => format!("Did you mean {IGNORE_PREFIX}{near}?"),
            None => "Write an id of `fabric-admission rules list`.".to_owned(),
        };
        out.add(
            path,
            format!(
                "annotation {IGNORE_PREFIX}{} has no effect, because no rule has this id",
                escaped_and_cut(id, 40)
            ),
            hint,
        );
        return;
    };
    let id = rule.id;
    // Once for all findings: an annotation may be 256 KiB of blanks, and longer before the API server refuses it.
    let value = value.trim();
    if value.is_empty() {
        out.add(
            path,
            format!("annotation {IGNORE_PREFIX}{id} has no effect, because the annotation gives no reason"),
            "Write the reason as the value of the annotation.",
        );
        return;
    }
    let why_not = match rule.waiver {
        MayBeIgnored::Allowed => None,
        MayBeIgnored::Isolation => Some("the rule isolates namespaces"),
        MayBeIgnored::Api => Some("the API server refuses objects with this error"),
        MayBeIgnored::Itself => Some("the rule checks the annotations that ignore findings"),
        MayBeIgnored::File => Some("the rule checks the text of the file"),
    };
    if let Some(why_not) = why_not {
        out.add(
            path,
            format!("annotation {IGNORE_PREFIX}{id} has no effect: {why_not}"),
            "Correct the error, and remove the annotation.",
        );
        return;
    }
    let reason = escaped_and_cut(value, MAX_REASON);
    let (mut set_aside, mut errors) = (0_usize, false);
    findings.retain(|finding| {
        if finding.rule != id {
            return true;
        }
        if finding.severity == Severity::Error && limit.ignorable == Ignorable::Warnings {
            errors = true;
            return true;
        }
        set_aside += 1;
        suppressed.push(Suppressed { finding: finding.clone(), reason: reason.clone() });
        false
    });
    if errors {
        let (by, fix) = match limit.profile {
            Some(name) => (
                format!("profile {name:?} does not let users ignore errors"),
                format!(
                    "Fix the error, or ask the platform team for `ignorable: errors` in profile {name:?}."
                ),
            ),
            None => (
                "without a profile, users can ignore errors only if the server has option --ignorable errors"
                    .to_owned(),
                "Fix the error, or ask the platform team for `--ignorable errors`.".to_owned(),
            ),
        };
        out.add(path, format!("the errors of {id} are not ignored: {by}"), fix);
    } else if set_aside == 0 && !rule.at_one_point {
        out.add_with_severity(
            Severity::Info,
            path,
            format!("annotation {IGNORE_PREFIX}{id} has no effect: {id} reports nothing on this object"),
            "Remove the annotation, or move it to the object or pod template that has the finding.",
        );
    }
}
