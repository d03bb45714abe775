//! FAB326: SriovNetworkNodePolicies of one resource with different isRdma, vdpaType or other pool flags.

use super::other_sriov_policies::is_applied_before;
use super::sriov_policies_of_resource::{error_if_nodes_are_certain, other_policies_of_same_resource};
use crate::facts::SriovNodePolicy;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB326",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, LABELS),
        (Severity::Warning, KEPT),
        (Severity::Warning, OPEN),
        (Severity::Warning, HINT),
    ],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const LABELS: &str = "no known node matches both nodeSelectors";
const KEPT: &str = "the operator takes the flag from the first policy, and that policy sets the flag";
const OPEN: &str = "one policy has no priority, so the order of the policies is not known";
const HINT: &str = "excludeTopology is only a hint for NUMA placement";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default() else { return };
    let name = context.non_empty_text_at("/metadata/name").unwrap_or_default();
    for other in other_policies_of_same_resource(context, own) {
        let findings = &mut findings.about_other_object(other.name);
        let policy = other.policy;
        let first = is_applied_before((name, own), other);
        let vdpa = |p: &SriovNodePolicy| p.vdpa.clone().unwrap_or_else(|| "not set".to_owned());
        let winner = match first {
            Some(true) => "this policy".to_owned(),
            _ => format!("policy {:?}", other.name),
        };
        // Of the first policy, whichever of the two that is.
        let lacks = |has: fn(&SriovNodePolicy) -> bool| {
            first.map(|own_is_first| !has(if own_is_first { own } else { policy }))
        };
        let flags = [
            (
                "isRdma",
                own.is_rdma.to_string(),
                policy.is_rdma.to_string(),
                lacks(|p| p.is_rdma),
                "has no RDMA devices",
            ),
            ("vdpaType", vdpa(own), vdpa(policy), first.map(|_| true), "lacks the VFs of the other policy"),
            (
                "needVhostNet",
                own.vhost_net.to_string(),
                policy.vhost_net.to_string(),
                lacks(|p| p.vhost_net),
                "has no /dev/vhost-net",
            ),
        ];
        for (flag, ours, theirs, breaks, so) in flags.iter().filter(|(_, ours, theirs, ..)| ours != theirs) {
            let (severity, because, why) = match breaks {
                Some(true) => (
                    error_if_nodes_are_certain(other.shared),
                    LABELS,
                    format!("{winner} wins, so resource {} {so}", own.resource),
                ),
                Some(false) => {
                    let why = format!("{winner} wins, so the resource gets {flag}");
                    (Severity::Warning, KEPT, why)
                }
                None => (
                    Severity::Warning,
                    OPEN,
                    "one of the two policies sets no priority, so either policy may win".to_owned(),
                ),
            };
            findings.with_reason_for_lower_severity(because).add_with_severity(
                severity,
                format!("/spec/{flag}"),
                format!(
                    "{flag} is {ours} in this policy but {theirs} in policy {:?} ({}): {why}",
                    other.name,
                    other.shared.words()
                ),
                FIX,
            );
        }
        if own.exclude_topology != policy.exclude_topology {
            findings.with_reason_for_lower_severity(HINT).add_with_severity(
                Severity::Warning,
                "/spec/excludeTopology",
                format!(
                    "excludeTopology is {} in this policy but {} in policy {:?} ({}): the pool may lack NUMA hints",
                    own.exclude_topology,
                    policy.exclude_topology,
                    other.name,
                    other.shared.words()
                ),
                FIX,
            );
        }
    }
}

const FIX: &str = "Set the same value in both, or use two resourceNames.";
