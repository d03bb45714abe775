//! FAB224: shared RDMA devices on nodes in exclusive RDMA mode.

use crate::facts::config_texts;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB224",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    reach: Reach::AnyWarns,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

fn check_pod(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    if context.subject.snapshot.is_for_anyone() {
        return;
    }
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let shared = context.devices().held.iter().filter(|held| held.fact.shared == Some(true));
    for held in shared.filter(|held| on_exclusive(&held.fact.interfaces, facts)) {
        // Nodes that the SR-IOV operator does not manage may have interfaces of the same names.
        if classes.offering_of(held.name).is_some() {
            continue;
        }
        // Only admins may know which interfaces a pool is over.
        let over = match context.subject.snapshot.is_not_for_operator() {
            true => "its NICs".to_owned(),
            false => printable(&held.fact.interfaces.join(", "), 40),
        };
        findings.add(
            held.path(),
            format!(
                "no node offers {} ({}): nodes with {over} are in exclusive RDMA mode",
                printable(held.name, 63),
                held.fact.describe(context.subject.snapshot.is_not_for_operator()),
            ),
            "Request VFs, or ask for nodes in shared mode.",
        );
    }
}

fn check_object(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let facts = context.snapshot.cluster_facts_for_audience();
    for text in config_texts(context.json).unwrap_or_default() {
        let pools = text.pools.as_deref().unwrap_or_default();
        let shared = pools.iter().filter(|pool| pool.shared == Some(true));
        for pool in shared.filter(|pool| on_exclusive(&pool.interfaces, facts)) {
            findings.add(
                text.pointer,
                format!(
                    "pool {} uses {} on nodes in exclusive RDMA mode: the shared device plugin does not start there",
                    printable(&pool.name.to_string(), 63),
                    printable(&pool.interfaces.join(", "), 40)
                ),
                "Set rdmaMode: shared on these nodes, or use the SR-IOV device plugin.",
            );
        }
    }
}

/// Whether every interface of a pool is on nodes in mode exclusive.
fn on_exclusive(interfaces: &[String], facts: &crate::facts::Index) -> bool {
    let exclusive = |name: &String| facts.port(name).is_some_and(|port| port.exclusive == Some(true));
    !interfaces.is_empty() && interfaces.iter().all(exclusive)
}
