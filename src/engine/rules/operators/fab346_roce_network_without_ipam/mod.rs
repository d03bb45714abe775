//! FAB346: SriovNetwork without ipam over RDMA VFs.

use super::resource_of_sriov_network::resource;
use crate::facts::names_dpdk;
use crate::multus::LinkLayer;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::printable;
use serde_json::Map;

pub(super) static RULE: Rule = Rule {
    id: "FAB346",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some((name, fact)) = resource(context) else { return };
    // FAB338 reports InfiniBand.
    let roce = fact.rdma == Some(true) && fact.link != Some(LinkLayer::InfiniBand);
    // FAB335 reports a text that cannot be read.
    let without = match context.ipam_text() {
        Some((_, ipam)) => ipam.as_ref().is_ok_and(Map::is_empty),
        None => true,
    };
    let dpdk = || fact.is_for_dpdk() || context.text("/metadata/name").is_some_and(names_dpdk);
    if roce && without && !dpdk() {
        findings.add(
            "/spec/ipam",
            format!(
                "ipam is not set: without an address, RoCE over resource {} has only link-local GIDs",
                printable(name, 63)
            ),
            "Set ipam to nv-ipam or whereabouts.",
        );
    }
}
