//! Which profile a pod gets, and by what evidence. A pure function of the pod's template fields, its namespace, the
//! profiles and the label sets of nodes. The number of nodes, their readiness, cordons and free capacity do not
//! count, so that the ranks of one job get one profile (docs/adr/0009).
//!
//! The steps, first answer wins: `--profile`; the pod's annotation; its own resources and networks; the nodes it can
//! land on; if no such node exists, its selectors; the namespace's default; the cluster's.

mod admits;
mod missing;
mod nodes;
mod own;
mod resolution;
pub mod status;
mod symbolic;
mod then;
mod when;
pub mod why;

pub(crate) use admits::{admits, default_profile};
pub use missing::{Missing, missing, missing_anywhere};
pub(crate) use nodes::{awaits, without_others};
pub use resolution::{Because, Evidence, Question, Resolution, SHOWN};
pub(crate) use symbolic::Conditions;
pub use then::Then;
pub(crate) use when::unmet;

use crate::facts::{NamespaceFacts, PROFILE_ANNOTATION};
use crate::profile::schema::Inject;
use crate::snapshot::Snapshot;
use crate::text::{nearest, printable};
use std::sync::Arc;

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
    // For a pod without accelerators only its own networks count; the profiles of nodes prove nothing about it.
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
        // Nobody named the cluster's default for this pod: if the pod cannot have it, it gets none.
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

fn not_applicable(question: Question<'_>, facts: Option<&NamespaceFacts>, snapshot: &Snapshot) -> Resolution {
    let mut admitting = snapshot.profiles().filter(|p| admits(p, question.namespace, facts));
    let candidates: Vec<String> = admitting.by_ref().take(SHOWN).map(|p| p.name.clone()).collect();
    let known = candidates.len() + admitting.count();
    Resolution::NotApplicable { candidates, known }
}

fn named(
    name: &str,
    by: Evidence,
    question: Question<'_>,
    facts: Option<&NamespaceFacts>,
    snapshot: &Snapshot,
) -> Resolution {
    // Only profiles that the namespace may use are named: a tenant learns of no other.
    let usable =
        || snapshot.profiles().filter(|p| admits(p, question.namespace, facts)).map(|p| p.name.as_str());
    match snapshot.profile(name) {
        Some(profile) if admits(profile, question.namespace, facts) => {
            let profile = Arc::clone(profile);
            match by {
                // A user who names a profile on the pod wants it, whatever the pod's size.
                Evidence::PodAnnotation => Resolution::Profile { profile, evidence: by },
                _ => when::apply(profile, by, question),
            }
        }
        _ => {
            let shown = printable(name, 80);
            // One text for both cases: it does not reveal whether another team's profile exists.
            let reason =
                format!("there is no profile {shown:?} that namespace {:?} may use", question.namespace);
            let list: Vec<&str> = usable().take(8).collect();
            let base = crate::profile::base::BASES.iter().any(|(base, _)| *base == name);
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
