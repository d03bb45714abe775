//! The order of the evidence for a profile. First answer wins: `--profile`; the pod's annotation; its own resources and
//! networks; the nodes it can run on; if no such node exists, its selectors; the namespace's default; the cluster's.

use super::{Because, Evidence, Resolution, SHOWN, by_nodes, by_pod, default_profile, when};
use crate::demands::Subject;
use crate::facts::PROFILE_ANNOTATION;
use crate::profile::Profile;
use crate::profile::schema::Inject;
use crate::text::{nearest, printable};
use std::sync::Arc;

/// Resolves the profile of a pod. A profile given on the command line, the flag, beats everything.
#[must_use]
pub fn resolve(subject: &Subject<'_>, flag: Option<&Arc<Profile>>) -> Resolution {
    if let Some(profile) = flag {
        return Resolution::Profile { profile: Arc::clone(profile), evidence: Evidence::Flag };
    }
    let (facts, snapshot) = (subject.namespace_facts, subject.snapshot);
    if let Some(name) = subject.pod.annotation(PROFILE_ANNOTATION) {
        return named(name, Evidence::PodAnnotation, subject);
    }
    // For a pod without accelerators only its own networks count; the profiles of nodes prove nothing about it.
    let default = default_profile(facts, snapshot);
    if !subject.demands.any()
        && let Some((name, by)) = &default
        && let Some(profile) = snapshot.profile(name)
        && profile.inject == Inject::Networks
        && snapshot.admits(profile, subject.namespace)
    {
        return when::check(Arc::clone(profile), by.clone(), subject);
    }
    match by_pod::evidence(subject) {
        by_pod::Own::One(profile, evidence) => return when::check(profile, evidence, subject),
        by_pod::Own::Several(candidates) => {
            return Resolution::Ambiguous { candidates, because: Because::Own };
        }
        by_pod::Own::Nothing => {}
    }
    if let Some(found) = by_nodes::resolve(subject, default.as_ref().map(|(name, _)| *name)) {
        return found;
    }
    match default {
        // Nobody named the cluster's default for this pod: if the pod cannot have it, it gets none.
        Some((name, Evidence::ClusterDefault)) => match snapshot.profile(name) {
            Some(profile) if snapshot.admits(profile, subject.namespace) => {
                when::check(Arc::clone(profile), Evidence::ClusterDefault, subject)
            }
            _ => not_applicable(subject),
        },
        Some((name, by)) => named(name, by, subject),
        None => not_applicable(subject),
    }
}

fn not_applicable(subject: &Subject<'_>) -> Resolution {
    let profiles = subject.snapshot.profiles();
    let mut admitting = profiles.filter(|p| subject.snapshot.admits(p, subject.namespace));
    let candidates: Vec<String> = admitting.by_ref().take(SHOWN).map(|p| p.name.clone()).collect();
    let known = candidates.len() + admitting.count();
    Resolution::NotApplicable { candidates, known }
}

fn named(name: &str, by: Evidence, subject: &Subject<'_>) -> Resolution {
    let snapshot = subject.snapshot;
    // Only profiles that the namespace may use are named: a tenant learns of no others.
    let usable =
        || snapshot.profiles().filter(|p| snapshot.admits(p, subject.namespace)).map(|p| p.name.as_str());
    match snapshot.profile(name) {
        Some(profile) if snapshot.admits(profile, subject.namespace) => {
            let profile = Arc::clone(profile);
            match by {
                // A user who names a profile on the pod wants it, whatever the pod's size.
                Evidence::PodAnnotation => Resolution::Profile { profile, evidence: by },
                _ => when::check(profile, by, subject),
            }
        }
        _ => {
            let shown = printable(name, 80);
            // One text for both cases: it does not reveal whether another team's profile exists.
            let namespace = subject.namespace;
            let reason =
                format!("profile {shown:?} does not exist, or namespace {namespace:?} may not use it");
            let list: Vec<&str> = usable().take(8).collect();
            let base = crate::profile::base::BASES.iter().any(|(base, _)| *base == name);
            let fix = match nearest(name, subject.deadline.compared(name, usable())) {
                _ if base => {
                    format!(
                        "Name a FabricProfile that has `base: {name}`; {name:?} is a built-in base, not a FabricProfile."
                    )
                }
                Some(near) => format!("Did you mean {near:?}?"),
                None if list.is_empty() => {
                    format!("Remove annotation {PROFILE_ANNOTATION}, or create the profile.")
                }
                None => format!("Name one of these profiles: {}.", list.join(", ")),
            };
            Resolution::Refused { name: name.to_owned(), by, reason, fix }
        }
    }
}
