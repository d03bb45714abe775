//! Multus: the networks annotation of a pod, the CNI configuration of a network, and the resource of a network. Only
//! how they are read: what is wrong with them is reported by the rules in `rules::networks`.

pub mod cni_config;
pub mod facts_of_network;
pub mod ipam;
pub mod network_class;
mod networks_annotation_error;
pub mod networks_annotation_requests;
pub mod parse_networks_annotation;
pub mod subnet;

pub use facts_of_network::{AddressFacts, NetworkFact, NetworkRef, NodeLabel, ResourceName, ResourceRef};
pub use network_class::{LinkLayer, NetworkClass, Sharing, classify_cni_config};
pub use networks_annotation_error::AnnotationError;
pub use networks_annotation_requests::Requests;
pub use parse_networks_annotation::{
    MAX_NETWORKS, RequestedAttachment, RequestedNetworks, is_dns_label, parse_all, parse_within_limit,
};

/// Pod annotation that requests secondary networks (Network Plumbing WG specification, section 4.1.1).
pub const NETWORKS_ANNOTATION: &str = "k8s.v1.cni.cncf.io/networks";
/// Pod annotation that replaces the cluster's network for one pod (multus-cni docs/configuration.md).
pub const DEFAULT_NETWORK_ANNOTATION: &str = "v1.multus-cni.io/default-network";
/// Annotation of a NetworkAttachmentDefinition that names its extended resource.
pub const RESOURCE_ANNOTATION: &str = "k8s.v1.cni.cncf.io/resourceName";
/// Annotation of a NetworkAttachmentDefinition that names a label of the nodes that have the network, as
/// network-resources-injector reads it.
pub const NODE_SELECTOR_ANNOTATION: &str = "k8s.v1.cni.cncf.io/nodeSelector";
