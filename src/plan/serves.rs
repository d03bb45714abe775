//! Namespaces whose networks a pod may use.

/// Whether networks of a namespace are looked into for a pod that names them: those of its own, and of `default`, which
/// Multus leaves open to all where it keeps namespaces apart (multus-cni docs/configuration.md, namespaceIsolation).
#[must_use]
pub(crate) fn serves_namespace(pod_namespace: &str, namespace: &str) -> bool {
    namespace == pod_namespace || namespace == "default"
}
