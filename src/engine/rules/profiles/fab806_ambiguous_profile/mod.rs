//! FAB806: several profiles fit the pod, and nothing decides between them.

use super::misspelt_node_label;
use crate::facts::PROFILE_ANNOTATION;
use crate::plan::why_pod_itself_excludes_profile;
use crate::profile::Profile;
use crate::resolve::{AmbiguityCause, Conditions, MAX_CANDIDATES_SHOWN, Resolution, Strength};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::snapshot::Ambiguity;
use crate::text::escaped_and_cut;
use std::sync::Arc;

pub(super) static RULE: Rule = Rule {
    id: "FAB806",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, BY_FLAG),
        (Severity::Warning, OWN_DEVICES),
        (Severity::Warning, OTHER_LABEL),
        (Severity::Warning, SUSPENDED),
        (Severity::Info, UNCHANGED),
    ],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for lesser severities.
const BY_FLAG: &str = "--ambiguous=warn is set";
const OWN_DEVICES: &str = "the pod names resources or networks of several profiles";
const OTHER_LABEL: &str = "the pod requires a label that no profile selects";
const SUSPENDED: &str = "the workload is suspended, and a queue may add a nodeSelector before its pods exist";
const UNCHANGED: &str = "no profile would change the pod";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Resolution::Ambiguous { candidates, because } = context.resolution else { return };
    let mut names: Vec<&str> =
        candidates.iter().take(MAX_CANDIDATES_SHOWN).map(|p| p.name.as_str()).collect();
    let rest = candidates.len().saturating_sub(MAX_CANDIDATES_SHOWN);
    let more = format!("{rest} more");
    if rest > 0 {
        names.push(&more);
    }
    let names = names.join(", ");
    let constraints = &context.subject.constraints;
    // Anyone may know the selectors of the profiles, but not whether nodes for the pod exist.
    let for_anyone = context.subject.snapshot.is_for_anyone();
    let wrong = match because {
        AmbiguityCause::Selectors => {
            misspelt_node_label::find_misspelt_label_or_value(context, constraints, candidates)
        }
        AmbiguityCause::Nodes if for_anyone => {
            misspelt_node_label::find_misspelt_label_or_value(context, constraints, candidates)
        }
        AmbiguityCause::Nodes | AmbiguityCause::Own => None,
    };
    // Without nodes, a spelling mistake is a guess, and does not make the label one that no node can have.
    let beside = if *because == AmbiguityCause::Selectors && (wrong.is_none() || for_anyone) {
        label_that_no_profile_selects(
            context,
            &Conditions::of(
                constraints,
                (context.subject.snapshot, context.subject.namespace),
                context.deadline,
            ),
            candidates,
        )
    } else {
        None
    };
    let none = match context.subject.snapshot.nodes_for_audience().is_empty() {
        true => "no node is known",
        false => "no current node matches the pod",
    };
    let why = match (because, &wrong, &beside) {
        (AmbiguityCause::Nodes | AmbiguityCause::Selectors, None, None) if for_anyone => {
            "the pod's selectors match nodes of several profiles".to_owned()
        }
        (AmbiguityCause::Selectors, None, Some(label)) if for_anyone => {
            format!("the pod requires {label}, which no profile selects, so several profiles remain possible")
        }
        (AmbiguityCause::Nodes, ..) if !for_anyone => {
            "the pod can run on nodes of several profiles".to_owned()
        }
        (_, Some(wrong), _) => format!("{wrong} The pod's other selectors match several profiles"),
        (AmbiguityCause::Selectors, _, Some(label)) => {
            format!(
                "the pod requires {label}, but {none} and no profile selects this label, so several profiles remain possible"
            )
        }
        (AmbiguityCause::Selectors, None, None) => {
            format!("{none}, and the pod's selectors match several profiles")
        }
        (AmbiguityCause::Own | AmbiguityCause::Nodes, None, _) => {
            "the pod's resources and networks belong to several profiles".to_owned()
        }
    };
    let first = candidates.first();
    let label = first.and_then(|p| p.node_selector.as_ref()?.match_labels.iter().next());
    let selector = label.map(|(k, v)| format!(", or add nodeSelector {k}: {v}")).unwrap_or_default();
    let name = first.map_or("NAME", |p| p.name.as_str());
    let fix = match because {
        AmbiguityCause::Own => "Request the resources and networks of only one profile.".to_owned(),
        _ if wrong.is_some() => {
            format!("Correct the label. Or, for profile {name}, set annotation {PROFILE_ANNOTATION}: {name}.")
        }
        _ if beside.is_some() => format!(
            "If nodes with this label need no profile, ignore this finding. For profile {name}, set annotation {PROFILE_ANNOTATION}: {name}."
        ),
        _ => format!("For profile {name}, set annotation {PROFILE_ANNOTATION}: {name}{selector}."),
    };
    let message = format!("{why} ({names}): the webhook injects nothing");
    let (severity, reason) = match (because, context.subject.snapshot.settings().ambiguity) {
        // A pod that would get nothing from any profile loses nothing.
        _ if candidates.iter().all(|p| why_pod_itself_excludes_profile(context.pod(), p).is_some()) => {
            (Severity::Info, UNCHANGED)
        }
        (AmbiguityCause::Own, _) => (Severity::Warning, OWN_DEVICES),
        (_, Ambiguity::Warn) => (Severity::Warning, BY_FLAG),
        // Its nodes may be of no profile, and then it works as it is: it did while they existed.
        _ if beside.is_some() => (Severity::Warning, OTHER_LABEL),
        _ if context.subject.suspended => (Severity::Warning, SUSPENDED),
        _ => (Severity::Error, ""),
    };
    findings.with_reason_for_lower_severity(reason).add_with_severity(severity, "", message, fix);
}

/// A label that the pod requires and no profile selects, if the pod asks for no profile otherwise.
fn label_that_no_profile_selects(
    context: &PodContext<'_>,
    conditions: &Conditions<'_>,
    candidates: &[Arc<Profile>],
) -> Option<String> {
    if candidates.iter().any(|p| conditions.strength(p) != Strength::Open) {
        return None;
    }
    let subject = &context.subject;
    let (key, value) =
        conditions.required_label_no_profile_selects(&|p| subject.snapshot.admits(p, subject.namespace))?;
    Some(format!("{}={}", escaped_and_cut(key, 80), escaped_and_cut(value, 63)))
}
