//! The immutable view that one decision is made under, and its builder. Files and watch events feed the same
//! builder.

mod builder;
mod lookup;
mod store;

pub use builder::{Builder, FactError, Layer};

use crate::fabric::Profile;
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
    profiles: BTreeMap<String, Arc<Profile>>,
    namespaces: HashMap<String, Arc<NamespaceFacts>>,
    facts: Index,
    settings: Settings,
}

/// Settings of the cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Resources that put a pod in scope.
    pub accelerators: Accelerators,
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
    pub fn pod_security(&self) -> Option<&str> {
        self.labels.get(POD_SECURITY_LABEL).map(String::as_str)
    }
}

impl Snapshot {
    /// A profile by name.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Arc<Profile>> {
        self.profiles.get(name)
    }
    /// Profiles by name, in order.
    pub fn profiles(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.profiles.values()
    }
    /// What is known of a namespace; `None` where no object of it was given.
    #[must_use]
    pub fn namespace(&self, name: &str) -> Option<&NamespaceFacts> {
        self.namespaces.get(name).map(Arc::as_ref)
    }
    /// Settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}
