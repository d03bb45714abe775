//! FAB260: hostNetwork together with an SR-IOV device.

use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB260",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if !context.pod().host_network() {
        return;
    }
    for held in context.devices().held.iter().filter(|held| held.fact.shared == Some(false)) {
        findings.add(
            held.path(),
            format!(
                "with hostNetwork, the pod's device of {} is reserved but gets no IP address ({})",
                printable(held.name, 63),
                held.fact.describe(context.subject.snapshot.is_not_for_operator())
            ),
            "Remove hostNetwork, or remove this resource.",
        );
    }
}
