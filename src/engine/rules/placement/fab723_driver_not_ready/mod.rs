//! FAB723: every node where the pod can run waits for the NIC driver.

use super::node_classes_for_pod::landing_classes_with_accelerators;
use crate::nodes::Requirement;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB723", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Label of the NVIDIA Network Operator (Mellanox/network-operator pkg/nodeinfo).
const DRIVER_WAIT: &str = "network.nvidia.com/operator.mofed.wait";

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let mut waiting = classes.all().clone();
    classes.retain(&mut waiting, Requirement::equals(DRIVER_WAIT, "true"));
    if waiting.is_clear() {
        return;
    }
    let Some(set) = landing_classes_with_accelerators(context) else { return };
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
