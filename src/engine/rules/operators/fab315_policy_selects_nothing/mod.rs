//! FAB315: SriovNetworkNodePolicy that matches no known node or NIC.

use super::nodes_and_nics_of_sriov_policy::nics_that_policy_takes;
use crate::nodes::InCommon;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB315",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default() else { return };
    let nodes = context.snapshot.nodes_for_audience();
    if nodes.is_empty() {
        return;
    }
    if context.first_selected_node() == InCommon::None {
        findings.add(
            "/spec/nodeSelector",
            format!(
                "nodeSelector matches none of the known nodes (number of nodes: {}): the operator creates no VFs",
                nodes.len()
            ),
            "Compare nodeSelector with the output of kubectl get nodes --show-labels.",
        );
        return;
    }
    if policy.nics.is_empty() || policy.nics.net_filter.is_some() {
        return;
    }
    let Some((example, _)) = context.nics_of_selected_nodes().first() else { return };
    if nics_that_policy_takes(context).next().is_none() {
        findings.add(
            "/spec/nicSelector",
            format!("nicSelector matches no NIC of the selected nodes (for example node {example}): the operator creates no VFs"),
            "Compare nicSelector with status.interfaces of the SriovNetworkNodeStates.",
        );
    }
}
