//! FAB247: SR-IOV function by claim without a network.

use super::claimed_functions::functions;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB247", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if context.final_networks.is_some() {
        return;
    }
    for (index, claim) in functions(context) {
        // Functions on vfio-pci need no network.
        if !claim.functions.iter().any(|f| f.network.is_some() || f.vfio) {
            findings.add(
                paths::claim(index),
                "the claim brings an SR-IOV function, and neither its VfConfig nor the pod names a network for it",
                "set netAttachDefName in the VfConfig, or annotation k8s.v1.cni.cncf.io/networks under mode MULTUS",
            );
        }
    }
}
