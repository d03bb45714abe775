//! FAB228: NICs of one RDMA resource with different MTUs.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB228",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the resource belongs to the profile, so the platform team sets the MTU")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    let profile = context.resolution.profile().map(|(p, _)| p);
    for held in context.devices().held.iter().filter(|held| held.fact.rdma == Some(true)) {
        let mtus = facts.node_facts_of_sriov_resource(held.fact).and_then(|site| site.mtu);
        let Some((low, high)) = mtus.filter(|(low, high)| low != high) else { continue };
        let of_profile = profile.is_some_and(|p| p.has_resource(held.name));
        findings.add_with_severity(
            if of_profile { Severity::Info } else { Severity::Warning },
            held.pointer_of_first_holder(),
            format!(
                "the NICs of resource {} have different MTUs ({low} to {high}): all ranks use the smallest MTU",
                escaped_and_cut(held.name, 63)
            ),
            "Ask the platform team for one mtu in all SriovNetworkNodePolicies of the resource.",
        );
    }
}
