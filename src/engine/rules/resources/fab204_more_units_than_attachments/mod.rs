//! FAB204: more device units than the pod's network attachments take.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::count_with_noun;

pub(super) static RULE: Rule = Rule {
    id: "FAB204",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.pod().host_network() {
        return;
    }
    for need in context.devices().needs.iter().filter(|need| need.known) {
        let (units, attachments) = (need.units_of_running_containers(), need.attachments);
        if units <= attachments {
            continue;
        }
        let attached = usize::try_from(attachments).unwrap_or(usize::MAX);
        findings.add(
            "/spec/containers",
            format!(
                "the pod requests {units} units of {} for {}: some devices get no network interface",
                need.shown,
                count_with_noun(attached, "network attachment")
            ),
            format!(
                "Request {} in total, and make sure that no other webhook adds units.",
                count_with_noun(attached, "unit")
            ),
        );
    }
}
