//! FAB305: switchdev on InfiniBand, or a bridge without switchdev.

use super::node_policy::has_bridge;
use super::node_policy_cel::{node_policy, node_policy_cel};
use crate::multus::LinkLayer;
use crate::rules::cel::{Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB305",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the feature gate may be off")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(policy) = context.node_policy() else { return };
    let infiniband = policy.link == Some(LinkLayer::InfiniBand);
    if policy.switchdev && infiniband {
        findings.add(
            "/spec/eSwitchMode",
            "eSwitchMode switchdev with linkType ib: only Ethernet NICs have a switch, and the operator refuses the policy",
            "Remove eSwitchMode on InfiniBand.",
        );
    }
    if !has_bridge(context) {
        return;
    }
    if !policy.switchdev {
        findings.add_as(
            Severity::Warning,
            "/spec/bridge",
            "bridge without eSwitchMode switchdev: with feature gate manageSoftwareBridges the operator fails on every node of the policy",
            "Set eSwitchMode: switchdev, or remove bridge.",
        );
    }
    if policy.external {
        findings.add_as(
            Severity::Warning,
            "/spec/bridge",
            "bridge with externallyManaged true: with feature gate manageSoftwareBridges the operator fails on every node of the policy",
            "Set externallyManaged: false, or remove bridge.",
        );
    }
    if infiniband && !policy.switchdev {
        findings.add_as(
            Severity::Warning,
            "/spec/bridge",
            "bridge with linkType ib: with feature gate manageSoftwareBridges the operator fails on every node of the policy",
            "Remove bridge.",
        );
    }
}

fn cel() -> Cel {
    node_policy_cel(vec![
        Check::error(
            node_policy("variables.switchdev && variables.infiniband"),
            "eSwitchMode switchdev with linkType ib: only Ethernet NICs have a switch, and the operator refuses the policy; remove eSwitchMode on InfiniBand",
        ),
        Check::warning(
            node_policy("variables.bridge && !variables.switchdev"),
            "bridge without eSwitchMode switchdev: with feature gate manageSoftwareBridges the operator fails on every node of the policy; set eSwitchMode: switchdev, or remove bridge",
        ),
        Check::warning(
            node_policy("variables.bridge && variables.spec.?externallyManaged.orValue(false) == true"),
            "bridge with externallyManaged true: with feature gate manageSoftwareBridges the operator fails on every node of the policy; set externallyManaged: false, or remove bridge",
        ),
    ])
}
