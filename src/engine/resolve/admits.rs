//! Which profiles a namespace may use, and which one its pods get by default.

use super::Evidence;
use crate::facts::{NAME_LABEL, NamespaceFacts};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use std::collections::BTreeMap;

/// The default profile of a pod: the namespace's, else the cluster's.
pub(crate) fn default_profile<'a>(
    facts: Option<&'a NamespaceFacts>,
    snapshot: &'a Snapshot,
) -> Option<(&'a str, Evidence)> {
    let own = facts.and_then(|f| f.profile.as_deref()).map(|name| (name, Evidence::NamespaceAnnotation));
    own.or_else(|| Some((snapshot.settings().default_profile.as_deref()?, Evidence::ClusterDefault)))
}

/// Of an unknown namespace only the name is known: any other label that a selector asks about, present or absent,
/// cannot be checked, and the profile does not admit it.
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
