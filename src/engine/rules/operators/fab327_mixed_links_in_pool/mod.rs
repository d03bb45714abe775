//! FAB327: one resource for both InfiniBand and Ethernet VFs, or for both kernel and vfio-pci VFs.

use super::nodes_and_nics_of_sriov_policy::link_type_word;
use super::sriov_policies_of_resource::{error_if_nodes_are_certain, other_policies_of_same_resource};
use crate::facts::SriovNodePolicy;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB327",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "no known node matches both nodeSelectors")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default() else { return };
    let driver = |p: &SriovNodePolicy| if p.vfio { "vfio-pci" } else { "netdevice" };
    for other in other_policies_of_same_resource(context, own) {
        let findings = &mut findings.about_other_object(other.name);
        let policy = other.policy;
        let links = own.link.zip(policy.link).filter(|(ours, theirs)| ours != theirs);
        let links = links.map(|(ours, theirs)| ("linkType", link_type_word(ours), link_type_word(theirs)));
        let drivers = (own.vfio != policy.vfio).then(|| ("deviceType", driver(own), driver(policy)));
        for (field, ours, theirs) in links.into_iter().chain(drivers) {
            findings.add_with_severity(
                error_if_nodes_are_certain(other.shared),
                format!("/spec/{field}"),
                format!(
                    "{field} is {ours} in this policy but {theirs} in policy {1:?} ({2}): pods with {0:?} get a VF of either type at random",
                    own.resource,
                    other.name,
                    other.shared.words()
                ),
                "Give each policy its own resourceName.",
            );
        }
    }
}
