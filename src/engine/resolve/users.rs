//! Namespaces that may use a profile.

use super::admits;
use crate::facts::Mode;
use crate::profile::Profile;
use crate::snapshot::Snapshot;

/// Namespaces that use a profile as far as is known: first those whose default it is, then those with mode `enforce` that
/// it admits.
#[must_use]
pub fn users<'a>(profile: &Profile, snapshot: &'a Snapshot) -> Vec<&'a str> {
    let known = snapshot.namespaces();
    let (named, others): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, facts)| facts.profile.as_deref() == Some(&*profile.name));
    let admitted = others
        .into_iter()
        .filter(|(name, facts)| facts.mode() == Some(Mode::Enforce) && admits(profile, name, Some(facts)));
    named.into_iter().chain(admitted).map(|(name, _)| name).collect()
}
