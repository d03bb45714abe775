//! FAB312: SriovNetworkNodePolicy that takes VFs of another policy, but has no priority.

use super::do_sriov_policies_overlap::OurNics;
use super::other_sriov_policies::other_policies_in_time;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::other_sriov_policy_and_common_nodes::CommonNodes;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB312",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default().filter(|policy| policy.priority.is_none()) else {
        return;
    };
    let nics = OurNics::new(own, context);
    // FAB325 reports policies of different resources, and that their order depends on the priority.
    let met = other_policies_in_time(context)
        .filter(|other| other.policy.resource == own.resource)
        .find(|other| other.shared != CommonNodes::None && nics.first_nic_in_common(*other, true).is_some());
    if let Some(other) = met {
        findings.add(
            "/spec/priority",
            format!(
                "priority is not set, and policy \"{}\" takes the same VFs: the priority is 99 with the operator's webhook, but 0 without this webhook",
                escaped_and_cut(other.name, 63)
            ),
            "Set priority. The lower number wins.",
        );
    }
}
