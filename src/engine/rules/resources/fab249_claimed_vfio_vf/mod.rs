//! FAB249: SR-IOV VF on vfio-pci for a pod with accelerators.

use super::claims_on_sriov_vfs::claims_on_vfs;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB249", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if !context.subject.demands.requests_any_accelerator() {
        return;
    }
    for claim in claims_on_vfs(context) {
        if claim.says.vfio {
            findings.add(
                pointers_in_pod::claim(claim.index),
                "the claimed VF is bound to vfio-pci: NCCL gets neither a network interface nor an RDMA device",
                "Remove driver: vfio-pci from the VfConfig of the claim.",
            );
        }
    }
}
