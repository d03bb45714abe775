//! The profile that a pod or its namespace names: whether it exists and the namespace may use it, and what to do if not.

use super::{Evidence, Resolution, does_pod_meet_profile_when};
use crate::demands::Subject;
use crate::facts::PROFILE_ANNOTATION;
use crate::text::{escaped_and_cut, nearest_if_probably_meant};
use std::sync::Arc;

pub(super) fn resolve_named_profile(name: &str, by: Evidence, subject: &Subject<'_>) -> Resolution {
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
                _ => does_pod_meet_profile_when::profile_or_outside_by_when(profile, by, subject),
            }
        }
        _ => {
            let shown = escaped_and_cut(name, 80);
            // One text for both cases: it does not reveal whether another team's profile exists.
            let namespace = subject.namespace;
            let reason =
                format!("profile {shown:?} does not exist, or namespace {namespace:?} may not use it");
            let list: Vec<&str> = usable().take(8).collect();
            let base = crate::profile::built_in_bases::BASES.iter().any(|(base, _)| *base == name);
            let fix = match nearest_if_probably_meant(
                name,
                subject.deadline.take_names_within_budgets(name, usable()),
            ) {
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
