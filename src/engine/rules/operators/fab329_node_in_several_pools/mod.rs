//! FAB329: nodes in more than one SriovNetworkPoolConfig.

use super::do_selectors_share_nodes::OurNodes;
use crate::facts::SriovPoolConfig;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::POOL_CONFIG;
use crate::rules::other_sriov_policy_and_common_nodes::CommonNodes;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB329",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "no known node matches both nodeSelectors")],
    files: files!(),
    kinds: &[POOL_CONFIG],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // FAB809 reports values of other types.
    let Ok(own) = SriovPoolConfig::parse(context.json) else { return };
    let counted = |pool: &SriovPoolConfig| !pool.hardware_offload;
    let Some(nodes) = own.nodes.as_ref().filter(|_| counted(&own)) else { return };
    let nodes: Vec<_> = nodes.iter().map(|c| c.requirement()).collect();
    let nodes = OurNodes::new(&nodes, context.snapshot.nodes_for_audience(), context.deadline);
    let name = context.non_empty_text_at("/metadata/name");
    let namespace = context.non_empty_text_at("/metadata/namespace");
    for (other_namespace, other, pool) in context.snapshot.cluster_facts_for_audience().pool_configs() {
        // A file may have thousands of pools that select the same nodes.
        if context.deadline.is_over() || findings.must_stop_reporting() {
            return;
        }
        let findings = &mut findings.about_other_object(other);
        // The operator reads the pools of all namespaces.
        let same = Some(other) == name && namespace.is_none_or(|n| n == other_namespace);
        let Some(theirs) = pool.nodes.as_ref().filter(|_| !same && counted(pool)) else { continue };
        let theirs: Vec<_> = theirs.iter().map(|c| c.requirement()).collect();
        let shared = nodes.nodes_in_common_with(&theirs);
        if shared == CommonNodes::None {
            continue;
        }
        let severity = if shared.is_certain() { Severity::Error } else { Severity::Warning };
        if !findings.may_still_report(severity) {
            continue;
        }
        findings.add_with_severity(
            severity,
            "/spec/nodeSelector",
            format!(
                "{} this pool and pool {other:?}: the operator stops configuring a node that is in two pools",
                match shared {
                    CommonNodes::Node(node) => format!("node {node} is in"),
                    CommonNodes::Implied => "nodes are in".to_owned(),
                    CommonNodes::None | CommonNodes::Possible => "nodes may be in".to_owned(),
                }
            ),
            "Select each node in only one pool.",
        );
    }
}
