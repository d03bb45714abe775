//! FAB316: externallyManaged policy with more VFs, a larger MTU or another link type than the NIC has.

use super::nodes_and_nics_of_sriov_policy::{link_type_word, nics_that_policy_takes};
use crate::facts::sriov_node_state::PhysicalFunction;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB316",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(policy) = context.sriov_policy_unless_default().filter(|p| p.external) else { return };
    let find = |more: &dyn Fn(&PhysicalFunction) -> Option<String>| {
        nics_that_policy_takes(context)
            .find_map(|(node, nic)| more(nic).map(|has| format!("NIC {} of node {node} has {has}", nic.name)))
    };
    let fix = "Configure the NIC at boot, or write the NIC's own value here.";
    let describe = |field: &str, has: String| {
        format!("externallyManaged is true with {field}, but {has}: the operator does not change the NIC")
    };
    let more = |wanted: Option<u32>, has: Option<u32>| has.filter(|has| wanted.is_some_and(|w| w > *has));
    if let Some(has) = find(&|nic| more(policy.num_vfs, nic.num_vfs).map(|n| format!("only {n} VFs"))) {
        findings.add("/spec/numVfs", describe(&format!("numVfs {}", policy.num_vfs.unwrap_or(0)), has), fix);
    }
    if let Some(has) = find(&|nic| more(policy.mtu, nic.mtu).map(|n| format!("mtu {n}"))) {
        findings.add("/spec/mtu", describe(&format!("mtu {}", policy.mtu.unwrap_or(0)), has), fix);
    }
    let Some(link) = policy.link else { return };
    if let Some(has) =
        find(&|nic| nic.link.filter(|l| *l != link).map(|l| format!("linkType {}", link_type_word(l))))
    {
        findings.add("/spec/linkType", describe(&format!("linkType {}", link_type_word(link)), has), fix);
    }
}
