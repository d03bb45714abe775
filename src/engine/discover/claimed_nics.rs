//! NICs that pods get by a claim (DRA). The webhook adds no networks to such pods; the profile has their settings.

use super::counts_over_nodes::Count;
use super::fields_with_origin::{DraftOrWithheld, Fabric, Question, Sourced, hca, unattached, withheld};
use super::groups_of_nodes::Group;
use super::node_as_shown::{Claimable, Provider};
use crate::multus::LinkLayer;
use crate::profile::schema::Transport;
use std::collections::BTreeSet;

/// The driver for virtual functions, which either attaches networks itself or leaves them to Multus
/// (k8snetworkplumbingwg/dra-driver-sriov:README.md, "Configuration Modes").
const SRIOV: &str = "sriovnetwork.k8snetworkplumbingwg.io";

/// The devices of the driver with the most RDMA devices.
struct Claimed<'a> {
    driver: &'a str,
    count: &'a Count,
    devices: Vec<&'a Claimable>,
}

/// What the bases for NVIDIA's NICs set as NCCL_IB_HCA: a prefix of the names of the devices.
const PREFIX: &str = "mlx5";

impl Claimed<'_> {
    /// The question about the names of the RDMA devices, unless the slices answer it.
    fn question_about_hca_list(&self, base: Option<&'static str>, transport: Transport) -> Option<Question> {
        // Beside InfiniBand devices, a node may have RDMA devices of Ethernet, which the pods do not claim.
        let claimed = |bare: bool| transport == Transport::Roce || bare || base.is_none();
        let all = self.devices.iter().flat_map(|devices| &devices.names);
        let names: BTreeSet<&str> =
            all.filter(|(_, bare)| claimed(**bare)).map(|(name, _)| name.as_str()).collect();
        let (Some(first), Some(last)) = (names.first(), names.last()) else { return Some(hca(base)) };
        let slice = self.slice();
        if base.is_none() {
            return Some(Question(format!(
                "Must NCCL use only some of the RDMA devices (in ResourceSlice {slice} and others: {first} to {last})? \
                 NCCL_IB_HCA is not set, so NCCL uses every device of the pod. To limit NCCL, set NCCL_IB_HCA in env."
            )));
        }
        let other = names.iter().find(|name| !name.starts_with(PREFIX))?;
        Some(Question(format!(
            "Which names should NCCL_IB_HCA have? The base sets NCCL_IB_HCA={PREFIX}, but ResourceSlices name an RDMA device \
             {other}. NCCL does not use this device: set NCCL_IB_HCA in env."
        )))
    }

    fn slice(&self) -> &str {
        self.devices.first().map(|devices| devices.slice.as_str()).unwrap_or_default()
    }

    /// The fabric of pods that claim these devices.
    fn fabric_of_claims(
        &self,
        suffix: &'static str,
        base: Option<&'static str>,
        transport: Transport,
        what: &str,
    ) -> Fabric {
        let from = format!(
            "ResourceSlice {}: {} {what} of driver {} on {}",
            self.slice(),
            self.count.units,
            self.driver,
            self.count.nodes()
        );
        let attachment = format!("pods claim devices of driver {}", self.driver);
        let mut fabric = unattached(suffix, base, Sourced::new(transport, from), &attachment, Vec::new());
        // On GKE, Google's script sets the names.
        if transport.is_verbs() && base != Some("gke-dranet") {
            fabric.questions.extend(self.question_about_hca_list(base, transport));
        }
        if self.driver == SRIOV {
            fabric.questions.push(Question(
                "In which mode does dra-driver-sriov run? In mode STANDALONE, the claim names the network. In mode MULTUS, \
                 pods must also name it in their annotation. The webhook adds neither."
                    .to_owned(),
            ));
        }
        fabric
    }
}

pub(super) fn fabric_of_claimed_nics(group: &Group<'_>) -> DraftOrWithheld {
    let Some((driver, count)) = group.claims.iter().max_by_key(|(_, count)| count.units) else {
        return super::nodes_without_nic_resource_or_claim::withheld_without_fabric_objects();
    };
    let devices = group.nodes.iter().filter_map(|node| node.claimable.get(driver)).collect();
    let claimed = Claimed { driver, count, devices };
    if claimed.devices.iter().any(|devices| devices.efa) {
        return fabric_found(claimed.fabric_of_claims(
            "efa",
            Some("aws-efa-dra"),
            Transport::Efa,
            "EFA devices",
        ));
    }
    // AKS manages DRANET for InfiniBand; a device with an interface is the Ethernet NIC of the machine, of the same vendor
    // (https://learn.microsoft.com/en-us/azure/aks/managed-support-for-dranet).
    if group.provider == Provider::Azure && claimed.devices.iter().any(|devices| devices.bare > 0) {
        let bare = Count::count_units_over_nodes(&group.nodes, |node| {
            node.claimable.get(driver).map_or(0, |of| of.bare.into())
        });
        let claimed = Claimed { count: &bare, ..claimed };
        let what = "RDMA devices without a network interface, on Azure InfiniBand,";
        return fabric_found(claimed.fabric_of_claims(
            "ib",
            Some("azure-dranet"),
            Transport::Infiniband,
            what,
        ));
    }
    let links: BTreeSet<LinkLayer> =
        claimed.devices.iter().flat_map(|devices| devices.links.iter().copied()).collect();
    let mut links = links.into_iter();
    match (links.next(), links.next()) {
        (Some(LinkLayer::Ethernet), None) => {
            let base = (group.provider == Provider::Gce).then_some("gke-dranet");
            fabric_found(claimed.fabric_of_claims("roce", base, Transport::Roce, "RDMA devices"))
        }
        (Some(LinkLayer::InfiniBand), None) => {
            fabric_found(claimed.fabric_of_claims("ib", None, Transport::Infiniband, "RDMA devices"))
        }
        (None, _) => withheld(
            format!(
                "ResourceSlice {} of driver {driver} lists {} RDMA devices, but not their link layer",
                claimed.slice(),
                count.units
            ),
            "Are these NICs RoCE or InfiniBand? Write a profile with transport: roce or infiniband, and attachment: none.",
        ),
        _ => withheld(
            format!("driver {driver} publishes RDMA devices of both link layers"),
            "Which devices are for training? Select them in the claims, and write the transport into a profile with \
             attachment: none.",
        ),
    }
}

fn fabric_found(fabric: Fabric) -> DraftOrWithheld {
    DraftOrWithheld::Fabric(Box::new(fabric))
}
