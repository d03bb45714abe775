//! FAB308: numVfs creates no VFs, or more than the NIC has.

use super::node_policy_cel::{node_policy, node_policy_cel};
use super::policy_nodes::nics;
use crate::rules::cel::{Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB308",
    severity: Severity::Error,
    lesser: &[(
        Severity::Warning,
        "the policy may be meant to create no VFs, and the operator's webhook may be off",
    )],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Most VFs of an NVIDIA NIC that the operator accepts.
const NVIDIA_MOST: u32 = 128;

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    let Some(wanted) = policy.num_vfs else { return };
    let path = "/spec/numVfs";
    if wanted == 0 {
        findings.add_as(
            Severity::Warning,
            path,
            "numVfs: 0 creates no VFs, and the operator's webhook refuses the policy",
            "Set numVfs to the number of VFs of each NIC.",
        );
    }
    let nvidia = || nics(context).any(|(_, nic)| nic.vendor.as_deref() == Some("15b3"));
    if wanted > NVIDIA_MOST && (policy.nics.vendor.as_deref() == Some("15b3") || nvidia()) {
        findings.add(
            path,
            format!("numVfs {wanted}: NICs of vendor 15b3 get at most {NVIDIA_MOST} VFs"),
            format!("Set numVfs: {NVIDIA_MOST}, or less."),
        );
    }
    let intel = nics(context).find_map(|(node, nic)| {
        let most = nic.total_vfs.filter(|most| wanted > *most && nic.vendor.as_deref() == Some("8086"))?;
        Some((node, &nic.name, most))
    });
    if let Some((node, nic, most)) = intel {
        findings.add(
            path,
            format!("numVfs {wanted}: NIC {nic} has at most {most} VFs (SriovNetworkNodeState {node})"),
            format!("Set numVfs: {most}, or less."),
        );
    }
}

fn cel() -> Cel {
    let number = "type(variables.spec.?numVfs.orValue('')) == int";
    let most = format!(
        "variables.vendor == '15b3' && {number} &&\nvariables.spec.numVfs > {NVIDIA_MOST} && variables.spec.numVfs <= {}",
        u32::MAX
    );
    let checks = vec![
        Check::error(
            node_policy(&most),
            "numVfs above 128: NICs of vendor 15b3 get at most 128 VFs; set numVfs: 128, or less",
        ),
        Check::warning(
            node_policy(&format!("{number} && variables.spec.numVfs == 0")),
            "numVfs: 0 creates no VFs, and the operator's webhook refuses the policy; set numVfs to the number of VFs of each NIC",
        ),
    ];
    Cel { beyond: Some("limits of NICs in SriovNetworkNodeStates"), ..node_policy_cel(checks) }
}
