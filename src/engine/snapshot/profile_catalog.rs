//! The profiles of a Snapshot, and what they are found by: name, resource, network, and the classes of nodes that
//! carry them. Made once when a Snapshot is built, so that a decision does not go through all profiles.

use super::node_labels_of_profile::NodeLabelsOfProfile;
use super::profile_sets_of_classes::{PlacesOfProfiles, ProfileSet, ProfileSetsOfClasses};
use super::variables_of_profiles::{ByVariable, by_variable};
use crate::nodes::{ClassSet, NodeView, Relation};
use crate::profile::Profile;
use crate::profile::schema::EnvPolicy;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Profiles with their indices.
#[derive(Debug, Default)]
pub struct Catalog {
    profiles: BTreeMap<String, Arc<Profile>>,
    /// The same in the same order. A profile's number is its place here.
    numbered: Vec<Arc<Profile>>,
    by_resource: HashMap<String, Vec<Arc<Profile>>>,
    /// By the name of a network, and its namespace; `None` is the namespace of the pod.
    by_network: HashMap<String, HashMap<Option<String>, Vec<Arc<Profile>>>>,
    by_rails_namespace: HashMap<String, Vec<Arc<Profile>>>,
    classes: BTreeMap<String, ClassSet>,
    selections: BTreeMap<String, NodeLabelsOfProfile>,
    /// For each label that profiles ask for, these profiles, each with the number of values that it names.
    asked: BTreeMap<Box<str>, Vec<(Arc<Profile>, usize)>>,
    /// The values that profiles list, by label.
    listed: BTreeMap<Box<str>, ValuesListedForLabel>,
    lacking: BTreeMap<String, Vec<String>>,
    sets: ProfileSetsOfClasses,
    restricts: bool,
    variables: ByVariable,
}

/// Values of a label that profiles list for their nodes: a pod's values are looked up here, whatever the number of profiles.
#[derive(Debug, Default)]
pub(crate) struct ValuesListedForLabel {
    /// Profiles that list values.
    pub(crate) profiles: Vec<Arc<Profile>>,
    /// By value, the profiles that list it.
    pub(crate) values: BTreeMap<Box<str>, Vec<Arc<Profile>>>,
}

impl Catalog {
    /// Makes the indices over profiles and nodes.
    #[must_use]
    pub fn new(profiles: BTreeMap<String, Arc<Profile>>, nodes: &NodeView) -> Self {
        let restricting = |p: &Arc<Profile>| p.env.iter().any(|e| e.policy != EnvPolicy::Default);
        let restricts = profiles.values().any(restricting);
        let variables = by_variable(profiles.values());
        let numbered = profiles.values().cloned().collect();
        let mut catalog = Self { profiles, numbered, restricts, variables, ..Self::default() };
        for (name, profile) in &catalog.profiles {
            let mut resources: Vec<&str> =
                profile.rails.iter().filter_map(|r| r.resource.as_deref()).collect();
            resources.extend(profile.resources.iter().map(|r| r.name.as_str()));
            resources.sort_unstable();
            resources.dedup();
            for resource in &resources {
                catalog.by_resource.entry((*resource).to_owned()).or_default().push(Arc::clone(profile));
            }
            let networks: BTreeSet<(&str, Option<&str>)> = profile
                .rails
                .iter()
                .map(|r| (r.network.name.as_str(), r.network.namespace.as_deref()))
                .collect();
            for (network, namespace) in networks {
                let named = catalog.by_network.entry(network.to_owned()).or_default();
                named.entry(namespace.map(str::to_owned)).or_default().push(Arc::clone(profile));
            }
            let mut namespaces: Vec<&str> =
                profile.rails.iter().filter_map(|r| r.network.namespace.as_deref()).collect();
            namespaces.sort_unstable();
            namespaces.dedup();
            for namespace in namespaces {
                catalog.by_rails_namespace.entry(namespace.to_owned()).or_default().push(Arc::clone(profile));
            }
            for requirement in profile.all_node_requirements().filter(|r| r.relation == Relation::In) {
                let listed = catalog.listed.entry(requirement.key.into()).or_default();
                listed.profiles.push(Arc::clone(profile));
                for value in requirement.values.iter() {
                    listed.values.entry(value.into()).or_default().push(Arc::clone(profile));
                }
            }
            let (Some(set), Some(selection)) = (classes(profile, nodes), NodeLabelsOfProfile::of(profile))
            else {
                continue;
            };
            for (key, condition) in selection.all_conditions() {
                let asking = (Arc::clone(profile), condition.count_named_values());
                catalog.asked.entry(key.clone()).or_default().push(asking);
            }
            catalog.selections.insert(name.clone(), selection);
            let offered =
                nodes.classes_with_node_counts(&set).any(|(_, class, _)| !class.resources.is_empty());
            if offered {
                resources.retain(|name| {
                    !nodes.classes_with_node_counts(&set).any(|(_, class, _)| class.lists_resource(name))
                });
                catalog.lacking.insert(name.clone(), resources.into_iter().map(str::to_owned).collect());
            }
            catalog.classes.insert(name.clone(), set);
        }
        let with_classes =
            catalog.profiles.iter().filter_map(|(name, profile)| Some((profile, catalog.classes.get(name)?)));
        catalog.sets = ProfileSetsOfClasses::of(with_classes);
        catalog
    }

    /// Whether it is made of these profiles.
    #[must_use]
    pub fn is_of(&self, profiles: &BTreeMap<String, Arc<Profile>>) -> bool {
        self.profiles == *profiles
    }

    /// The variables in all profiles.
    pub(crate) fn variables(&self) -> &ByVariable {
        &self.variables
    }

    /// The profiles by their numbers, in the order of their names.
    pub(crate) fn numbered(&self) -> &[Arc<Profile>] {
        &self.numbered
    }

    /// The number of a profile.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.numbered.binary_search_by(|profile| (*profile.name).cmp(name)).ok()
    }

    /// A profile by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Profile>> {
        self.profiles.get(name)
    }

    /// Profiles by name, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.profiles.values()
    }

    /// Profiles that a resource belongs to.
    #[must_use]
    pub fn with_resource(&self, resource: &str) -> &[Arc<Profile>] {
        self.by_resource.get(resource).map(Vec::as_slice).unwrap_or_default()
    }

    /// Profiles with a rail on a network, for a pod in `pod_namespace`, in the order of their names.
    #[must_use]
    pub fn with_network(&self, namespace: &str, name: &str, pod_namespace: &str) -> Vec<&Arc<Profile>> {
        let Some(named) = self.by_network.get(name) else { return Vec::new() };
        let there = named.get(&Some(namespace.to_owned())).into_iter();
        let of_pod = named.get(&None).filter(|_| namespace == pod_namespace);
        let mut having: Vec<&Arc<Profile>> = there.chain(of_pod).flatten().collect();
        // A profile may name the network in both ways.
        having.sort_by(|one, other| one.name.cmp(&other.name));
        having.dedup_by(|one, other| one.name == other.name);
        having
    }

    /// Whether any profile requires or forbids a variable.
    #[must_use]
    pub fn any_profile_restricts_variables(&self) -> bool {
        self.restricts
    }

    /// Profiles with a rail on a network of this namespace.
    #[must_use]
    pub fn with_rails_in(&self, namespace: &str) -> &[Arc<Profile>] {
        self.by_rails_namespace.get(namespace).map(Vec::as_slice).unwrap_or_default()
    }

    /// The classes that carry a profile; `None` where it does not say which nodes it is for.
    #[must_use]
    pub fn node_classes_of(&self, profile: &str) -> Option<&ClassSet> {
        self.classes.get(profile)
    }

    /// The labels of nodes that a profile asks for; `None` where it does not say which nodes it is for.
    #[must_use]
    pub(crate) fn selection_of(&self, profile: &str) -> Option<&NodeLabelsOfProfile> {
        self.selections.get(profile)
    }

    /// Whether a profile asks for a label of nodes. All others tell profiles apart by nothing.
    #[must_use]
    pub(crate) fn asks_for_label(&self, key: &str) -> bool {
        self.asked.contains_key(key) || self.listed.contains_key(key)
    }

    /// Of some profiles, those that ask for a label (count), and how many values they name.
    #[must_use]
    pub(crate) fn profiles_and_values_for_label(
        &self,
        key: &str,
        of_profile: impl Fn(&Profile) -> bool,
    ) -> (usize, usize) {
        let asking = self.asked.get(key).into_iter().flatten().filter(|(profile, _)| of_profile(profile));
        asking.fold((0, 0), |(profiles, values), (_, named)| (profiles + 1, values + named))
    }

    /// The values of a label that profiles list.
    #[must_use]
    pub(crate) fn values_listed_for_label(&self, key: &str) -> Option<&ValuesListedForLabel> {
        self.listed.get(key)
    }

    /// Resources of a profile that none of its nodes knows.
    #[must_use]
    pub fn resources_on_none_of_its_nodes(&self, profile: &str) -> &[String] {
        self.lacking.get(profile).map(Vec::as_slice).unwrap_or_default()
    }

    /// Number of the set of profiles that a class carries; 0 is none.
    #[must_use]
    pub fn profile_set_of_class(&self, class: usize) -> usize {
        self.sets.number_of_class(class)
    }

    /// A set of profiles by its number.
    #[must_use]
    pub fn profile_set(&self, number: usize) -> ProfileSet<'_> {
        self.sets.set(number)
    }

    /// The places of some profiles in the sets.
    #[must_use]
    pub fn places_of_profiles(&self, of: impl Fn(&Profile) -> bool) -> PlacesOfProfiles {
        self.sets.places(of)
    }

    /// Sets of profiles (count), the empty one included.
    #[must_use]
    pub fn profile_sets(&self) -> usize {
        self.sets.len()
    }
}

/// The classes of a profile's nodes.
fn classes(profile: &Profile, nodes: &NodeView) -> Option<ClassSet> {
    let mut set = nodes.classes().all().clone();
    for condition in profile.node_selector_else_instance_types() {
        nodes.classes().remove_classes_not_satisfying(&mut set, condition);
    }
    profile.has_node_requirements().then_some(set)
}

/// The indices follow from the profiles and the nodes.
impl PartialEq for Catalog {
    fn eq(&self, other: &Self) -> bool {
        self.profiles == other.profiles
    }
}

impl Eq for Catalog {}
