//! The pod's own evidence: resources it asks for and networks it attaches.

use super::candidates_by_nodes::no_node_has_profile_or_accelerators;
use super::{Conditions, Evidence};
use crate::demands::Subject;
use crate::nodes::{ClassSet, NodeConstraintsOfPod};
use crate::profile::Profile;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The profiles that the pod's own resources and networks select.
pub(super) enum ProfilesOfOwnEvidence {
    Nothing,
    One(Arc<Profile>, Evidence),
    /// Two profiles: with either, the pod would have rails of both.
    Several(Vec<Arc<Profile>>),
}

/// The profiles that a resource the pod asks for, or a network it attaches, belongs to alone. All of the evidence
/// counts, so that the answer does not depend on its order, or on which webhook added what.
pub(super) fn profiles_by_resources_and_networks(subject: &Subject<'_>) -> ProfilesOfOwnEvidence {
    let snapshot = subject.snapshot;
    let only = |having: &mut dyn Iterator<Item = &Arc<Profile>>| {
        let mut found = having.filter(|p| snapshot.admits(p, subject.namespace));
        let first = found.next()?;
        found.next().is_none().then(|| Arc::clone(first))
    };
    let mut evidence: BTreeMap<String, (Arc<Profile>, Evidence)> = BTreeMap::new();
    let mut add = |found: Option<Arc<Profile>>, what: &dyn Fn() -> Evidence| {
        if let Some(profile) = found
            && !evidence.contains_key(&profile.name)
        {
            evidence.insert(profile.name.clone(), (profile, what()));
        }
    };
    let mut attached: BTreeSet<String> = BTreeSet::new();
    // A pod may name a resource in each of a thousand containers.
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for container in subject.pod.containers() {
        for resource in container.resource_names() {
            let having = snapshot.catalog().with_resource(resource);
            let is_asked = || container.units_of_resource(resource).is_some_and(|units| units > 0);
            if having.is_empty() || seen.contains(resource) || !is_asked() {
                continue;
            }
            seen.insert(resource);
            add(only(&mut having.iter()), &|| Evidence::Resource(resource.to_owned()));
        }
    }
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for item in subject.readable_networks().iter().flat_map(|n| &n.items) {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        if !seen.insert((namespace, &*item.name)) {
            continue;
        }
        let having = snapshot.catalog().with_network(namespace, &item.name, subject.namespace);
        let found = only(&mut having.into_iter());
        attached.extend(found.iter().map(|profile| profile.name.clone()));
        add(found, &|| Evidence::Network(format!("{namespace}/{}", item.name)));
    }
    // What a network proves too is the same whatever nodes there are (docs/adr/0021-audiences.md).
    let nodes = OnceCell::new();
    let excluded =
        |p: &Profile| nodes.get_or_init(|| NodesThatLabelsFit::of(subject)).exclude_nodes_of(p, subject);
    evidence.retain(|name, (profile, _)| attached.contains(name) || !excluded(profile));
    if evidence.len() > 1 {
        return ProfilesOfOwnEvidence::Several(evidence.into_values().map(|(profile, _)| profile).collect());
    }
    evidence
        .into_values()
        .next()
        .map_or(ProfilesOfOwnEvidence::Nothing, |(profile, what)| ProfilesOfOwnEvidence::One(profile, what))
}

/// The nodes that fit the labels that a pod asks for. Taints do not count, because controllers add tolerations to a
/// workload's pods.
pub(super) struct NodesThatLabelsFit<'a> {
    constraints: NodeConstraintsOfPod<'a>,
    landing: ClassSet,
    /// A pod may list thousands of values, and name dozens of profiles.
    conditions: OnceCell<Conditions<'a>>,
    idle: OnceCell<bool>,
}

impl<'a> NodesThatLabelsFit<'a> {
    pub(super) fn of(subject: &Subject<'a>) -> Self {
        let constraints = NodeConstraintsOfPod { any_taints: true, ..NodeConstraintsOfPod::of(subject.pod) };
        let landing = subject.snapshot.landing(&constraints, subject.deadline);
        Self { constraints, landing, conditions: OnceCell::new(), idle: OnceCell::new() }
    }

    /// Whether the pod's selectors exclude the nodes of a profile. A resource then proves nothing: nodes of different
    /// fabrics may have it, such as CoreWeave's `rdma/ib` on InfiniBand and on RoCE, and the networks of this profile do not
    /// exist where the pod runs.
    pub(super) fn exclude_nodes_of(&self, profile: &Profile, subject: &Subject<'a>) -> bool {
        let (snapshot, catalog) = (subject.snapshot, subject.snapshot.catalog());
        if self.constraints.any_labels || !profile.has_node_requirements() {
            return false;
        }
        let conditions =
            || Conditions::of(&self.constraints, (snapshot, subject.namespace), subject.deadline);
        let may_meet = || {
            let conditions = self.conditions.get_or_init(conditions);
            // A decision without time left is not used.
            !conditions.may_compare_another(subject.deadline) || conditions.may_fit_nodes_of(profile)
        };
        let Some(carrying) = catalog.node_classes_of(&profile.name).filter(|carrying| !carrying.is_clear())
        else {
            return !may_meet();
        };
        let idle = || {
            no_node_has_profile_or_accelerators(&self.constraints, &self.landing, subject.namespace, snapshot)
        };
        // See `waits_for_nodes_of_profile`.
        self.landing.is_disjoint(carrying) && !(*self.idle.get_or_init(idle) && may_meet())
    }
}
