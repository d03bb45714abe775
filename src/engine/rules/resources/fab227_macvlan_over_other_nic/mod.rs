//! FAB227: macvlan network over a different NIC than the pod's RDMA device.

use super::rdma_driver::{UNKNOWN_DRIVER, do_all_nodes_with_resource_have_ofed};
use crate::facts::ClusterFacts;
use crate::multus::{LinkLayer, Sharing};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB227",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, UNKNOWN_NIC), (Severity::Warning, UNKNOWN_DRIVER)],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Why the finding is a warning if the SriovNetworkNodeStates do not show all interfaces.
const UNKNOWN_NIC: &str = "on some nodes, the interfaces of the NICs are not known";

/// Name prefixes of interfaces that use other interfaces. Such a name does not show the NIC.
const UPPER: [&str; 5] = ["bond", "team", "br", "vlan", "ovs"];

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let devices = context.devices();
    let pools = || devices.held.iter().filter(|held| held.fact.shared == Some(true));
    if pools().next().is_none() || context.pod().host_network() {
        return;
    }
    // InfiniBand needs no address: its GIDs come from the subnet manager.
    if pools().any(|held| held.fact.link != Some(LinkLayer::Ethernet)) {
        return;
    }
    // A pool without interface names takes any NIC.
    if pools().any(|held| held.fact.interfaces.is_empty()) {
        return;
    }
    let nics: Vec<&str> = pools().flat_map(|held| held.fact.interfaces.iter().map(String::as_str)).collect();
    let names: HashSet<&str> = nics.iter().copied().collect();
    let mut masters = Vec::new();
    for network in &devices.networks {
        let Some(known) = network.known else { return };
        match (known.class.sharing, known.fact.class.interface.as_deref()) {
            (Some(Sharing::Shared), Some(master)) if !may_use_interface_of_pools(master, &names) => {
                masters.push((network, master));
            }
            (Some(Sharing::Shared), _) | (None, _) => return,
            (Some(_), _) => {}
        }
    }
    let facts: &ClusterFacts = context.subject.snapshot.cluster_facts_for_audience();
    let is_nic = |name: &str| facts.node_facts_of_interface(name).is_some();
    // Only admins may know which interfaces a pool is over.
    let on = match context.subject.snapshot.is_not_for_operator() {
        true => "other NICs".to_owned(),
        false => escaped_and_cut(&nics.join(", "), 40),
    };
    let ofed = pools().all(|held| do_all_nodes_with_resource_have_ofed(context.subject.snapshot, held.name));
    let are_nics = names.iter().all(|nic| is_nic(nic));
    for (network, master) in masters {
        // The pod's author may have chosen the interface of a network in the pod's own namespace.
        let proven = context.subject.snapshot.node_states_cover_all_nodes()
            && context.subject.snapshot.may_use_interface_facts_of_networks_in(network.namespace)
            && is_nic(master)
            && are_nics;
        let (severity, because, why) = match (proven, ofed) {
            (true, true) => (Severity::Error, "", "the devices have no GID"),
            (true, false) => (
                Severity::Warning,
                UNKNOWN_DRIVER,
                "if the node's driver is MLNX_OFED or DOCA, the devices have no GID",
            ),
            (false, _) => (
                Severity::Warning,
                UNKNOWN_NIC,
                "the devices have no GID unless both interfaces belong to one NIC",
            ),
        };
        findings.with_reason_for_lower_severity(because).add_with_severity(
            severity,
            networks_annotation(),
            format!(
                "network {} uses NIC {}, but the pod's RDMA devices are on {}: {why}",
                network.describe(),
                escaped_and_cut(master, 15),
                on
            ),
            "Request a network and RDMA devices on the same NIC.",
        );
    }
}

/// Whether an interface may use one of the pools' interfaces.
fn may_use_interface_of_pools(master: &str, pools: &HashSet<&str>) -> bool {
    pools.contains(master) || UPPER.iter().any(|upper| master.starts_with(upper)) || master.contains('.')
}
