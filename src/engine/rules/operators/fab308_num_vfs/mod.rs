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
        "the policy may be meant to create no VFs, or the operator's webhook may be off",
    )],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Most VFs of an NVIDIA NIC that the operator's webhook accepts (pkg/webhook/validate.go, MlxMaxVFs).
const NVIDIA_MOST: u32 = 128;
const NVIDIA: &str = "15b3";

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    let Some(wanted) = policy.num_vfs else { return };
    let path = "/spec/numVfs";
    if wanted == 0 {
        findings.because("the policy may be meant to create no VFs").add_as(
            Severity::Warning,
            path,
            "numVfs: 0 creates no VFs, and the operator's webhook refuses the policy",
            "Set numVfs to the number of VFs of each NIC.",
        );
    }
    let nvidia = || nics(context).any(|(_, nic)| nic.vendor.as_deref() == Some(NVIDIA));
    // Only the webhook has this limit: with it off, the NIC's own counts.
    let off =
        || context.snapshot.facts().operator_webhook(context.text("/metadata/namespace")) == Some(false);
    let enough = || {
        nics(context).next().is_some()
            && nics(context).all(|(_, nic)| nic.total_vfs.is_some_and(|most| wanted <= most))
    };
    let of_nvidia = || policy.nics.vendor.as_deref() == Some(NVIDIA) || nvidia();
    if wanted > NVIDIA_MOST && of_nvidia() && !(off() && enough()) {
        findings.because("the operator's webhook may be off").add_as(
            Severity::Warning,
            path,
            format!("numVfs {wanted}: the operator's webhook refuses more than {NVIDIA_MOST} VFs of an NVIDIA NIC, and the firmware may offer fewer"),
            format!("Set numVfs: {NVIDIA_MOST}, or less."),
        );
    }
    // The operator raises NUM_OF_VFS of an NVIDIA NIC's firmware before the daemon compares the two
    // (pkg/vendors/mellanox, HandleTotalVfs; pkg/host/internal/sriov, configSriovPFDevice).
    let short = nics(context).find_map(|(node, nic)| {
        let fixed = nic.vendor.as_deref().is_some_and(|vendor| vendor != NVIDIA);
        let most = nic.total_vfs.filter(|most| wanted > *most && fixed)?;
        Some((node, &nic.name, most))
    });
    if let Some((node, nic, most)) = short {
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
        "variables.vendor == '{NVIDIA}' && {number} &&\nvariables.spec.numVfs > {NVIDIA_MOST} && variables.spec.numVfs <= {}",
        u32::MAX
    );
    let checks = vec![
        Check::warning(
            node_policy(&most),
            "numVfs above 128: the operator's webhook refuses more than 128 VFs of an NVIDIA NIC, and the firmware may offer fewer; set numVfs: 128, or less",
        ),
        Check::warning(
            node_policy(&format!("{number} && variables.spec.numVfs == 0")),
            "numVfs: 0 creates no VFs, and the operator's webhook refuses the policy; set numVfs to the number of VFs of each NIC",
        ),
    ];
    Cel {
        beyond: Some("limits of NICs in SriovNetworkNodeStates, and SriovOperatorConfigs"),
        ..node_policy_cel(checks)
    }
}
