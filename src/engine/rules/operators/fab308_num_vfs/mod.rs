//! FAB308: numVfs that is 0, or more than the NIC offers.

use super::nodes_and_nics_of_sriov_policy::nics_that_policy_takes;
use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB308",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, NO_VFS), (Severity::Warning, WEBHOOK_OFF)],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Most VFs of an NVIDIA NIC that the operator's webhook accepts (pkg/webhook/validate.go, MlxMaxVFs).
const NVIDIA_MOST: u32 = 128;
const NVIDIA: &str = "15b3";

/// Reasons for warnings.
const NO_VFS: &str = "the author may want a policy without VFs";
const WEBHOOK_OFF: &str = "the operator's webhook may be off";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let Some(wanted) = policy.num_vfs else { return };
    let path = "/spec/numVfs";
    let webhook = context
        .snapshot
        .cluster_facts_for_audience()
        .has_sriov_operator_webhook(context.non_empty_text_at("/metadata/namespace"));
    if wanted == 0 {
        let refused =
            if webhook == Some(false) { "" } else { ", and the operator's webhook refuses the policy" };
        findings.with_reason_for_lower_severity(NO_VFS).add_with_severity(
            Severity::Warning,
            path,
            format!("numVfs: 0 creates no VFs{refused}"),
            "Set numVfs to the number of VFs that each NIC needs.",
        );
    }
    let nvidia = || nics_that_policy_takes(context).any(|(_, nic)| nic.vendor.as_deref() == Some(NVIDIA));
    if wanted > NVIDIA_MOST && (policy.nics.vendor.as_deref() == Some(NVIDIA) || nvidia()) {
        report_more_vfs_than_webhook_accepts(context, wanted, webhook, nvidia(), findings);
    }
    // The operator raises NUM_OF_VFS of an NVIDIA NIC's firmware before the daemon compares the two
    // (pkg/vendors/mellanox, HandleTotalVfs; pkg/host/internal/sriov, configSriovPFDevice).
    let short = nics_that_policy_takes(context).find_map(|(node, nic)| {
        let fixed = nic.vendor.as_deref().is_some_and(|vendor| vendor != NVIDIA);
        let most = nic.total_vfs.filter(|most| wanted > *most && fixed)?;
        Some((node, &nic.name, most))
    });
    if let Some((node, nic, most)) = short {
        findings.add(
            path,
            format!(
                "numVfs is {wanted}, but NIC {nic} has at most {most} VFs (see SriovNetworkNodeState {node})"
            ),
            format!("Set numVfs to {most} or less."),
        );
    }
}

/// Reports more VFs of an NVIDIA NIC than the operator's webhook accepts. Only the webhook has this limit: with it off, the
/// NIC's own counts.
fn report_more_vfs_than_webhook_accepts(
    context: &ObjectContext<'_>,
    wanted: u32,
    webhook: Option<bool>,
    known: bool,
    findings: &mut FindingsOfRule<'_>,
) {
    let fix = |most: u32| format!("Set numVfs to {most} or less.");
    let refuses = format!(
        "numVfs is {wanted}, but the operator's webhook refuses more than {NVIDIA_MOST} VFs of an NVIDIA NIC"
    );
    match webhook {
        Some(true) if known => findings.add("/spec/numVfs", refuses, fix(NVIDIA_MOST)),
        Some(true) => findings
            .with_reason_for_lower_severity("no NIC of the policy is known")
            .add_with_severity(Severity::Warning, "/spec/numVfs", refuses, fix(NVIDIA_MOST)),
        Some(false) => {
            // The operator raises the number in the firmware, as far as that allows.
            let least = nics_that_policy_takes(context).filter_map(|(_, nic)| nic.total_vfs).min();
            let message = match least {
                Some(most) if most >= wanted => return,
                Some(most) => format!(
                    "numVfs is {wanted}, but a NIC has {most} VFs now, and its firmware may offer fewer than {wanted}"
                ),
                None => format!("numVfs is {wanted}, but the NIC's firmware may offer fewer VFs"),
            };
            findings
                .with_reason_for_lower_severity("the operator raises the number of VFs in the firmware")
                .add_with_severity(
                    Severity::Warning,
                    "/spec/numVfs",
                    message,
                    "Set numVfs to at most the value of NUM_OF_VFS in the NIC's firmware settings.",
                );
        }
        None => findings.with_reason_for_lower_severity(WEBHOOK_OFF).add_with_severity(
            Severity::Warning,
            "/spec/numVfs",
            format!("{refuses}, and the NIC's firmware may offer even fewer VFs"),
            fix(NVIDIA_MOST),
        ),
    }
}

fn cel() -> Cel {
    let number = "type(variables.spec.?numVfs.orValue('')) == int";
    let most = format!(
        "variables.vendor == '{NVIDIA}' && {number} &&\nvariables.spec.numVfs > {NVIDIA_MOST} && variables.spec.numVfs <= {}",
        u32::MAX
    );
    let checks = vec![
        CelCheck::warning(
            condition_unless_named_default(&most),
            "numVfs is above 128: the operator's webhook refuses more than 128 VFs of an NVIDIA NIC, and the NIC's firmware may offer even fewer VFs; set numVfs to 128 or less",
        ),
        CelCheck::warning(
            condition_unless_named_default(&format!("{number} && variables.spec.numVfs == 0")),
            "numVfs: 0 creates no VFs, and the operator's webhook refuses the policy; set numVfs to the number of VFs that each NIC needs",
        ),
    ];
    Cel {
        beyond: Some("SriovOperatorConfigs, and the NICs' limits in SriovNetworkNodeStates"),
        ..cel_with_policy_variables(checks)
    }
}
