//! The order of the evidence for a profile. First answer wins: `--profile`; the pod's annotation; its own resources and
//! networks; the nodes it can run on; if no such node exists, its selectors; the namespace's default; the cluster's.

use super::profile_by_name::resolve_named_profile;
use super::{
    AmbiguityCause, Evidence, MAX_CANDIDATES_SHOWN, Resolution, candidates_by_nodes, default_profile,
    does_pod_meet_profile_when, profile_by_resources_and_networks,
};
use crate::demands::Subject;
use crate::facts::PROFILE_ANNOTATION;
use crate::profile::Profile;
use crate::profile::schema::Inject;
use std::sync::Arc;

/// Resolves the profile of a pod. A profile given on the command line, the flag, beats everything.
#[must_use]
pub fn resolve_profile_of_pod(subject: &Subject<'_>, flag: Option<&Arc<Profile>>) -> Resolution {
    if let Some(profile) = flag {
        return Resolution::Profile { profile: Arc::clone(profile), evidence: Evidence::Flag };
    }
    let (facts, snapshot) = (subject.namespace_facts, subject.snapshot);
    if let Some(name) = subject.pod.annotation(PROFILE_ANNOTATION) {
        return resolve_named_profile(name, Evidence::PodAnnotation, subject);
    }
    // For a pod without accelerators only its own networks count; the profiles of nodes prove nothing about it.
    let default = default_profile(facts, snapshot);
    if !subject.demands.requests_any_accelerator()
        && let Some((name, by)) = &default
        && let Some(profile) = snapshot.profile(name)
        && profile.inject == Inject::Networks
        && snapshot.admits(profile, subject.namespace)
    {
        return does_pod_meet_profile_when::profile_or_outside_by_when(
            Arc::clone(profile),
            by.clone(),
            subject,
        );
    }
    match profile_by_resources_and_networks::profiles_by_resources_and_networks(subject) {
        profile_by_resources_and_networks::ProfilesOfOwnEvidence::One(profile, evidence) => {
            return does_pod_meet_profile_when::profile_or_outside_by_when(profile, evidence, subject);
        }
        profile_by_resources_and_networks::ProfilesOfOwnEvidence::Several(candidates) => {
            return Resolution::Ambiguous { candidates, because: AmbiguityCause::Own };
        }
        profile_by_resources_and_networks::ProfilesOfOwnEvidence::Nothing => {}
    }
    if let Some(found) =
        candidates_by_nodes::resolve_by_nodes_or_selectors(subject, default.as_ref().map(|(name, _)| *name))
    {
        return found;
    }
    match default {
        // Nobody named the cluster's default for this pod: if the pod cannot have it, it gets none.
        Some((name, Evidence::ClusterDefault)) => match snapshot.profile(name) {
            Some(profile) if snapshot.admits(profile, subject.namespace) => {
                does_pod_meet_profile_when::profile_or_outside_by_when(
                    Arc::clone(profile),
                    Evidence::ClusterDefault,
                    subject,
                )
            }
            _ => not_applicable(subject),
        },
        Some((name, by)) => resolve_named_profile(name, by, subject),
        None => not_applicable(subject),
    }
}

fn not_applicable(subject: &Subject<'_>) -> Resolution {
    let profiles = subject.snapshot.profiles();
    let mut admitting = profiles.filter(|p| subject.snapshot.admits(p, subject.namespace));
    let candidates: Vec<String> =
        admitting.by_ref().take(MAX_CANDIDATES_SHOWN).map(|p| p.name.clone()).collect();
    let known = candidates.len() + admitting.count();
    Resolution::NotApplicable { candidates, known }
}
