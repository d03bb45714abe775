//! What resolution may find.

use crate::profile::Profile;
use crate::text::printable;
use std::sync::Arc;

/// The outcome.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// The pod gets a profile.
    Profile {
        /// Which.
        profile: Arc<Profile>,
        /// What named it.
        evidence: Evidence,
    },
    /// Several profiles fit equally well, and taking one would be a guess.
    Ambiguous {
        /// Which, by name.
        candidates: Vec<Arc<Profile>>,
        /// What leaves them open.
        because: Because,
    },
    /// The pod or namespace named a profile that it cannot have.
    Refused {
        /// The name as given.
        name: String,
        /// Pod annotation or namespace annotation.
        by: Evidence,
        /// Why not.
        reason: String,
        /// What to write instead.
        fix: String,
    },
    /// A profile would fit, but its `when` keeps this pod as it is.
    Outside {
        /// Which.
        profile: Arc<Profile>,
        /// What speaks for it.
        evidence: Evidence,
        /// What of `when` is not met.
        reason: String,
    },
    /// Nothing names a profile.
    NotApplicable {
        /// Some profiles that the pod's namespace may use, by name; at most [`SHOWN`].
        candidates: Vec<String>,
        /// Those and the others (count).
        known: usize,
    },
}

/// Candidates that a message shows.
pub const SHOWN: usize = 5;

/// What leaves several profiles open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// The nodes that the pod can land on carry different fabrics.
    Nodes,
    /// No node that it can land on exists now, and its selectors fit the nodes of several.
    Selectors,
    /// Its own resources and networks belong to several.
    Own,
}

/// What named the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// `--profile`.
    Flag,
    /// The pod's annotation.
    PodAnnotation,
    /// A resource the pod asks for, which only this profile serves.
    Resource(String),
    /// A network the pod already attaches, which only this profile has.
    Network(String),
    /// The nodes that the pod can land on carry this profile and no other.
    Nodes,
    /// No node that the pod can land on exists now, and of all profiles only this one's nodes fit its selectors.
    Selectors,
    /// The highest priority of several, by the cluster's setting; the pod is kept to its nodes.
    Priority,
    /// The namespace's annotation.
    NamespaceAnnotation,
    /// The cluster's default.
    ClusterDefault,
}

impl Evidence {
    /// A few words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Flag => "named by --profile".into(),
            Self::PodAnnotation => "named by the pod's annotation".into(),
            Self::Resource(name) => format!("the only one that serves {}", printable(name, 80)),
            Self::Network(name) => format!("the only one with network {}", printable(name, 80)),
            Self::Nodes => "the only one on the nodes it can land on".into(),
            Self::Selectors => "the only one whose nodes fit its selectors; none exists now".into(),
            Self::Priority => "the highest priority of those on the nodes it can land on".into(),
            Self::NamespaceAnnotation => "the namespace's default".into(),
            Self::ClusterDefault => "the cluster's default".into(),
        }
    }
}

impl Resolution {
    /// The profile and its evidence, if there is one.
    #[must_use]
    pub fn profile(&self) -> Option<(&Arc<Profile>, &Evidence)> {
        match self {
            Self::Profile { profile, evidence } => Some((profile, evidence)),
            _ => None,
        }
    }
}
