//! FAB229: RDMA device in a container with only slices or shares of an accelerator.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB229", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in context.app_containers_in_time() {
        let demand = context.subject.demands.of_app_container(index);
        if demand.any && demand.whole == 0 && !demand.unknown && context.has_verbs_device(index) {
            findings.add(
                pointers_in_pod::in_container(index, "resources"),
                format!(
                    "container {:?} has an RDMA device but only slices of accelerators: NCCL refuses two ranks on one GPU",
                    escaped_and_cut(container.name(), 63)
                ),
                "Request whole accelerators, or remove the RDMA device.",
            );
        }
    }
}
