//! The node's interface that macvlan, ipvlan and ipoib networks are over.

use crate::multus::LinkLayer;
use crate::rules::finding::Severity;
use crate::rules::object::ObjectContext;
use crate::text::printable;

/// What is wrong with the interface of a shared network, and what to do.
pub(in crate::rules) fn judge(
    context: &ObjectContext<'_>,
    cni_type: &str,
    master: Option<&str>,
) -> Option<(Severity, String, &'static str)> {
    let needs_ib = cni_type == "ipoib";
    let Some(master) = master else {
        return Some(if needs_ib {
            let message =
                "ipoib without `master`: it has no default interface, so every attachment fails".to_owned();
            (Severity::Error, message, "Set master to the nodes' InfiniBand interface.")
        } else {
            let message = format!(
                "{cni_type} without `master`: it uses the interface of the default route, the management NIC"
            );
            (Severity::Warning, message, "Set master to the fabric's interface.")
        });
    };
    let shown = printable(master, 40);
    let facts = context.snapshot.facts();
    let certain = if context.snapshot.states_cover_nodes() { Severity::Error } else { Severity::Warning };
    match (needs_ib, facts.interface(master)) {
        (false, Some(LinkLayer::InfiniBand)) => Some((
            certain,
            format!(
                "{cni_type} over {shown}: the nodes' SriovNetworkNodeStates show InfiniBand, where it cannot be created"
            ),
            "Use ipoib, or ib-sriov, over InfiniBand.",
        )),
        (true, Some(LinkLayer::Ethernet)) => Some((
            certain,
            format!(
                "ipoib over {shown}: the nodes' SriovNetworkNodeStates show Ethernet, where it cannot be created"
            ),
            "Use macvlan, or sriov, over Ethernet.",
        )),
        (false, None) if LinkLayer::of_interface(master) == Some(LinkLayer::InfiniBand) => Some((
            Severity::Warning,
            format!(
                "{cni_type} over {shown}: the name is that of an InfiniBand interface, where it cannot be created"
            ),
            "Use ipoib, or ib-sriov, over InfiniBand.",
        )),
        _ => None,
    }
}
