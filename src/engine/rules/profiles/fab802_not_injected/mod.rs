//! FAB802: pod admitted without its profile's networks and resources.

use crate::plan::INJECT_ANNOTATION;
use crate::profile::schema::OnMissing;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB802",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the profile has onMissing: warn")],
    files: files!(no_example: "only the webhook sees that a pod was not mutated"),
    at_one_point: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if !context.not_injected {
        return;
    }
    let Some((profile, _)) = context.resolution.profile() else { return };
    let message = format!(
        "the mutating webhook was skipped: the pod has no network or resource of profile {:?}",
        profile.name
    );
    let fix = format!(
        "Create the pod again. If the webhook is skipped again, contact the platform team. To run without the fabric, annotate the pod with {INJECT_ANNOTATION}: \"false\"."
    );
    match profile.on_missing {
        OnMissing::Deny => findings.add("", message, fix),
        OnMissing::Warn => findings.add_with_severity(Severity::Warning, "", message, fix),
    }
}
