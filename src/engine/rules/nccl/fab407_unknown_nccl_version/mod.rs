//! FAB407: variable of the profile that the webhook does not set because the NCCL version is not known.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB407", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for (index, name) in &context.plan.unknown_version {
        let image = context.pod().containers().get(*index).and_then(|c| c.image.as_deref());
        findings.add(
            pointers_in_pod::in_container(*index, "image"),
            format!(
                "the webhook does not set {name}: the value depends on the NCCL version, which is not known for image {}",
                escaped_and_cut(image.unwrap_or("(unnamed)"), 60)
            ),
            format!("Set ncclVersion in profile {:?}, or set {name} in the pod.", profile.name),
        );
    }
}
