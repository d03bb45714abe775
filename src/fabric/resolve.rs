//! Which profile a pod gets, and from what evidence. A pure function of the pod's template fields, its
//! namespace and the profiles: nothing that changes between two pods of one job takes part.

use super::resolved::Profile;
use crate::multus::Networks;
use crate::pod::PodView;
use crate::snapshot::{NAME_LABEL, NamespaceFacts, PROFILE_ANNOTATION, Snapshot};
use crate::text::{count, nearest, printable};
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
        /// What of `when` is not met.
        reason: String,
    },
    /// Nothing names a profile.
    NotApplicable {
        /// Profiles that the pod's namespace may use, by name.
        candidates: Vec<String>,
    },
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
    /// The namespace's annotation.
    NamespaceAnnotation,
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
            Self::NamespaceAnnotation => "the namespace's default".into(),
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
    match own_evidence(question, facts, snapshot) {
        Own::One(profile, evidence) => return when(profile, evidence, question),
        Own::Several(candidates) => return Resolution::NotApplicable { candidates },
        Own::Nothing => {}
    }
    if let Some(name) = facts.and_then(|f| f.profile.as_deref()) {
        return named(name, Evidence::NamespaceAnnotation, question, facts, snapshot);
    }
    let candidates = snapshot
        .profiles()
        .filter(|p| admits(p, question.namespace, facts))
        .map(|p| p.name.clone())
        .collect();
    Resolution::NotApplicable { candidates }
}

/// Of a namespace of which nothing is known, only its name is: whatever else a selector asks, present or absent,
/// cannot be shown, and the profile does not admit it.
fn admits(profile: &Profile, namespace: &str, facts: Option<&NamespaceFacts>) -> bool {
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
                _ => when(profile, by, question),
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
                    format!("{name} is a compiled-in base: name a FabricProfile with `base: {name}`")
                }
                Some(near) => format!("did you mean {near:?}?"),
                None if list.is_empty() => {
                    format!("remove annotation {PROFILE_ANNOTATION} or create the profile")
                }
                None => format!("name one of: {}", list.join(", ")),
            };
            Resolution::Refused { name: name.to_owned(), by, reason, fix }
        }
    }
}

/// What the pod's own resources and networks speak for.
enum Own {
    Nothing,
    One(Arc<Profile>, Evidence),
    /// Two profiles: whichever was taken, the pod would end with rails of both.
    Several(Vec<String>),
}

/// Resources and networks that are looked at; a pod has far fewer.
const MAX_EVIDENCE: usize = 64;

/// The profiles that a resource the pod asks for, or a network it attaches, belongs to alone. All of the evidence
/// counts, so that the answer does not depend on its order, or on which webhook added what.
fn own_evidence(question: Question<'_>, facts: Option<&NamespaceFacts>, snapshot: &Snapshot) -> Own {
    let only = |fits: &dyn Fn(&Profile) -> bool| {
        let mut found = snapshot.profiles().filter(|p| fits(p) && admits(p, question.namespace, facts));
        let first = found.next()?;
        found.next().is_none().then(|| Arc::clone(first))
    };
    let mut evidence: BTreeMap<String, (Arc<Profile>, Evidence)> = BTreeMap::new();
    let mut add = |found: Option<Arc<Profile>>, what: Evidence| {
        if let Some(profile) = found {
            evidence.entry(profile.name.clone()).or_insert((profile, what));
        }
    };
    let asked =
        question.pod.containers().iter().flat_map(|c| {
            c.resource_names().filter(move |name| c.units(name).is_some_and(|units| units > 0))
        });
    for resource in asked.take(MAX_EVIDENCE) {
        add(only(&|p| p.serves_resource(resource)), Evidence::Resource(resource.to_owned()));
    }
    for item in question.networks.iter().flat_map(|n| &n.items).take(MAX_EVIDENCE) {
        let namespace = item.namespace.as_deref().unwrap_or(question.namespace);
        let has =
            |p: &Profile| p.rails.iter().any(|r| r.network.is(namespace, &item.name, question.namespace));
        add(only(&has), Evidence::Network(format!("{namespace}/{}", item.name)));
    }
    if evidence.len() > 1 {
        return Own::Several(evidence.into_keys().collect());
    }
    evidence.into_values().next().map_or(Own::Nothing, |(profile, what)| Own::One(profile, what))
}

/// Applies the profile's `when` to a pod that did not name it.
fn when(profile: Arc<Profile>, evidence: Evidence, question: Question<'_>) -> Resolution {
    let least = profile.when.min_accelerators.unwrap_or(profile.accelerators_per_node);
    if let Some(asked) = question.accelerators
        && asked < least
    {
        let reason = format!(
            "the pod asks {}, the profile applies from {least}",
            count(asked as usize, "whole accelerator")
        );
        return Resolution::Outside { profile, reason };
    }
    if let Some(selector) = &profile.when.pod_selector {
        let labels = question.pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
        let labels =
            labels.into_iter().flat_map(|l| l.iter()).map(|(k, v)| (k.to_owned(), v.to_string())).collect();
        if !selector.matches(&labels) {
            let reason = "the pod's labels do not match the profile's podSelector".to_owned();
            return Resolution::Outside { profile, reason };
        }
    }
    Resolution::Profile { profile, evidence }
}
