//! FAB312: SriovNetworkNodePolicy that takes VFs of another policy, but has no priority.

use super::do_sriov_policies_overlap::OurNics;
use super::other_sriov_policies::others;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::sriov_policy_beside::Common;
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB312",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(own) = context.node_policy().filter(|policy| policy.priority.is_none()) else { return };
    let nics = OurNics::new(own, context.snapshot);
    // FAB325 reports policies of different resources, and that their order depends on the priority.
    let met = others(context)
        .filter(|other| other.policy.resource == own.resource)
        .find(|other| other.shared != Common::None && nics.first_nic_in_common(other.policy, true).is_some());
    if let Some(other) = met {
        findings.add(
            "/spec/priority",
            format!(
                "priority is not set, and policy \"{}\" takes the same VFs: the priority is 99 with the operator's webhook, but 0 without this webhook",
                printable(other.name, 63)
            ),
            "Set priority. The lower number wins.",
        );
    }
}
