//! FAB338: SriovNetwork over InfiniBand, or SriovIBNetwork over Ethernet.

use super::nodes_and_nics_of_sriov_policy::link_type_word;
use super::resource_of_sriov_network::name_and_facts_of_resource;
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB338",
    severity: Severity::Error,
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((name, fact)) = name_and_facts_of_resource(context) else { return };
    let needs = match context.kind == SRIOV_IB_NETWORK.1 {
        true => LinkLayer::InfiniBand,
        false => LinkLayer::Ethernet,
    };
    let Some(link) = fact.link.filter(|link| *link != needs) else { return };
    let (plugin, fix) = match (context.kind, needs) {
        (_, LinkLayer::InfiniBand) => {
            ("ib-sriov fails on Ethernet", "Use a SriovNetwork, or a resource of InfiniBand VFs.")
        }
        ("OVSNetwork", _) => ("an OVS bridge needs Ethernet", "Use a SriovIBNetwork, or Ethernet VFs."),
        _ => (
            "sriov-cni sets a VLAN, which InfiniBand does not support",
            "Use a SriovIBNetwork, or Ethernet VFs.",
        ),
    };
    findings.add(
        "/spec/resourceName",
        format!(
            "{} uses resource {}, but {}: {plugin}",
            context.kind,
            escaped_and_cut(name, 63),
            evidence_of_link_type(context, name, link)
        ),
        fix,
    );
}

/// The object that shows the link type of a resource.
fn evidence_of_link_type(context: &ObjectContext<'_>, resource: &str, link: LinkLayer) -> String {
    let facts = context.snapshot.cluster_facts_for_audience();
    // Each policy and each state is looked at, for each object with this finding.
    let looks = facts.node_policies().count().saturating_add(facts.node_states().len());
    if !context.deadline.take_looks_for_reasons(looks) {
        return format!("its NICs are {}", link_type_word(link));
    }
    let policy = facts.node_policies().find(|(_, _, p)| p.resource == resource && p.link == Some(link));
    if let Some((_, name, _)) = policy {
        return format!("SriovNetworkNodePolicy {name:?} has linkType {}", link_type_word(link));
    }
    let of = |(_, state): &(&str, &crate::facts::SriovNodeState)| {
        state.groups.iter().any(|g| g.resource == resource && g.link == Some(link))
    };
    match facts.node_states().find(of) {
        Some((node, _)) => {
            format!("SriovNetworkNodeState {node} lists this resource on {} NICs", link_type_word(link))
        }
        None => format!("its NICs are {}", link_type_word(link)),
    }
}
