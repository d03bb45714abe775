//! What resolution may find.

use super::Strength;
use crate::profile::Profile;
use crate::text::escaped_and_cut;
use std::sync::Arc;

/// The outcome.
#[derive(Debug, Clone)]
pub enum Resolution {
    /// The pod gets a profile.
    Profile {
        /// Which.
        profile: Arc<Profile>,
        /// The evidence for it.
        evidence: Evidence,
    },
    /// Several profiles fit equally well; choosing one would be a guess.
    Ambiguous {
        /// Which, by name.
        candidates: Vec<Arc<Profile>>,
        /// Why several are possible.
        because: AmbiguityCause,
    },
    /// The pod or namespace named a profile that it cannot have.
    Refused {
        /// The name as given.
        name: String,
        /// Pod annotation or namespace annotation.
        by: Evidence,
        /// Why not.
        reason: String,
        /// The name to write instead.
        fix: String,
    },
    /// A profile fits, but its `when` excludes this pod, which is not changed.
    Outside {
        /// Which.
        profile: Arc<Profile>,
        /// The evidence for it.
        evidence: Evidence,
        /// The condition of `when` that is not met.
        reason: String,
    },
    /// Nothing names a profile.
    NotApplicable {
        /// Some profiles that the pod's namespace may use, by name; at most [`MAX_CANDIDATES_SHOWN`].
        candidates: Vec<String>,
        /// All profiles that the namespace may use (count).
        known: usize,
    },
}

/// The kind of an outcome, without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResolutionKind {
    /// The pod gets a profile.
    Profile,
    /// A profile fits, and its `when` excludes the pod.
    Outside,
    /// Several profiles fit equally well.
    Ambiguous,
    /// The pod or its namespace names a profile that it cannot have.
    Refused,
    /// No profile matches.
    None,
}

impl ResolutionKind {
    /// Every outcome.
    pub const ALL: [Self; 5] = [Self::Profile, Self::Outside, Self::Ambiguous, Self::Refused, Self::None];

    /// Its name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Outside => "outside",
            Self::Ambiguous => "ambiguous",
            Self::Refused => "refused",
            Self::None => "none",
        }
    }
}

impl Resolution {
    /// The kind of this outcome.
    #[must_use]
    pub fn outcome(&self) -> ResolutionKind {
        match self {
            Self::Profile { .. } => ResolutionKind::Profile,
            Self::Outside { .. } => ResolutionKind::Outside,
            Self::Ambiguous { .. } => ResolutionKind::Ambiguous,
            Self::Refused { .. } => ResolutionKind::Refused,
            Self::NotApplicable { .. } => ResolutionKind::None,
        }
    }
}

/// Candidates that a message shows.
pub const MAX_CANDIDATES_SHOWN: usize = 5;

/// Why several profiles are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmbiguityCause {
    /// The nodes that the pod can run on belong to different fabrics.
    Nodes,
    /// No node that it can run on exists now, and its selectors fit the nodes of several.
    Selectors,
    /// Its own resources and networks belong to several.
    Own,
}

/// The evidence for the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// `--profile`.
    Flag,
    /// The pod's annotation.
    PodAnnotation,
    /// A resource that the pod requests and that only this profile serves.
    Resource(String),
    /// A network that the pod already attaches and that only this profile has.
    Network(String),
    /// The nodes that the pod can run on carry this profile and no other.
    Nodes,
    /// Of the profiles on the nodes that the pod can run on, the one whose nodes its selectors ask for.
    Asked,
    /// No node that the pod can run on exists now, and its selectors leave only this profile.
    Selectors(Strength),
    /// The highest priority of several, by the cluster's setting; the pod is pinned to its nodes.
    Priority,
    /// The namespace's annotation.
    NamespaceAnnotation,
    /// The cluster's default.
    ClusterDefault,
}

impl Evidence {
    /// Whether nodes, or the pod's selectors in place of nodes, are the evidence.
    #[must_use]
    pub fn is_of_nodes(&self) -> bool {
        matches!(self, Self::Nodes | Self::Asked | Self::Selectors(_) | Self::Priority)
    }

    /// A few words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Flag => "named by --profile".into(),
            Self::PodAnnotation => "named by the pod's annotation".into(),
            Self::Resource(name) => format!("the only one with resource {}", escaped_and_cut(name, 80)),
            Self::Network(name) => format!("the only one with network {}", escaped_and_cut(name, 80)),
            Self::Nodes => "the only one on the nodes where the pod can run".into(),
            Self::Asked => {
                "the one that the pod's selectors ask for, among the profiles of nodes where the pod can run"
                    .into()
            }
            Self::Selectors(strength) => {
                let why = match strength {
                    Strength::Open => "the only one whose nodes fit the pod's selectors",
                    Strength::Type => "the one whose instance type the pod's selectors ask for",
                    Strength::Nodes => "the one whose nodes the pod's selectors ask for",
                };
                format!("{why}; no such node exists now")
            }
            Self::Priority => "the one with the highest priority on the nodes where the pod can run".into(),
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
