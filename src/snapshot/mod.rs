//! The immutable view that one decision is made under, and its builder. Files and watch events feed the same
//! builder.

mod builder;
mod lookup;
mod pod_security;
mod store;

pub(crate) use builder::Identity;
pub use builder::{Builder, FactError, Layer};
pub use pod_security::PodSecurity;

use crate::fabric::nodes::NodeView;
use crate::fabric::{Catalog, FabricProfile, Ignorable, Profile};
use crate::facts::Index;
use crate::pod::Accelerators;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Label of a namespace that opts in, with the mode as its value.
pub const MODE_LABEL: &str = "fabric-admission.dev/mode";
/// Annotation that names a profile: on a pod for itself, on a namespace as its default.
pub const PROFILE_ANNOTATION: &str = "fabric-admission.dev/profile";
/// Label that the API server gives every namespace: its name.
pub const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// Label by which Pod Security is enforced in a namespace.
pub const POD_SECURITY_LABEL: &str = "pod-security.kubernetes.io/enforce";

/// Whether errors deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Errors deny.
    Enforce,
    /// Errors are told, never denied.
    Audit,
}

impl Mode {
    /// Reads the value of the mode label.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "enforce" => Some(Self::Enforce),
            "audit" => Some(Self::Audit),
            _ => None,
        }
    }
}

/// Everything that is known when a decision is made. Cheap to share; never changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    catalog: Arc<Catalog>,
    nodes: NodeView,
    objects: Arc<Objects>,
    lists_networks: bool,
    /// Kinds of which nothing was heard for too long.
    stale: Vec<&'static str>,
    settings: Settings,
    bases: Arc<[FabricProfile]>,
}

/// What objects say that are kept one by one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Objects {
    namespaces: HashMap<String, Arc<NamespaceFacts>>,
    facts: Index,
}

/// Settings of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Resources that put a pod in scope.
    pub accelerators: Accelerators,
    /// What becomes of a pod that several profiles fit.
    pub ambiguity: Ambiguity,
    /// Profile of pods that nothing else speaks for, where their namespace names none.
    pub default_profile: Option<String>,
    /// What Pod Security enforces in namespaces without its label (k8s.io/pod-security-admission,
    /// PodSecurityConfiguration).
    pub pod_security_default: PodSecurity,
    /// Whether networks of other namespaces are refused, as Multus does with `namespaceIsolation`.
    pub namespace_isolation: bool,
    /// What annotations may set aside on objects without a profile.
    pub ignorable: Ignorable,
}

/// What becomes of a pod that several profiles fit equally well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ambiguity {
    /// It is refused, and told what to write.
    #[default]
    Deny,
    /// It gets the highest priority, and is kept to the nodes of that profile.
    Pin,
    /// It is left as it is, with a warning.
    Warn,
}

/// What is known of one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// The namespace's default profile.
    pub profile: Option<String>,
}

impl NamespaceFacts {
    /// The mode the namespace opted in with; `None` where it did not.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        self.labels.get(MODE_LABEL).and_then(|v| Mode::parse(v))
    }
    /// Level of Pod Security that is enforced, where it is labelled.
    #[must_use]
    pub fn pod_security(&self) -> Option<PodSecurity> {
        self.labels.get(POD_SECURITY_LABEL).map(|level| PodSecurity::parse(level))
    }
}

impl Snapshot {
    /// A profile by name.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Arc<Profile>> {
        self.catalog.get(name)
    }
    /// Profiles by name, in order.
    pub fn profiles(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.catalog.iter()
    }
    /// Profiles, and what they are found by.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }
    /// Nodes.
    #[must_use]
    pub fn nodes(&self) -> &NodeView {
        &self.nodes
    }
    /// Whether the networks of the cluster were listed, so that one that is not known does not exist.
    #[must_use]
    pub fn lists_networks(&self) -> bool {
        self.lists_networks
    }
    /// Kinds of which the cluster was not heard for too long: what is said of them may be over.
    #[must_use]
    pub fn stale(&self) -> &[&'static str] {
        &self.stale
    }
    /// What is known of a namespace; `None` where no object of it was given.
    #[must_use]
    pub fn namespace(&self, name: &str) -> Option<&NamespaceFacts> {
        self.objects.namespaces.get(name).map(Arc::as_ref)
    }
    /// Namespaces that are known, by name.
    #[must_use]
    pub fn namespaces(&self) -> BTreeMap<&str, &NamespaceFacts> {
        self.objects.namespaces.iter().map(|(name, facts)| (name.as_str(), &**facts)).collect()
    }
    /// The compiled-in profiles, which profiles inherit from.
    #[must_use]
    pub fn bases(&self) -> &[FabricProfile] {
        &self.bases
    }
    /// Settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
