//! FAB205: more than one unit of a shared RDMA device.

use crate::facts::ResourceProvider;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB205",
    severity: Severity::Info,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let shared =
        context.devices().held.iter().filter(|h| h.fact.server == ResourceProvider::SharedDevicePlugin);
    for held in shared {
        for (holder, units) in held.holders.iter().filter(|(_, units)| *units > 1) {
            findings.add(
                format!("{}/resources/limits/{}", holder.json_pointer(), crate::text::json_pointer_token(held.name)),
                format!(
                    "the container requests {units} units of {} ({}), but one unit already gives access to every device of the pool",
                    escaped_and_cut(held.name, 80),
                    held.fact.describe_provider(context.subject.snapshot.is_not_for_operator())
                ),
                "Request 1 unit.",
            );
        }
    }
}
