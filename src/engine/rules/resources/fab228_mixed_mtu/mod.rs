//! FAB228: NICs of one RDMA resource with different MTUs.

use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB228",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the resource belongs to the profile, so the platform team sets the MTU")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    let profile = context.resolution.profile().map(|(p, _)| p);
    for held in context.devices().held.iter().filter(|held| held.fact.rdma == Some(true)) {
        let mtus = facts.site(held.fact).and_then(|site| site.mtu);
        let Some((low, high)) = mtus.filter(|(low, high)| low != high) else { continue };
        let of_profile = profile.is_some_and(|p| p.serves_resource(held.name));
        findings.add_as(
            if of_profile { Severity::Info } else { Severity::Warning },
            held.path(),
            format!(
                "the NICs of resource {} have different MTUs ({low} to {high}): all ranks use the smallest MTU",
                printable(held.name, 63)
            ),
            "Ask the platform team for one mtu in all SriovNetworkNodePolicies of the resource.",
        );
    }
}
