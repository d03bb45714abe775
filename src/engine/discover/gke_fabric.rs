//! GKE's own networks: one Network per rail, which the nodes list as resources.

use super::fields_with_origin::{DraftOrWithheld, Fabric, GkeInterface, Question, Sourced, withheld};
use super::gke_network_objects::{DeviceMode, GkeNetwork};
use super::groups_of_nodes::Group;
use super::node_as_shown::GKE_ACCELERATOR;
use super::objects_of_cluster::Sources;
use super::signs_of_nics::GKE_NETWORKS;
use crate::profile::schema::{Attachment, Inject, Transport};
use crate::text::names_in_message;

/// Accelerators of the machines with GPUDirect-TCPX and -TCPXO (GoogleCloudPlatform/container-engine-accelerators).
const TCPX: &str = "nvidia-h100-80gb";
const TCPXO: &str = "nvidia-h100-mega-80gb";

/// Names in the order of their numbers: rdma-2 before rdma-10.
pub(super) fn numeric_sort_key(name: &str) -> (String, u64) {
    let digits = name.chars().rev().take_while(char::is_ascii_digit).count();
    let at = name.len() - digits;
    let (head, tail) = name.split_at_checked(at).unwrap_or((name, ""));
    (head.to_owned(), tail.parse().unwrap_or(0))
}

pub(super) fn fabric_of_gke_nodes(
    group: &Group<'_>,
    accelerators: u64,
    sources: &Sources,
) -> DraftOrWithheld {
    let mode = |network: &GkeNetwork| {
        sources.gke_parameters.get(network.parameters.as_ref()?).map(|parameters| parameters.mode)
    };
    if sources.gke_networks.is_empty() {
        return withheld(
            "the nodes list networks of GKE, but no Network object was read",
            "Add the objects of networks.networking.gke.io and gkenetworkparamsets.networking.gke.io to the dump.",
        );
    }
    let listed = group.resources.keys().filter_map(|name| name.strip_prefix(GKE_NETWORKS));
    let mut networks: Vec<&GkeNetwork> =
        listed.filter_map(|network| sources.gke_networks.get(network)).collect();
    networks.sort_by_key(|network| numeric_sort_key(&network.name));
    if let Some(unknown) = networks.iter().find(|network| mode(network).is_none()) {
        return withheld(
            format!(
                "Network {}: its GKENetworkParamSet was not read, so its device mode is unknown",
                unknown.name
            ),
            "Which networks have deviceMode: RDMA? Add the GKENetworkParamSets to the dump.",
        );
    }
    if let Some(broken) = networks.iter().find(|network| !network.ready) {
        return withheld(
            format!("Network {} is not ready", broken.name),
            format!("Why is Network {} not ready? See its conditions.", broken.name),
        );
    }
    let of = |wanted: DeviceMode| -> Vec<&GkeNetwork> {
        networks.iter().copied().filter(|network| mode(network) == Some(wanted)).collect()
    };
    let accelerator = group.nodes.iter().find_map(|node| node.label(GKE_ACCELERATOR)).unwrap_or_default();
    let rdma = of(DeviceMode::Rdma);
    if !rdma.is_empty() {
        // GKE's RDMA machines have a second Ethernet NIC, eth1, so the guides name the rails from eth2 on.
        let base = if accelerators == 4 { "gke-a4x" } else { "gke-rdma" };
        return fabric_of_gke_networks(
            ("gke-rdma", base, 2),
            Transport::Roce,
            &rdma,
            accelerators,
            accelerator,
        );
    }
    let plain = of(DeviceMode::NetDevice);
    match accelerator {
        // Four NICs for eight GPUs.
        TCPX => fabric_of_gke_networks(
            ("tcpx", "gke-tcpx", 1),
            Transport::Tcpx,
            &plain,
            accelerators / 2,
            accelerator,
        ),
        TCPXO => fabric_of_gke_networks(
            ("tcpxo", "gke-tcpxo", 1),
            Transport::Tcpxo,
            &plain,
            accelerators,
            accelerator,
        ),
        other => withheld(
            format!(
                "the networks of the nodes have deviceMode NetDevice, and label {GKE_ACCELERATOR} is {other:?}"
            ),
            "Are these networks for training? GPUDirect-TCPX runs on nvidia-h100-80gb, GPUDirect-TCPXO on \
             nvidia-h100-mega-80gb.",
        ),
    }
}

fn fabric_of_gke_networks(
    (suffix, base, first): (&'static str, &'static str, usize),
    transport: Transport,
    networks: &[&GkeNetwork],
    wanted: u64,
    accelerator: &str,
) -> DraftOrWithheld {
    if u64::try_from(networks.len()).unwrap_or(u64::MAX) != wanted {
        let names: Vec<&str> = networks.iter().map(|network| network.name.as_str()).collect();
        return withheld(
            format!(
                "the nodes need {wanted} networks, one per NIC, but list {} ({})",
                names.len(),
                names_in_message(&names)
            ),
            "Which networks are missing? Or which of these networks are not for training?",
        );
    }
    let from = |network: &GkeNetwork| {
        let parameters = network.parameters.as_deref().unwrap_or_default();
        format!("Network {}, GKENetworkParamSet {parameters}", network.name)
    };
    let default = GkeInterface {
        interface: "eth0".to_owned(),
        network: Sourced::new("default".to_owned(), "the network of the cluster"),
    };
    let rails = networks.iter().enumerate().map(|(at, network)| GkeInterface {
        interface: format!("eth{}", at + first),
        network: Sourced::new(network.name.clone(), from(network)),
    });
    let mode = if transport == Transport::Roce { "RDMA" } else { "NetDevice" };
    let sign =
        format!("deviceMode {mode} of the GKENetworkParamSets; label {GKE_ACCELERATOR}: {accelerator}");
    let inject = if transport == Transport::Roce { Inject::Annotations } else { Inject::Review };
    DraftOrWithheld::Fabric(Box::new(Fabric {
        suffix,
        base: Some(base),
        transport: Sourced::new(transport, sign),
        attachment: Sourced::new(Attachment::None, "GKE attaches its networks itself"),
        inject: Some(Sourced::new(inject, "GKE's own webhook makes the other changes")),
        rails: Vec::new(),
        resources: Vec::new(),
        gke: std::iter::once(default).chain(rails).collect(),
        questions: Vec::<Question>::new(),
    }))
}
