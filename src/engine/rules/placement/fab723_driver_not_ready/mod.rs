//! FAB723: every node where the pod can run waits for the NIC driver.

use super::node_classes_for_pod::classes_pod_can_run_on_with_accelerators;
use crate::nodes::LabelRequirement;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB723", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Label of the NVIDIA Network Operator (Mellanox/network-operator pkg/nodeinfo).
const DRIVER_WAIT: &str = "network.nvidia.com/operator.mofed.wait";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let mut waiting = classes.all().clone();
    classes
        .remove_classes_not_satisfying(&mut waiting, LabelRequirement::key_equals_value(DRIVER_WAIT, "true"));
    if waiting.is_clear() {
        return;
    }
    let Some(set) = classes_pod_can_run_on_with_accelerators(context) else { return };
    if set.is_subset(&waiting) {
        findings.add(
            "/spec",
            format!(
                "every node where the pod can run waits for the NIC driver (node label {DRIVER_WAIT}=true)"
            ),
            "Wait for the driver, or ask the platform team why it does not start.",
        );
    }
}
