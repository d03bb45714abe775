//! FAB208: quantity of a resource that is null.

use crate::plan::Edit;
use crate::pod::resource_units::Holder;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::{json_pointer_token, printable};

pub(super) static RULE: Rule = Rule {
    id: "FAB208",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for (holder, container) in context.pod().holders() {
        for (field, list) in [("limits", container.limits()), ("requests", container.requests())] {
            for (name, _) in list.iter().flat_map(|l| l.iter()).filter(|(_, q)| q.is_null()) {
                if is_planned(context, holder, name) {
                    continue;
                }
                let got =
                    if name.contains('/') { "the container gets no device" } else { "treats it as not set" };
                findings.add(
                    format!("{}/resources/{field}/{}", holder.path(), json_pointer_token(name)),
                    format!(
                        "{} has no value: Kubernetes reads the quantity as 0, and {got}",
                        printable(name, 80)
                    ),
                    "Write a quantity, or remove this line.",
                );
            }
        }
    }
}

/// Whether the plan sets the quantity.
fn is_planned(context: &PodContext<'_>, holder: Holder, resource: &str) -> bool {
    let Holder::App(index) = holder else { return false };
    let changes = context.plan.changes_of_container(index).iter();
    changes.into_iter().any(|c| matches!(&c.edit, Edit::Quantity { name, .. } if name == resource))
}
