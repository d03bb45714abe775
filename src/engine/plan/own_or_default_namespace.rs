//! Namespaces whose networks a pod may use.

/// Whether we look up networks of a namespace for a pod that names them: those of its own namespace, and of
/// `default`, which Multus opens to all even with namespace isolation (multus-cni docs/configuration.md,
/// namespaceIsolation).
#[must_use]
pub(crate) fn is_own_or_default_namespace(pod_namespace: &str, namespace: &str) -> bool {
    namespace == pod_namespace || namespace == "default"
}
