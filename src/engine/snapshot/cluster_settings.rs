//! Settings of the cluster with their defaults, such as the policy for a pod that fits several profiles, and whose objects
//! may describe the cluster. `cli::input::cluster_setting_flags` has the flags.

use crate::facts::{DriversWithoutNics, PodSecurity};
use crate::pod::AcceleratorNames;
use crate::profile::Ignorable;
use std::collections::BTreeSet;

/// Settings of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Resources that put a pod in scope.
    pub accelerators: AcceleratorNames,
    /// Policy for a pod that fits several profiles.
    pub ambiguity: Ambiguity,
    /// Default profile, for pods that match no other and whose namespace has no default.
    pub default_profile: Option<String>,
    /// What Pod Security enforces in namespaces without its label (k8s.io/pod-security-admission,
    /// PodSecurityConfiguration).
    pub pod_security_default: PodSecurity,
    /// Namespaces of operators: their objects count for pods of all namespaces. `None` where every object is an
    /// administrator's, as in a review of files: then all describe the cluster.
    pub operator_namespaces: Option<BTreeSet<String>>,
    /// Whether networks of other namespaces are refused, as Multus does with `namespaceIsolation`.
    pub namespace_isolation: bool,
    /// Whether planned changes of pods are reported and not made. Verdicts stay the same: they are about the pod with its
    /// changes.
    pub withhold_changes: bool,
    /// What annotations may set aside on objects without a profile.
    pub ignorable: Ignorable,
    /// DRA drivers that hand out no NICs, beside the known ones: claims on their devices change no plan.
    pub harmless_drivers: DriversWithoutNics,
}

/// Policy for a pod that fits several profiles equally well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ambiguity {
    /// Deny it; the message names the annotation to set.
    #[default]
    Deny,
    /// It gets the highest priority, and is kept to the nodes of that profile.
    Pin,
    /// Warn, and change nothing.
    Warn,
}

impl Settings {
    /// Whether objects of a namespace may describe the cluster, and count for pods of all namespaces.
    pub(super) fn may_namespace_describe_cluster(&self, namespace: &str) -> bool {
        self.operator_namespaces
            .as_ref()
            .is_none_or(|known| namespace == "default" || known.contains(namespace))
    }
}
