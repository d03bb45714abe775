//! FAB802: the final pod has none of its profile's networks and resources.

use crate::fabric::profile::OnMissing;
use crate::plan::INJECT_ANNOTATION;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB802",
    severity: Severity::Error,
    files: files!(no_example: "only the webhook sees that a pod was not mutated"),
    at_one_point: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if !context.not_injected {
        return;
    }
    let Some((profile, _)) = context.resolution.profile() else { return };
    let message =
        format!("nothing of profile {} is on the pod: the mutating webhook did not run", profile.name);
    let fix = format!(
        "create the pod again, or annotate it {INJECT_ANNOTATION}: \"false\" to run without the fabric"
    );
    match profile.on_missing {
        OnMissing::Deny => findings.add("", message, fix),
        OnMissing::Warn => findings.add_as(Severity::Warning, "", message, fix),
    }
}
