//! FAB407: a variable for some versions of NCCL, and an image whose version is not known.

use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB407", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for (index, name) in &context.plan.unknown_version {
        let image = context.pod().containers().get(*index).and_then(|c| c.image.as_deref());
        findings.add(
            paths::in_container(*index, "image"),
            format!(
                "{name} not set: it is for some versions of NCCL, and that of {} is not known",
                printable(image.unwrap_or("the image"), 60)
            ),
            format!("say ncclVersion in profile {}, or set {name} in the pod", profile.name),
        );
    }
}
