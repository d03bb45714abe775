//! FAB817: a label or annotation of fabric-admission that has no effect on a namespace.

use crate::facts::{EnforcementMode, MODE_LABEL, PROFILE_ANNOTATION};
use crate::json::types_of_decoded_fields::{Pairs, Text};
use crate::pod::fabric_signs::OWN_DOMAIN;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token, nearest_if_probably_meant};
use serde::Deserialize;

pub(super) static RULE: Rule = Rule {
    id: "FAB817",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[("", "Namespace")],
    reads_only: true,
    object: Some(check),
    ..Rule::DEFAULT
};

#[derive(Deserialize)]
struct Namespace<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    labels: Option<Pairs<'a, Text<'a>>>,
    #[serde(borrow, default)]
    annotations: Option<Pairs<'a, Text<'a>>>,
}

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // FAB809 reports an object that cannot be read.
    let Ok(Namespace { metadata }) = crate::json::reader::read::<Namespace<'_>>(context.json) else { return };
    for (key, value) in metadata.labels.iter().flat_map(Pairs::iter) {
        let path = || format!("/metadata/labels/{}", json_pointer_token(key));
        match key {
            MODE_LABEL if EnforcementMode::parse(value).is_some() => {}
            MODE_LABEL => findings.add(
                path(),
                format!(
                    "label {MODE_LABEL}: {:?} is not a mode, so the API server does not call the webhook for this namespace",
                    escaped_and_cut(value, 63)
                ),
                format!("Write {}.", nearest_if_probably_meant(value, ["enforce", "audit"].into_iter()).unwrap_or("enforce or audit")),
            ),
            PROFILE_ANNOTATION => findings.add(
                path(),
                "label fabric-admission.dev/profile has no effect: an annotation of the namespace sets the default profile",
                "Remove the label, and write fabric-admission.dev/profile as an annotation.",
            ),
            _ => report_unknown_name(key, "label", path, findings),
        }
    }
    for (key, _) in metadata.annotations.iter().flat_map(Pairs::iter) {
        match key {
            PROFILE_ANNOTATION => {}
            MODE_LABEL => findings.add(
                pointers_in_pod::annotation(key),
                "annotation fabric-admission.dev/mode has no effect: the API server selects namespaces by label",
                "Remove the annotation, and write fabric-admission.dev/mode as a label.",
            ),
            _ => report_unknown_name(key, "annotation", || pointers_in_pod::annotation(key), findings),
        }
    }
}

fn report_unknown_name(
    key: &str,
    what: &str,
    path: impl FnOnce() -> String,
    findings: &mut FindingsOfRule<'_>,
) {
    let Some(name) = key.strip_prefix(OWN_DOMAIN).filter(|_| !findings.must_stop_reporting()) else { return };
    let known = [MODE_LABEL, PROFILE_ANNOTATION];
    let near =
        nearest_if_probably_meant(name, known.into_iter().filter_map(|key| key.strip_prefix(OWN_DOMAIN)));
    // An ignore annotation is FAB815's.
    if let Some(near) = near {
        let shown = escaped_and_cut(key, 80);
        findings.add(
            path(),
            format!("{what} {shown} has no effect; did you mean {OWN_DOMAIN}{near}?"),
            format!("Write {OWN_DOMAIN}{near}."),
        );
    }
}
