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

/// The first object with two contents, by what it is about. A group names only one.
#[derive(Debug, Default)]
pub(super) struct Twice {
    pub(super) of_nodes: BTreeMap<String, String>,
    pub(super) attached: Option<String>,
    pub(super) gke: Option<String>,
}

impl Twice {
    pub(super) fn new(twice: &BTreeMap<String, About>) -> Self {
        let mut found = Self::default();
        for (object, about) in twice {
            let first = match about {
                About::Nodes(names) => {
                    for name in names {
                        found.of_nodes.entry(name.clone()).or_insert_with(|| object.clone());
                    }
                    continue;
                }
                About::Attached => &mut found.attached,
                About::Gke => &mut found.gke,
                About::Nothing => continue,
            };
            first.get_or_insert_with(|| object.clone());
        }
        found
    }
}

/// Keeps one of several contents, the same one in every order. Whether they differ.
pub(super) fn keep_one_of_differing<K: Ord, T: PartialEq + Debug>(
    map: &mut BTreeMap<K, T>,
    key: K,
    value: T,
) -> bool {
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
