//! Which profiles a namespace may use.

use crate::facts::{NAME_LABEL, NamespaceFacts};
use crate::profile::Profile;
use std::collections::BTreeMap;

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
