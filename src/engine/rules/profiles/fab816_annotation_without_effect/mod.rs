//! FAB816: an annotation or label of fabric-admission that has no effect on a pod.

use crate::decision_limits::DecisionLimits;
use crate::facts::{MODE_LABEL, PROFILE_ANNOTATION};
use crate::json::types_of_decoded_fields::{Pairs, Text};
use crate::nccl::unread_variable_names::slips_between;
use crate::plan::{CONTAINERS_ANNOTATION, FILE_ANNOTATION, INJECT_ANNOTATION, RAILS_ANNOTATION};
use crate::pod::fabric_signs::{IGNORE_PREFIX, OWN_DOMAIN};
use crate::pod::how_ranks_start::RANKS_ANNOTATION;
use crate::pod::is_multi_node::MULTI_NODE_ANNOTATION;
use crate::profile::INJECTED_ANNOTATION;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token, nearest_if_probably_meant};

pub(super) static RULE: Rule = Rule {
    id: "FAB816",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Annotations of pods, with the values that have an effect where there are only some.
const ANNOTATIONS: [(&str, &[&str]); 7] = [
    (PROFILE_ANNOTATION, &[]),
    (CONTAINERS_ANNOTATION, &[]),
    (RAILS_ANNOTATION, &[]),
    (INJECT_ANNOTATION, &["false", "full"]),
    (MULTI_NODE_ANNOTATION, &["true", "false"]),
    (RANKS_ANNOTATION, &["ssh"]),
    (INJECTED_ANNOTATION, &[]),
];

/// Most annotations and most labels of a pod that are compared with ours. A pod has room for a hundred thousand.
const MAX_COMPARED: usize = 200;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(metadata) = &context.pod().metadata else { return };
    let alike = |(key, _): &(&str, &Text<'_>)| may_be_ours(key);
    let annotations = metadata.annotations.iter().flat_map(Pairs::iter).filter(alike);
    for (key, value) in annotations.take(MAX_COMPARED) {
        if findings.must_stop_reporting() {
            return;
        }
        if let Some((message, fix)) = problem_and_fix_of_annotation(key, value, context.deadline) {
            findings.add(pointers_in_pod::annotation(key), message, fix);
        }
    }
    let labels = metadata.labels.iter().flat_map(Pairs::iter).filter(alike);
    for (key, _) in labels.take(MAX_COMPARED) {
        if findings.must_stop_reporting() {
            return;
        }
        if let Some((message, fix)) = problem_and_fix_of_label(key, context.deadline) {
            findings.add(format!("/metadata/labels/{}", json_pointer_token(key)), message, fix);
        }
    }
}

fn problem_and_fix_of_annotation(
    key: &str,
    value: &str,
    deadline: &DecisionLimits<'_>,
) -> Option<(String, String)> {
    if let Some((_, values)) = ANNOTATIONS.into_iter().find(|(known, _)| *known == key) {
        return unread_value(key, value, values);
    }
    if !has_our_or_near_domain(key) || key.starts_with(FILE_ANNOTATION) || key.starts_with(IGNORE_PREFIX) {
        return None;
    }
    if key == MODE_LABEL {
        return Some(problem_and_fix_of_mode_key());
    }
    let shown = escaped_and_cut(key, 80);
    Some(match annotation_meant(key, deadline) {
        Some(near) => {
            (format!("annotation {shown} has no effect; did you mean {near}?"), format!("Write {near}."))
        }
        None => (
            format!("annotation {shown} has no effect: the webhook does not read this annotation"),
            "Remove the annotation, or write one that the webhook reads.".to_owned(),
        ),
    })
}

/// A value that the annotation does not take. `inject: "true"` says what holds anyway, and every text but `ssh` says that
/// ranks are started another way.
fn unread_value(key: &str, value: &str, values: &[&str]) -> Option<(String, String)> {
    let near = values.iter().find(|known| known.eq_ignore_ascii_case(value.trim()));
    let fine = values.is_empty()
        || values.contains(&value)
        || near.is_none() && (key == RANKS_ANNOTATION || key == INJECT_ANNOTATION && value == "true");
    if fine {
        return None;
    }
    let shown = escaped_and_cut(value, 40);
    let quoted: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    let fix = match (near, key) {
        (Some(near), _) => format!("Write {near:?}."),
        (None, INJECT_ANNOTATION) => {
            "Write \"false\" to stop injection, or \"full\" to get the profile's networks, or remove the annotation."
                .to_owned()
        }
        (None, _) => format!("Write {}.", quoted.join(" or ")),
    };
    Some((format!("{key}: value {shown:?} has no effect; valid values are {}", quoted.join(" and ")), fix))
}

fn problem_and_fix_of_label(key: &str, deadline: &DecisionLimits<'_>) -> Option<(String, String)> {
    if key == MODE_LABEL {
        return Some(problem_and_fix_of_mode_key());
    }
    let known = has_our_or_near_domain(key).then(|| annotation_meant(key, deadline)).flatten()?;
    Some((
        format!("label {} has no effect: the webhook reads annotation {known}", escaped_and_cut(key, 80)),
        format!("Remove the label, and write annotation {known}."),
    ))
}

fn problem_and_fix_of_mode_key() -> (String, String) {
    (
        format!("{MODE_LABEL} has no effect on a pod: this key is a label of the namespace"),
        "Remove the key from the pod. Ask a cluster administrator to set the label on the namespace."
            .to_owned(),
    )
}

/// Whether a key has our domain, or one of about its length.
fn may_be_ours(key: &str) -> bool {
    let own = OWN_DOMAIN.len() - 1;
    key.starts_with(['f', 'a'])
        && memchr::memchr(b'/', key.as_bytes()).is_some_and(|domain| domain.abs_diff(own) <= 2)
}

/// Whether a key has our domain, or one that is one mistake away.
fn has_our_or_near_domain(key: &str) -> bool {
    let own = OWN_DOMAIN.trim_end_matches('/');
    let near = |(domain, _): (&str, &str)| slips_between(domain.as_bytes(), own.as_bytes(), 2).is_some();
    key.starts_with(OWN_DOMAIN) || may_be_ours(key) && key.split_once('/').is_some_and(near)
}

/// The annotation that a key was probably meant for, as long as this decision may compare names.
fn annotation_meant(key: &str, deadline: &DecisionLimits<'_>) -> Option<&'static str> {
    let name = |key: &'static str| key.strip_prefix(OWN_DOMAIN);
    let (_, wanted) = key.split_once('/')?;
    let names = ANNOTATIONS.into_iter().filter_map(|(key, _)| name(key));
    let near = nearest_if_probably_meant(wanted, deadline.take_names_within_budgets(wanted, names))?;
    ANNOTATIONS.into_iter().map(|(key, _)| key).find(|key| name(key) == Some(near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_limits::NEVER;

    #[test]
    fn annotations_with_and_without_effect() {
        for (key, value) in [
            ("fabric-admission.dev/profile", "anything"),
            ("fabric-admission.dev/inject", "false"),
            ("fabric-admission.dev/inject", "full"),
            ("fabric-admission.dev/inject", "true"),
            ("fabric-admission.dev/ranks", "ssh"),
            ("fabric-admission.dev/ranks", "agent"),
            ("fabric-admission.dev/multi-node", "true"),
            ("fabric-admission.dev/file.nccl.conf", ""),
            ("fabric-admission.dev/ignore.FAB501", "reason"),
            ("example.com/profile", "a"),
            ("fabric.example.com/inject", "no"),
        ] {
            assert_eq!(problem_and_fix_of_annotation(key, value, &NEVER), None, "{key}");
        }
        for (key, value) in [
            ("fabric-admission.dev/profil", "a"),
            ("fabric-admission.dev/unheard-of", "a"),
            ("fabric-admision.dev/profile", "a"),
            ("fabric-admission.dev/inject", "False"),
            ("fabric-admission.dev/inject", ""),
            ("fabric-admission.dev/ranks", "SSH"),
            ("fabric-admission.dev/multi-node", "yes"),
            ("fabric-admission.dev/mode", "enforce"),
        ] {
            assert!(problem_and_fix_of_annotation(key, value, &NEVER).is_some(), "{key}: {value}");
        }
        assert!(
            problem_and_fix_of_label("fabric-admission.dev/mode", &NEVER).is_some()
                && problem_and_fix_of_label("fabric-admission.dev/inject", &NEVER).is_some()
        );
        assert!(
            problem_and_fix_of_label("fabric-admission.dev/unheard-of", &NEVER).is_none()
                && problem_and_fix_of_label("app", &NEVER).is_none()
        );
    }

    #[test]
    fn all_annotations_of_ours_may_be_ours() {
        for (key, _) in ANNOTATIONS {
            assert!(may_be_ours(key) && has_our_or_near_domain(key), "{key}");
        }
        assert!(may_be_ours(MODE_LABEL) && has_our_or_near_domain("fabric-admision.dev/profile"));
        assert!(
            !has_our_or_near_domain("fabric-of-someone.dev/profile")
                && !may_be_ours("k8s.v1.cni.cncf.io/networks")
        );
    }
}
