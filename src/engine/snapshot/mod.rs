//! The immutable view that one decision is made under, and its builder. Files and watch events feed the same
//! builder. What one object says is read in `facts`, `nodes` and `profile`; here are the questions across objects.

mod audience;
mod build_snapshot;
mod cache_of_node_answers;
mod cluster_settings;
mod does_profile_admit_namespace;
mod lookup_visible_objects;
mod memory_limit_per_namespace;
mod nearest_layer_wins;
mod node_labels_of_profile;
mod profile_catalog;
mod profile_sets_of_classes;
mod store_of_objects_except_nodes;
mod variables_of_profiles;
mod what_audience_sees;
mod where_pods_run;
mod which_object_makes_network;

#[cfg(test)]
mod lookup_tests;
#[cfg(test)]
mod memory_limit_per_namespace_tests;

pub use audience::Audience;
pub use build_snapshot::Identity;
pub use build_snapshot::{Builder, FactError};
pub use cluster_settings::{Ambiguity, Settings};
pub(crate) use does_profile_admit_namespace::admits;
pub use nearest_layer_wins::Layer;
pub(crate) use node_labels_of_profile::ConditionsByNodeLabel;
pub use profile_catalog::Catalog;
pub use profile_sets_of_classes::{PlacesOfProfiles, ProfileSet};
pub(crate) use variables_of_profiles::ByVariable;

use crate::facts::{FactKind, FactsOfAllObjects, NamespaceFacts};
use crate::nodes::NodeView;
use crate::profile::{FabricProfile, Profile};
use audience::View;
use cache_of_node_answers::CacheOfNodeAnswers;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What is known when a decision is made, as far as the audience of its answer may know it. Cheap to copy; never changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    known: Arc<AllFacts>,
    view: View,
    landings: CacheOfNodeAnswers,
}

/// Everything that is known.
#[derive(Debug, Default, PartialEq, Eq)]
struct AllFacts {
    catalog: Arc<Catalog>,
    nodes: NodeView,
    objects: Arc<Objects>,
    lists_networks: bool,
    lists_nodes: bool,
    /// Kinds of which nothing was heard for too long.
    stale: Vec<&'static str>,
    settings: Settings,
    bases: Arc<[FabricProfile]>,
}

/// What objects say that are kept one by one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Objects {
    namespaces: HashMap<String, Arc<NamespaceFacts>>,
    facts: FactsOfAllObjects,
    /// Namespaces of the networks in files of a cluster. Who gives networks as facts gives all of them: `kubectl get
    /// net-attach-def -A`.
    networks_in: BTreeSet<String>,
    /// Objects that describe the cluster from a namespace that is not trusted, by kind (count).
    ignored: BTreeMap<FactKind, usize>,
    left_out: memory_limit_per_namespace::LeftOut,
}

impl Objects {
    /// Whether some objects of a kind in a namespace are left out, because the objects of this namespace use too much memory.
    fn leaves_out(&self, kind: FactKind, namespace: &str) -> bool {
        self.left_out.get(&kind).is_some_and(|namespaces| namespaces.contains(namespace))
    }
}

impl Snapshot {
    /// A profile by name.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Arc<Profile>> {
        self.known.catalog.get(name)
    }
    /// Profiles by name, in order.
    pub fn profiles(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.known.catalog.iter()
    }
    /// Profiles, and what they are found by.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.known.catalog
    }
    /// Whether the nodes are known: some nodes are given, or the cluster has listed its nodes and has none.
    #[must_use]
    pub fn knows_nodes(&self) -> bool {
        self.known.lists_nodes || !self.known.nodes.is_empty()
    }
    /// Kinds of which the cluster was not heard for too long: what is said of them may be over.
    #[must_use]
    pub fn stale_kinds(&self) -> &[&'static str] {
        &self.known.stale
    }
    /// Known facts about a namespace; `None` if its object was not given.
    #[must_use]
    pub fn namespace(&self, name: &str) -> Option<&NamespaceFacts> {
        self.known.objects.namespaces.get(name).map(Arc::as_ref)
    }
    /// Namespaces that are known, by name.
    #[must_use]
    pub fn namespaces(&self) -> BTreeMap<&str, &NamespaceFacts> {
        self.known.objects.namespaces.iter().map(|(name, facts)| (name.as_str(), &**facts)).collect()
    }
    /// Whether any namespace is known.
    #[must_use]
    pub fn knows_namespaces(&self) -> bool {
        self.known.objects.namespaces.iter().next().is_some()
    }
    /// Names of the namespaces that opted in, in any order.
    pub fn opted_in_namespaces(&self) -> impl Iterator<Item = &str> {
        let all = self.known.objects.namespaces.iter();
        all.filter(|(_, facts)| facts.mode().is_some()).map(|(name, _)| name.as_str())
    }
    /// Objects that would describe the cluster, but are not in an operator's namespace, by kind (count): for operators, who
    /// may have to name the namespace.
    pub fn ignored_objects_by_kind(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.known.objects.ignored.iter().map(|(kind, count)| (kind.name(), *count))
    }
    /// The compiled-in profiles, which profiles inherit from.
    #[must_use]
    pub fn bases(&self) -> &[FabricProfile] {
        &self.known.bases
    }
    /// Settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.known.settings
    }
}
