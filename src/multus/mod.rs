//! Multus: the networks annotation of a pod, and which resource stands behind a network.

pub mod annotation;
pub mod network;

pub use annotation::{AnnotationError, Networks, Selection, parse};
pub use network::{NetworkFact, NetworkRef, ResourceName};

/// Pod annotation that asks for secondary networks (Network Plumbing WG specification, section 4.1.1).
pub const NETWORKS_ANNOTATION: &str = "k8s.v1.cni.cncf.io/networks";
/// Annotation of a NetworkAttachmentDefinition that names the extended resource behind it.
pub const RESOURCE_ANNOTATION: &str = "k8s.v1.cni.cncf.io/resourceName";
