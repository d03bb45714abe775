//! FAB312: SriovNetworkNodePolicy without a priority.

use super::node_policy_cel::{node_policy, node_policy_cel};
use crate::rules::cel::{Cel, Check};
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB312",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if context.node_policy().is_some_and(|policy| policy.priority.is_none()) {
        findings.add(
            "/spec/priority",
            "priority is not set: without the operator's webhook it is 0, the highest, and the policy wins on its NICs",
            "Set priority: 99, the lowest, or less.",
        );
    }
}

fn cel() -> Cel {
    node_policy_cel(vec![Check::warning(
        node_policy("!has(variables.spec.priority)"),
        "priority is not set: without the operator's webhook it is 0, the highest, and the policy wins on its NICs; set priority: 99, the lowest, or less",
    )])
}
