//! FAB406: files of the profile that a container does not get.

use crate::plan::{FILE_ANNOTATION, FILES_PATH};
use crate::profile::schema::Inject;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::{self, annotation};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB406", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for (index, refusal) in &context.plan.file_refusals {
        findings.add(
            pointers_in_pod::container(*index),
            format!("files of profile {:?} are missing: {FILES_PATH} {}", profile.name, refusal.words()),
            "Mount single files below /etc, or put the profile's files into the image.",
        );
    }
    // An annotation of the pod's own stays as it is, and the volume shows it in place of the profile's text.
    let shown = profile.inject == Inject::Full
        && context.plan.withheld.is_none()
        && context.plan.targets.len() > context.plan.file_refusals.len();
    for file in profile.files.iter().filter(|_| shown) {
        let key = format!("{FILE_ANNOTATION}{}", file.name);
        if context.pod().annotation(&key).is_some_and(|text| *text != *file.content) {
            findings.add(
                annotation(&key),
                format!("an annotation of the pod replaces file {} of profile {:?}", file.name, profile.name),
                format!("Remove annotation {key} to get the profile's file."),
            );
        }
    }
}
