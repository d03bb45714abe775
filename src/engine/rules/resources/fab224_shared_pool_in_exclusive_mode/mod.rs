//! FAB224: shared RDMA devices on nodes in exclusive RDMA mode.

use crate::facts::device_plugin_configs_in_policy;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB224",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    reach: PodsChecked::AnyWarns,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    if context.subject.snapshot.is_for_anyone() {
        return;
    }
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let shared = context.devices().held.iter().filter(|held| held.fact.shared == Some(true));
    for held in shared.filter(|held| are_all_interfaces_in_exclusive_mode(&held.fact.interfaces, facts)) {
        // Nodes that the SR-IOV operator does not manage may have interfaces of the same names.
        if classes.classes_offering(held.name).is_some() {
            continue;
        }
        // Only admins may know which interfaces a pool is over.
        let over = match context.subject.snapshot.is_not_for_operator() {
            true => "its NICs".to_owned(),
            false => escaped_and_cut(&held.fact.interfaces.join(", "), 40),
        };
        findings.add(
            held.pointer_of_first_holder(),
            format!(
                "no node offers {} ({}): nodes with {over} are in exclusive RDMA mode",
                escaped_and_cut(held.name, 63),
                held.fact.describe_provider(context.subject.snapshot.is_not_for_operator()),
            ),
            "Request VFs, or ask for nodes in shared mode.",
        );
    }
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let facts = context.snapshot.cluster_facts_for_audience();
    for text in device_plugin_configs_in_policy(context.json).unwrap_or_default() {
        let pools = text.pools.as_deref().unwrap_or_default();
        let shared = pools.iter().filter(|pool| pool.shared == Some(true));
        for pool in shared.filter(|pool| are_all_interfaces_in_exclusive_mode(&pool.interfaces, facts)) {
            findings.add(
                text.pointer,
                format!(
                    "pool {} uses {} on nodes in exclusive RDMA mode: the shared device plugin does not start there",
                    escaped_and_cut(&pool.name.to_string(), 63),
                    escaped_and_cut(&pool.interfaces.join(", "), 40)
                ),
                "Set rdmaMode: shared on these nodes, or use the SR-IOV device plugin.",
            );
        }
    }
}

/// Whether every interface of a pool is on nodes in mode exclusive.
fn are_all_interfaces_in_exclusive_mode(interfaces: &[String], facts: &crate::facts::ClusterFacts) -> bool {
    let exclusive =
        |name: &String| facts.node_facts_of_interface(name).is_some_and(|port| port.exclusive == Some(true));
    !interfaces.is_empty() && interfaces.iter().all(exclusive)
}
