//! FAB343: SR-IOV network over a resource that no known SriovNetworkNodePolicy serves.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::{escaped_and_cut, nearest_if_probably_meant};

pub(super) static RULE: Rule = Rule {
    id: "FAB343",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(name) = context.non_empty_text_at("/spec/resourceName") else { return };
    let facts = context.snapshot.cluster_facts_for_audience();
    if facts.sriov_operator_resource(name).is_some() || facts.do_device_plugins_serve_suffix(name) {
        return;
    }
    let mut policies = facts.node_policies().peekable();
    if policies.peek().is_none() {
        return;
    }
    let bare = name.rsplit('/').next().unwrap_or(name);
    let hint = nearest_if_probably_meant(
        bare,
        context.deadline.take_names_within_budgets(bare, policies.map(|(_, _, p)| p.resource.as_str())),
    );
    let shown = escaped_and_cut(name, 63);
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
