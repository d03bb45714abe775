//! FAB208: quantity of a resource that is null.

use crate::plan::Edit;
use crate::pod::containers_and_their_resources::ContainerPlace;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};

pub(super) static RULE: Rule = Rule {
    id: "FAB208",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (holder, container) in context.pod().containers_not_added_by_webhook() {
        for (field, list) in [("limits", container.limits()), ("requests", container.requests())] {
            for (name, _) in list.iter().flat_map(|l| l.iter()).filter(|(_, q)| q.is_null()) {
                if is_planned(context, holder, name) {
                    continue;
                }
                let got =
                    if name.contains('/') { "the container gets no device" } else { "treats it as not set" };
                findings.add(
                    format!("{}/resources/{field}/{}", holder.json_pointer(), json_pointer_token(name)),
                    format!(
                        "{} has no value: Kubernetes reads the quantity as 0, and {got}",
                        escaped_and_cut(name, 80)
                    ),
                    "Write a quantity, or remove this line.",
                );
            }
        }
    }
}

/// Whether the plan sets the quantity.
fn is_planned(context: &PodContext<'_>, holder: ContainerPlace, resource: &str) -> bool {
    let ContainerPlace::App(index) = holder else { return false };
    let changes = context.plan.changes_of_container(index).iter();
    changes.into_iter().any(|c| matches!(&c.edit, Edit::Quantity { name, .. } if name == resource))
}
