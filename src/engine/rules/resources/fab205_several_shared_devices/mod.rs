//! FAB205: more than one unit of a shared RDMA device.

use crate::facts::Server;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB205",
    severity: Severity::Info,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let shared = context.devices().held.iter().filter(|h| h.fact.server == Server::SharedDevicePlugin);
    for held in shared {
        for (holder, units) in held.holders.iter().filter(|(_, units)| *units > 1) {
            findings.add(
                format!("{}/resources/limits/{}", holder.path(), crate::text::json_pointer_token(held.name)),
                format!(
                    "the container requests {units} units of {} ({}), but one unit already gives access to every device of the pool",
                    printable(held.name, 80),
                    held.fact.describe(context.subject.snapshot.is_not_for_operator())
                ),
                "Request 1 unit.",
            );
        }
    }
}
