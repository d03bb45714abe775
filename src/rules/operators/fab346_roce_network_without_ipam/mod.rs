//! FAB346: SriovNetwork over RDMA functions without ipam.

use super::network_fabric::resource;
use crate::multus::LinkLayer;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NETWORK;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

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
    // InfiniBand is FAB338's.
    let roce = fact.rdma == Some(true) && fact.link != Some(LinkLayer::InfiniBand);
    // A text that cannot be read is FAB335's.
    let empty = |text: &str| crate::rules::embedded::object(text, &[]).is_ok_and(|ipam| ipam.is_empty());
    let without = context.text("/spec/ipam").is_none_or(empty);
    if roce && without {
        findings.add(
            "/spec/ipam",
            format!(
                "no ipam over the RDMA resource {}: RoCE needs an address, only link-local GIDs are there",
                printable(name, 63)
            ),
            "nv-ipam or whereabouts",
        );
    }
}
