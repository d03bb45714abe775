//! Several contents of one object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// What an object with two contents is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// These nodes.
    Nodes(BTreeSet<String>),
    /// Networks of Multus and resources of device plugins.
    Attached,
    /// Networks of GKE.
    Gke,
    /// No fabric.
    Nothing,
}

/// Keeps one of several contents, the same one in every order. Whether they differ.
pub(super) fn keep<K: Ord, T: PartialEq + Debug>(map: &mut BTreeMap<K, T>, key: K, value: T) -> bool {
    let Some(known) = map.get_mut(&key) else {
        map.insert(key, value);
        return false;
    };
    let differs = *known != value;
    if differs && format!("{value:?}") < format!("{known:?}") {
        *known = value;
    }
    differs
}
