//! FAB328: two SriovNetworkNodePolicies for one NIC with different values of externallyManaged.

use super::do_sriov_policies_overlap::OurNics;
use super::other_sriov_policies::other_policies_in_time;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::other_sriov_policy_and_common_nodes::CommonNodes;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB328",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "no known node matches both nodeSelectors")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default() else { return };
    let nics = OurNics::new(own, context);
    for other in other_policies_in_time(context)
        .filter(|o| o.policy.external != own.external && o.shared != CommonNodes::None)
    {
        let findings = &mut findings.about_other_object(other.name);
        let severity = if other.shared.is_certain() { Severity::Error } else { Severity::Warning };
        if !findings.may_still_report(severity) {
            continue;
        }
        let Some(met) = nics.first_nic_in_common(other, false) else { continue };
        findings.add_with_severity(
            severity,
            "/spec/externallyManaged",
            format!(
                "externallyManaged of NIC {} is {} in this policy but {} in policy {:?} ({}): the policy applied last decides",
                met.nic,
                own.external,
                other.policy.external,
                other.name,
                other.shared.words()
            ),
            "Set the same value in all policies of this NIC.",
        );
    }
}
