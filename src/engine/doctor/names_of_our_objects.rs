//! Names of our objects. The kustomization and the chart fix them: a cluster has one installation.

/// Name of the Service, the Deployment, the NetworkPolicy and the namespace.
pub const NAME: &str = "fabric-admission";
/// Name of the MutatingWebhookConfiguration. It sorts after the names of network-resources-injector and the meshes.
pub const MUTATING: &str = "pod-fabric-admission";
/// Name of the ValidatingWebhookConfiguration.
pub const VALIDATING: &str = "fabric-admission";
