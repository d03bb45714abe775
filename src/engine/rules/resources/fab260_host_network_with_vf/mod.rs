//! FAB260: hostNetwork together with an SR-IOV device.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB260",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if !context.pod().host_network() {
        return;
    }
    for held in context.devices().held.iter().filter(|held| held.fact.shared == Some(false)) {
        findings.add(
            held.pointer_of_first_holder(),
            format!(
                "with hostNetwork, the pod's device of {} is reserved but gets no IP address ({})",
                escaped_and_cut(held.name, 63),
                held.fact.describe_provider(context.subject.snapshot.is_not_for_operator())
            ),
            "Remove hostNetwork, or remove this resource.",
        );
    }
}
