//! Which profile a pod gets, and from what evidence. A pure function of the pod's template fields, its namespace, the
//! profiles and the label sets of nodes. How many nodes there are, whether they are ready, cordoned or full takes no
//! part, so that the ranks of one job get one profile (docs/adr/0009).
//!
//! The steps, first answer wins: `--profile`; the pod's annotation; its own resources and networks; the nodes it can
//! land on; where none exists, what its selectors say; the namespace's default; the cluster's.

mod nodes;
mod own;
mod symbolic;
mod when;

pub(crate) use nodes::{awaits, without_others};
pub(crate) use symbolic::Conditions;
pub(crate) use when::unmet;

use super::profile::Inject;
use super::resolved::Profile;
use crate::multus::Networks;
use crate::pod::PodView;
use crate::pod::gang::Gang;
use crate::snapshot::{NAME_LABEL, NamespaceFacts, PROFILE_ANNOTATION, Snapshot};
use crate::text::{nearest, printable};
use std::collections::BTreeMap;
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

impl Evidence {}

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

/// What resolution looks at besides the snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The pod or pod template.
    pub pod: &'a PodView<'a>,
    /// Its networks annotation, where it has one that parses.
    pub networks: Option<&'a Networks<'a>>,
    /// Its namespace.
    pub namespace: &'a str,
    /// A profile given on the command line; beats everything.
    pub flag: Option<&'a Arc<Profile>>,
    /// Whole accelerators of the pod; `None` when a quantity is unknown.
    pub accelerators: Option<u32>,
    /// What the workload around a template says of its pods; pods tell by themselves.
    pub gang: Option<&'a Gang>,
}

/// Resolves the profile of a pod.
#[must_use]
pub fn resolve(question: Question<'_>, snapshot: &Snapshot) -> Resolution {
    if let Some(profile) = question.flag {
        return Resolution::Profile { profile: Arc::clone(profile), evidence: Evidence::Flag };
    }
    let facts = snapshot.namespace(question.namespace);
    if let Some(name) = question.pod.annotation(PROFILE_ANNOTATION) {
        return named(name, Evidence::PodAnnotation, question, facts, snapshot);
    }
    // A pod without accelerators is looked at for its own networks alone; what nodes carry says nothing about it.
    let default = default_profile(facts, snapshot);
    if question.accelerators == Some(0)
        && let Some((name, by)) = &default
        && let Some(profile) = snapshot.profile(name)
        && profile.inject == Inject::Networks
        && admits(profile, question.namespace, facts)
    {
        return when::apply(Arc::clone(profile), by.clone(), question);
    }
    match own::evidence(question, facts, snapshot) {
        own::Own::One(profile, evidence) => return when::apply(profile, evidence, question),
        own::Own::Several(candidates) => {
            return Resolution::Ambiguous { candidates, because: Because::Own };
        }
        own::Own::Nothing => {}
    }
    if let Some(found) = nodes::resolve(question, facts, default.as_ref().map(|(name, _)| *name), snapshot) {
        return found;
    }
    match default {
        // Nobody named the cluster's default for this pod: where it cannot be had, there is none.
        Some((name, Evidence::ClusterDefault)) => match snapshot.profile(name) {
            Some(profile) if admits(profile, question.namespace, facts) => {
                when::apply(Arc::clone(profile), Evidence::ClusterDefault, question)
            }
            _ => not_applicable(question, facts, snapshot),
        },
        Some((name, by)) => named(name, by, question, facts, snapshot),
        None => not_applicable(question, facts, snapshot),
    }
}

/// The profile that pods get of which nothing else is known: the namespace's, else the cluster's.
pub(crate) fn default_profile<'a>(
    facts: Option<&'a NamespaceFacts>,
    snapshot: &'a Snapshot,
) -> Option<(&'a str, Evidence)> {
    let own = facts.and_then(|f| f.profile.as_deref()).map(|name| (name, Evidence::NamespaceAnnotation));
    own.or_else(|| Some((snapshot.settings().default_profile.as_deref()?, Evidence::ClusterDefault)))
}

fn not_applicable(question: Question<'_>, facts: Option<&NamespaceFacts>, snapshot: &Snapshot) -> Resolution {
    let mut admitting = snapshot.profiles().filter(|p| admits(p, question.namespace, facts));
    let candidates: Vec<String> = admitting.by_ref().take(SHOWN).map(|p| p.name.clone()).collect();
    let known = candidates.len() + admitting.count();
    Resolution::NotApplicable { candidates, known }
}

/// Of a namespace of which nothing is known, only its name is: whatever else a selector asks, present or absent,
/// cannot be shown, and the profile does not admit it.
pub(crate) fn admits(profile: &Profile, namespace: &str, facts: Option<&NamespaceFacts>) -> bool {
    let Some(selector) = &profile.namespaces else { return true };
    match facts {
        Some(facts) => selector.matches(&facts.labels),
        None => {
            let keys = selector.match_labels.keys().chain(selector.match_expressions.iter().map(|e| &e.key));
            keys.into_iter().all(|key| key == NAME_LABEL)
                && selector.matches(&BTreeMap::from([(NAME_LABEL.to_owned(), namespace.to_owned())]))
        }
    }
}

fn named(
    name: &str,
    by: Evidence,
    question: Question<'_>,
    facts: Option<&NamespaceFacts>,
    snapshot: &Snapshot,
) -> Resolution {
    // Only profiles that the namespace may use are told: a tenant learns of no other.
    let usable =
        || snapshot.profiles().filter(|p| admits(p, question.namespace, facts)).map(|p| p.name.as_str());
    match snapshot.profile(name) {
        Some(profile) if admits(profile, question.namespace, facts) => {
            let profile = Arc::clone(profile);
            match by {
                // Who names a profile on the pod wants it, whatever the pod's size.
                Evidence::PodAnnotation => Resolution::Profile { profile, evidence: by },
                _ => when::apply(profile, by, question),
            }
        }
        _ => {
            let shown = printable(name, 80);
            // One text for both cases: whether another team's profile exists is not told.
            let reason =
                format!("there is no profile {shown:?} that namespace {:?} may use", question.namespace);
            let list: Vec<&str> = usable().take(8).collect();
            let base = super::base::BASES.iter().any(|(base, _)| *base == name);
            let fix = match nearest(name, usable()) {
                _ if base => {
                    format!("Name a FabricProfile with `base: {name}`; {name} is a compiled-in base.")
                }
                Some(near) => format!("Did you mean {near:?}?"),
                None if list.is_empty() => {
                    format!("Remove annotation {PROFILE_ANNOTATION}, or create the profile.")
                }
                None => format!("Name one of: {}.", list.join(", ")),
            };
            Resolution::Refused { name: name.to_owned(), by, reason, fix }
        }
    }
}
