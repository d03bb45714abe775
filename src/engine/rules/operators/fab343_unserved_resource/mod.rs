//! FAB343: SR-IOV network over a resource that no known SriovNetworkNodePolicy serves.

use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{IB_NETWORK, NETWORK, OVS_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{nearest, printable};

pub(super) static RULE: Rule = Rule {
    id: "FAB343",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(name) = context.text("/spec/resourceName") else { return };
    let facts = context.snapshot.cluster_facts_for_audience();
    if facts.serves_suffix(name).is_some() || facts.names_suffix(name) {
        return;
    }
    let mut policies = facts.node_policies().peekable();
    if policies.peek().is_none() {
        return;
    }
    let bare = name.rsplit('/').next().unwrap_or(name);
    let hint = nearest(
        bare,
        context.deadline.names_within_compare_budget(bare, policies.map(|(_, _, p)| p.resource.as_str())),
    );
    let shown = printable(name, 63);
    findings.add(
        "/spec/resourceName",
        format!(
            "no known SriovNetworkNodePolicy serves resource {shown}: pods that request this resource stay Pending"
        ),
        match hint {
            Some(hint) => format!("Did you mean {hint}?"),
            None => "Write the resourceName of a SriovNetworkNodePolicy, without a prefix.".to_owned(),
        },
    );
}
