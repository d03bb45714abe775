//! Which profiles a namespace may use.

use crate::facts::{NAME_LABEL, NamespaceFacts};
use crate::profile::Profile;
use std::collections::BTreeMap;

/// Of an unknown namespace only the name is known: any other label that a selector asks about, present or absent,
/// cannot be checked, and the profile does not admit it. The same applies to labels that are not kept.
pub(crate) fn admits(profile: &Profile, namespace: &str, facts: Option<&NamespaceFacts>) -> bool {
    let Some(selector) = &profile.namespaces else { return true };
    let mut keys = selector.match_labels.keys().chain(selector.match_expressions.iter().map(|e| &e.key));
    match facts {
        Some(facts) => {
            selector.matches(&facts.labels)
                && (!facts.has_more_labels || keys.all(|key| facts.labels.contains_key(key)))
        }
        None => {
            keys.all(|key| key == NAME_LABEL)
                && selector.matches(&BTreeMap::from([(NAME_LABEL.to_owned(), namespace.to_owned())]))
        }
    }
}
