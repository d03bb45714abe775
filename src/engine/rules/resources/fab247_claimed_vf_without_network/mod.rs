//! FAB247: claimed SR-IOV VF without a network.

use super::claims_on_sriov_vfs::claims_on_vfs;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB247",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.final_networks.is_some() {
        return;
    }
    for claim in claims_on_vfs(context) {
        // VFs on vfio-pci need no network.
        if !claim.says.network && !claim.says.vfio {
            findings.add(
                pointers_in_pod::claim(claim.index),
                "the claimed SR-IOV VF has no network, so the pod gets no network interface",
                "Set netAttachDefName in the VfConfig. If the driver is in mode MULTUS, set annotation k8s.v1.cni.cncf.io/networks.",
            );
        }
    }
}
