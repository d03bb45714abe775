//! FAB346: SriovNetwork without ipam over RDMA VFs.

use super::resource_of_sriov_network::name_and_facts_of_resource;
use crate::facts::names_dpdk;
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::SRIOV_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Map;

pub(super) static RULE: Rule = Rule {
    id: "FAB346",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((name, fact)) = name_and_facts_of_resource(context) else { return };
    // FAB338 reports InfiniBand.
    let roce = fact.rdma == Some(true) && fact.link != Some(LinkLayer::InfiniBand);
    // FAB335 reports a text that cannot be read.
    let without = match context.ipam_text() {
        Some((_, ipam)) => ipam.as_ref().is_ok_and(Map::is_empty),
        None => true,
    };
    let dpdk = || fact.is_for_dpdk() || context.non_empty_text_at("/metadata/name").is_some_and(names_dpdk);
    if roce && without && !dpdk() {
        findings.add(
            "/spec/ipam",
            format!(
                "ipam is not set: without an address, RoCE over resource {} has only link-local GIDs",
                escaped_and_cut(name, 63)
            ),
            "Set ipam to nv-ipam or whereabouts.",
        );
    }
}
