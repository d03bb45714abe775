//! FAB249: SR-IOV VF on vfio-pci for a pod with accelerators.

use super::claimed_sriov_functions::functions;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB249", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if !context.subject.demands.requests_any_accelerator() {
        return;
    }
    for claim in functions(context) {
        if claim.says.vfio {
            findings.add(
                pointers_in_pod::claim(claim.index),
                "the claimed VF is bound to vfio-pci: NCCL gets neither a network interface nor an RDMA device",
                "Remove driver: vfio-pci from the VfConfig of the claim.",
            );
        }
    }
}
