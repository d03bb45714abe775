//! FAB303: vdpaType together with isRdma: true or vfio-pci, or without eSwitchMode: switchdev.

use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB303",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    // The API server refuses other words (FAB366).
    let Some(vdpa) = policy.vdpa.as_ref().filter(|vdpa| matches!(vdpa.as_str(), "virtio" | "vhost")) else {
        return;
    };
    let path = "/spec/vdpaType";
    if policy.is_rdma {
        findings.add(
            path,
            format!("vdpaType is {vdpa}, but isRdma is true: the device plugin exits at start, and the node loses all SR-IOV resources"),
            "For RDMA, remove vdpaType. For vDPA, set isRdma: false.",
        );
    }
    if policy.vfio {
        findings.add(
            path,
            format!(
                "vdpaType is {vdpa}, but deviceType is vfio-pci: vDPA devices need the kernel driver, so the operator creates no vDPA device"
            ),
            "Set deviceType: netdevice.",
        );
    }
    if !policy.switchdev {
        findings.add(
            path,
            format!(
                "vdpaType is {vdpa}, but eSwitchMode is not switchdev: the operator creates no vDPA device"
            ),
            "Set eSwitchMode: switchdev.",
        );
    }
}

fn cel() -> Cel {
    let beside = |other: &str| condition_unless_named_default(&format!("variables.vdpa != '' && {other}"));
    cel_with_policy_variables(vec![
        CelCheck::error(
            beside("variables.isRdma"),
            "vdpaType is set, but isRdma is true: the device plugin exits at start, and the node loses all SR-IOV resources; for RDMA, remove vdpaType; for vDPA, set isRdma: false",
        ),
        CelCheck::error(
            beside("variables.vfio"),
            "vdpaType is set, but deviceType is vfio-pci: vDPA devices need the kernel driver, so the operator creates no vDPA device; set deviceType: \
                     netdevice",
        ),
        CelCheck::error(
            beside("!variables.switchdev"),
            "vdpaType is set, but eSwitchMode is not switchdev: the operator creates no vDPA device; set eSwitchMode: switchdev",
        ),
    ])
}
