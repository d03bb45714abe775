//! Namespaces that may use a profile.

use super::admits;
use crate::facts::{EnforcementMode, NamespaceFacts};
use crate::profile::Profile;
use crate::snapshot::Snapshot;

/// Namespaces that use a profile as far as is known: first those whose default it is, then those with mode `enforce` that
/// it admits.
#[must_use]
pub fn namespaces_that_use<'a>(profile: &Profile, snapshot: &'a Snapshot) -> Vec<&'a str> {
    let known = snapshot.namespaces();
    let (named, others): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, facts)| facts.profile.as_deref() == Some(&*profile.name));
    let admitted = others.into_iter().filter(|(name, facts)| enforces_and_is_admitted(profile, name, facts));
    named.into_iter().chain(admitted).map(|(name, _)| name).collect()
}

/// The number of namespaces with mode `enforce` that a profile admits. Which profiles namespaces name does not count, so
/// the number is the same for every name of a profile.
#[must_use]
pub fn count_enforcing_namespaces(profile: &Profile, snapshot: &Snapshot) -> usize {
    snapshot
        .namespaces()
        .into_iter()
        .filter(|(name, facts)| enforces_and_is_admitted(profile, name, facts))
        .count()
}

fn enforces_and_is_admitted(profile: &Profile, name: &str, facts: &NamespaceFacts) -> bool {
    facts.mode() == Some(EnforcementMode::Enforce) && admits(profile, name, Some(facts))
}
