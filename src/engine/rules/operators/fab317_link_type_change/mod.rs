//! FAB317: SriovNetworkNodePolicy that changes the link type of NICs.

use super::nodes_and_nics_of_sriov_policy::{link_type_word, nics_that_policy_takes};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB317",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default().filter(|p| !p.external) else { return };
    let Some(link) = policy.link else { return };
    let other = nics_that_policy_takes(context).find_map(|(node, nic)| {
        let has = nic.link.filter(|l| *l != link && nic.vendor.as_deref() == Some("15b3"))?;
        Some((node, nic, has))
    });
    if let Some((node, nic, has)) = other {
        findings.add(
            "/spec/linkType",
            format!(
                "linkType is {}, but NIC {} of node {node} is {}: the operator changes the NIC's firmware setting and reboots the node",
                link_type_word(link),
                nic.name,
                link_type_word(has)
            ),
            format!("To avoid the change, set linkType: {}.", link_type_word(has)),
        );
    }
}
