//! FAB338: SriovNetwork over InfiniBand, or SriovIBNetwork over Ethernet.

use super::resource_of_sriov_network::resource;
use super::sriov_policy_nodes::word;
use crate::multus::LinkLayer;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{IB_NETWORK, NETWORK, OVS_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB338",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some((name, fact)) = resource(context) else { return };
    let needs = match context.kind == IB_NETWORK.1 {
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
            printable(name, 63),
            evidence(context, name, link)
        ),
        fix,
    );
}

/// The object that shows the link type of a resource.
fn evidence(context: &ObjectContext<'_>, resource: &str, link: LinkLayer) -> String {
    let facts = context.snapshot.cluster_facts_for_audience();
    let policy = facts.node_policies().find(|(_, _, p)| p.resource == resource && p.link == Some(link));
    if let Some((_, name, _)) = policy {
        return format!("SriovNetworkNodePolicy {name:?} has linkType {}", word(link));
    }
    let of = |(_, state): &(&str, &crate::facts::NodeState)| {
        state.groups.iter().any(|g| g.resource == resource && g.link == Some(link))
    };
    match facts.node_states().find(of) {
        Some((node, _)) => format!("SriovNetworkNodeState {node} lists this resource on {} NICs", word(link)),
        None => format!("its NICs are {}", word(link)),
    }
}
