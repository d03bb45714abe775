//! FAB305: switchdev on InfiniBand, or a bridge without switchdev.

use super::has_ovs_bridge::requests_ovs_bridge;
use super::sriov_policy_in_cel::{cel_with_policy_variables, condition_unless_named_default};
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB305",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, "feature gate manageSoftwareBridges may be off"),
        (Severity::Info, "feature gate manageSoftwareBridges and the operator's webhook are off"),
    ],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let config = context
        .snapshot
        .cluster_facts_for_audience()
        .operator_config(context.non_empty_text_at("/metadata/namespace"));
    let infiniband = policy.link == Some(LinkLayer::InfiniBand);
    if policy.switchdev && infiniband {
        let refused = match config.map(|config| config.webhook) {
            Some(false) => "syncStatus of the nodes becomes Failed",
            _ => "the operator refuses the policy",
        };
        findings.add(
            "/spec/eSwitchMode",
            format!(
                "eSwitchMode is switchdev, but InfiniBand NICs (linkType ib) have no embedded switch: {refused}"
            ),
            "Remove eSwitchMode from this InfiniBand policy.",
        );
    }
    if !requests_ovs_bridge(context) {
        return;
    }
    let (severity, outcome) = match config {
        Some(config) if config.webhook => (Severity::Error, "the operator's webhook refuses the policy"),
        Some(config) if config.software_bridges => (
            Severity::Error,
            "the operator fails on every node of the policy (feature gate manageSoftwareBridges is on)",
        ),
        Some(_) => (
            Severity::Info,
            "the operator will fail on every node of the policy if you turn on feature gate manageSoftwareBridges",
        ),
        None => (
            Severity::Warning,
            "if feature gate manageSoftwareBridges is on, the operator fails on every node of the policy",
        ),
    };
    let (what, fix) = if infiniband && !policy.switchdev {
        ("bridge is set, but linkType is ib", "Remove bridge.")
    } else if !policy.switchdev {
        ("bridge is set, but eSwitchMode is not switchdev", "Set eSwitchMode: switchdev, or remove bridge.")
    } else if policy.external {
        ("bridge is set, but externallyManaged is true", "Set externallyManaged: false, or remove bridge.")
    } else {
        return;
    };
    findings.add_with_severity(severity, "/spec/bridge", format!("{what}: {outcome}"), fix);
}

fn cel() -> Cel {
    cel_with_policy_variables(vec![
        CelCheck::error(
            condition_unless_named_default("variables.switchdev && variables.infiniband"),
            "eSwitchMode is switchdev, but InfiniBand NICs (linkType ib) have no embedded switch: the operator refuses the policy; remove eSwitchMode from this InfiniBand policy",
        ),
        CelCheck::warning(
            condition_unless_named_default("variables.bridge && !variables.switchdev"),
            "bridge is set, but eSwitchMode is not switchdev: if feature gate manageSoftwareBridges is on, the operator fails on every node of the policy; set eSwitchMode: switchdev, or remove bridge",
        ),
        CelCheck::warning(
            condition_unless_named_default(
                "variables.bridge && variables.spec.?externallyManaged.orValue(false) == true",
            ),
            "bridge is set, but externallyManaged is true: if feature gate manageSoftwareBridges is on, the operator fails on every node of the policy; set externallyManaged: false, or remove bridge",
        ),
    ])
}
