//! FAB406: files of the profile that a container does not get.

use crate::plan::FILES_PATH;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB406", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for (index, refusal) in &context.plan.file_refusals {
        findings.add(
            paths::container(*index),
            format!("files of profile {:?} are missing: {FILES_PATH} {}", profile.name, refusal.words()),
            "Mount single files below /etc, or put the profile's files into the image.",
        );
    }
}
