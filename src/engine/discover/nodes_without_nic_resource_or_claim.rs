//! Nodes without a resource or claim of RDMA NICs. That nothing was seen proves nothing by itself: objects may be missing,
//! and a driver may not be installed yet.

use super::fields_with_origin::{DraftOrWithheld, Fabric, Question, Sourced, hca, unattached, withheld};
use super::groups_of_nodes::{COREWEAVE_FLAVOR, Group};
use super::node_as_shown::{GKE_ACCELERATOR, Provider};
use super::objects_of_cluster::{NODE_POOL, Sources};
use super::signs_of_nics::{NFD, has_nic_label, nic_label, rdma_label, unknown_resource};
use crate::profile::schema::{Attachment, Transport};
use crate::text::names_in_sentence;
use std::collections::BTreeSet;

/// Kinds whose objects would describe a fabric.
const FABRIC_KINDS: [&str; 4] =
    ["NetworkAttachmentDefinition", "SriovNetworkNodePolicy", "NicClusterPolicy", "ResourceSlice"];

/// Machines whose only fast network is a fabric that has to be set up. The first part of their type.
const EFA_TYPES: [&str; 10] = [
    "p4d.",
    "p4de.",
    "p5.",
    "p5e.",
    "p5en.",
    "p6-b200.",
    "p6-b300.",
    "p6e-gb200.",
    "p6e-gb300.",
    "p6e-gb300r.",
];

/// Accelerators of GKE's machines with GPUDirect (GoogleCloudPlatform/container-engine-accelerators).
const GPUDIRECT: [&str; 6] = [
    "nvidia-h100-80gb",
    "nvidia-h100-mega-80gb",
    "nvidia-h200-141gb",
    "nvidia-b200",
    "nvidia-gb200",
    "nvidia-gb300",
];

/// Label of Nebius's nodes: the network of InfiniBand that they are in
/// (https://docs.nebius.com/kubernetes/gpu/topology-aware-scheduling).
const NEBIUS_CLUSTER: &str = "topology.nebius.com/gpu-cluster-id";

/// Nothing shows the NICs of the nodes, and a job over TCP works with any.
const UNSEEN: &str = "Do the nodes have RDMA NICs of a vendor other than 15b3? No label or resource shows such NICs. If the \
                      nodes have them, jobs do not use these NICs with this profile.";

/// Nebius's nodes list no resource for their adapters, and pods need no network.
fn nebius(group: &Group<'_>) -> DraftOrWithheld {
    let base = Some("nebius-infiniband");
    let transport = Sourced::new(Transport::Infiniband, format!("label {NEBIUS_CLUSTER}"));
    let none = "the nodes list no resource for their adapters";
    let mut fabric = unattached("ib", base, transport, none, Vec::new());
    fabric.questions.push(hca(base));
    fabric.questions.push(Question(
        "How do containers get the InfiniBand devices? In Nebius's test they are privileged. The webhook adds no device."
            .to_owned(),
    ));
    let clusters: BTreeSet<&str> = group.nodes.iter().filter_map(|node| node.label(NEBIUS_CLUSTER)).collect();
    if clusters.len() > 1 {
        fabric.questions.push(Question(format!(
            "Do all pods of a job run in one GPU cluster? The nodes are in {}, and InfiniBand connects only nodes of the same \
             one.",
            clusters.len()
        )));
    }
    DraftOrWithheld::Fabric(Box::new(fabric))
}

pub(super) fn withheld_without_fabric_objects() -> DraftOrWithheld {
    withheld("no object describes a fabric of these nodes", "Which network do the nodes have for training?")
}

/// Signs of a NIC that may have RDMA. No object shows whether it has.
fn withheld_if_a_nic_may_have_rdma(group: &Group<'_>, sources: &Sources) -> Option<DraftOrWithheld> {
    if let Some(name) = unknown_resource(&group.nodes, sources) {
        return Some(withheld(
            format!(
                "the nodes list resource {name}, but no object shows whether the devices of this resource are RDMA NICs"
            ),
            "Do training pods request this resource for their NICs? If the resource is not for RDMA NICs, write a profile with base: ethernet-tcp.",
        ));
    }
    let label = group.nodes.iter().find_map(|node| nic_label(node))?;
    Some(withheld(
        format!("label {label} shows NICs, but no object shows whether these NICs have RDMA"),
        "Do training pods use RDMA on these NICs? If these NICs are only the Ethernet NICs of the nodes, write a profile with base: ethernet-tcp.",
    ))
}

pub(super) fn outcome_without_nic_resources(group: &Group<'_>, sources: &Sources) -> DraftOrWithheld {
    if let Some((label, _)) = &group.sign {
        let question = match group.provider {
            Provider::Oci => {
                "Do pods use the host network (attachment: host-network)? Or do these nodes lack virtual functions \
                 (resource nvidia.com/rdma-vf)?"
            }
            _ => "Which resource do pods request for the NICs?",
        };
        return withheld(
            format!("label {label} shows an RDMA network, but the nodes list no resource for its NICs"),
            question,
        );
    }
    if group.nodes.iter().all(|node| node.label(NEBIUS_CLUSTER).is_some()) {
        return nebius(group);
    }
    let efa = group.nodes.iter().find_map(|node| {
        let of = node.instance_type()?;
        let bare = of.strip_prefix("ml.").unwrap_or(of);
        EFA_TYPES.iter().any(|prefix| bare.starts_with(prefix)).then_some(of)
    });
    if let Some(of) = efa.filter(|_| group.provider == Provider::Aws) {
        return withheld(
            format!("instance type {of} has EFA, but the nodes do not list vpc.amazonaws.com/efa"),
            "Were the instances launched with EFA interfaces? Does the EFA device plugin support this instance type?",
        );
    }
    let gpudirect = group.nodes.iter().find_map(|node| {
        node.label(GKE_ACCELERATOR).filter(|of| GPUDIRECT.contains(of) && group.provider == Provider::Gce)
    });
    if let Some(of) = gpudirect {
        return withheld(
            format!(
                "label {GKE_ACCELERATOR}: {of} shows a machine with GPUDirect, but the nodes list no networks of GKE"
            ),
            "Was the node pool created with additional networks, and do their Network objects exist?",
        );
    }
    if let Some(label) = group.nodes.iter().find_map(|node| rdma_label(node)) {
        return withheld(
            format!(
                "label {label} shows NICs with RDMA, but no resource or network gives these NICs to pods"
            ),
            "Are these NICs for training? If these NICs are only the Ethernet NICs of the nodes, write a profile with base: \
             ethernet-tcp.",
        );
    }
    let unread = sources.unread.keys().map(String::as_str).filter(|kind| *kind != NODE_POOL);
    let kinds: Vec<&str> = unread.collect();
    if !kinds.is_empty() {
        return withheld(
            format!("{} could not be read, so these nodes may have a fabric", kinds.join(", ")),
            "Run discover with an account that may list these kinds.",
        );
    }
    // On CoreWeave's Ethernet nodes the keys of the fabric are there with empty values.
    let empty =
        group.nodes.iter().all(|node| node.labels.get(COREWEAVE_FLAVOR).is_some_and(String::is_empty));
    let by_provider = group.provider == Provider::CoreWeave && empty;
    if let Some(open) = withheld_if_a_nic_may_have_rdma(group, sources).filter(|_| !by_provider) {
        return open;
    }
    let nfd = group.nodes.iter().all(|node| node.labels.keys().any(|key| key.starts_with(NFD)));
    let from = if by_provider {
        format!("label {COREWEAVE_FLAVOR} of the nodes is empty")
    } else if nfd {
        "labels of Node Feature Discovery: no NIC of vendor 15b3, no loaded RDMA driver".to_owned()
    } else if sources.complete {
        "no resource, network or claim of this cluster gives RDMA devices to pods".to_owned()
    } else {
        let missing: Vec<&str> =
            FABRIC_KINDS.into_iter().filter(|kind| !sources.kinds.contains(*kind)).collect();
        return withheld(
            format!(
                "the fabric of these nodes is not known, because the dump has no objects of the kinds {}",
                names_in_sentence(&missing)
            ),
            "Do these nodes have only Ethernet? If yes, write a profile with base: ethernet-tcp. If no, add the missing kinds to the dump, or use --live.",
        );
    };
    // As most operators configure it, Node Feature Discovery has no labels for NICs of other vendors.
    let unseen = !by_provider && !group.nodes.iter().all(|node| has_nic_label(node));
    DraftOrWithheld::Fabric(Box::new(Fabric {
        suffix: "tcp",
        base: Some("ethernet-tcp"),
        transport: Sourced::new(Transport::Ethernet, from.clone()),
        attachment: Sourced::new(Attachment::None, from),
        inject: None,
        rails: Vec::new(),
        resources: Vec::new(),
        gke: Vec::new(),
        questions: if unseen { vec![Question(UNSEEN.to_owned())] } else { Vec::new() },
    }))
}
