//! FAB724: SR-IOV VFs that the operator is still creating.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB724", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    for held in &context.devices().held {
        if facts.node_facts_of_sriov_resource(held.fact).is_some_and(|site| !site.settled) {
            findings.add(
                held.pointer_of_first_holder(),
                format!(
                    "no node has finished creating VFs of {}: syncStatus in SriovNetworkNodeState is not Succeeded",
                    escaped_and_cut(held.name, 63)
                ),
                "Wait until syncStatus is Succeeded. If it is Failed, read status.lastSyncError.",
            );
        }
    }
}
