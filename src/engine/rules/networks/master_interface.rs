//! The node's interface that macvlan, ipvlan and ipoib networks are over.

use crate::multus::LinkLayer;
use crate::rules::finding::Severity;
use crate::rules::object_context::ObjectContext;
use crate::text::escaped_and_cut;

/// Reasons for warnings.
pub(in crate::rules) const DEFAULT_ROUTE: &str = "the interface of the default route may be correct";
pub(in crate::rules) const OTHER_NODES: &str =
    "on nodes without a SriovNetworkNodeState, the interface may have another link type";
pub(in crate::rules) const KNOWN_ONLY_BY_NAME: &str = "the link type is known only from the interface's name";

/// A wrong interface.
#[derive(Debug)]
pub(in crate::rules) struct MasterInterfaceFault {
    pub(in crate::rules) severity: Severity,
    /// The reason if the finding is a warning.
    pub(in crate::rules) because: &'static str,
    pub(in crate::rules) message: String,
    pub(in crate::rules) fix: &'static str,
}

/// Returns what is wrong with the master interface of a shared network, with the fix.
pub(in crate::rules) fn fault_of_master_interface(
    context: &ObjectContext<'_>,
    cni_type: &str,
    master: Option<&str>,
) -> Option<MasterInterfaceFault> {
    let (severity, because, message, fix) = judged(context, cni_type, master)?;
    Some(MasterInterfaceFault { severity, because, message, fix })
}

fn judged(
    context: &ObjectContext<'_>,
    cni_type: &str,
    master: Option<&str>,
) -> Option<(Severity, &'static str, String, &'static str)> {
    let needs_ib = cni_type == "ipoib";
    let Some(master) = master else {
        return Some(if needs_ib {
            let message =
                "`master` is not set: plugin ipoib has no default for this field, so every attachment fails"
                    .to_owned();
            (Severity::Error, DEFAULT_ROUTE, message, "Set master to the nodes' InfiniBand interface.")
        } else {
            let message = format!(
                "`master` is not set: {cni_type} uses the interface of the default route, often the management NIC"
            );
            (Severity::Warning, DEFAULT_ROUTE, message, "Set master to the fabric's interface.")
        });
    };
    let shown = escaped_and_cut(master, 40);
    let facts = context.snapshot.cluster_facts_for_audience();
    let certain =
        if context.snapshot.node_states_cover_all_nodes() { Severity::Error } else { Severity::Warning };
    match (needs_ib, facts.link_layer_of_interface(master)) {
        (false, Some(LinkLayer::InfiniBand)) => Some((
            certain,
            OTHER_NODES,
            format!(
                "{cni_type} cannot be created over {shown}, which is InfiniBand in the nodes' SriovNetworkNodeStates"
            ),
            "Use ipoib or ib-sriov over InfiniBand.",
        )),
        (true, Some(LinkLayer::Ethernet)) => Some((
            certain,
            OTHER_NODES,
            format!(
                "ipoib cannot be created over {shown}, which is Ethernet in the nodes' SriovNetworkNodeStates"
            ),
            "Use macvlan or sriov over Ethernet.",
        )),
        (false, None) if LinkLayer::of_interface_name(master) == Some(LinkLayer::InfiniBand) => Some((
            Severity::Warning,
            KNOWN_ONLY_BY_NAME,
            format!(
                "{cni_type} cannot be created over InfiniBand, and {shown} is a typical name of an InfiniBand interface"
            ),
            "Use ipoib or ib-sriov over InfiniBand.",
        )),
        _ => None,
    }
}
