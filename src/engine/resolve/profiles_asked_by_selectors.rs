//! The profiles whose nodes the pod's selectors ask for, although the pod can run now on none where they apply. Nodes that join
//! while the pod is pending would fit it (docs/adr/0022).

use super::compare_selectors::TermsAboutNodes;
use super::node_classes_by_resources::{
    ClassesLackingPublishedResources, classes_with_any_and_with_other_accelerators, requested_accelerators,
};
use super::which_candidate_of_nodes_wins::replaces;
use super::{Conditions, unmet_condition_of_when};
use crate::demands::Subject;
use crate::nodes::{ClassSet, NodeConstraintsOfPod};
use crate::profile::Profile;
use crate::snapshot::{Catalog, PlacesOfProfiles};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The profiles that the pod could have and whose nodes a term of its selectors asks for.
pub(super) struct AskedProfiles {
    /// By name.
    pub(super) profiles: Vec<(Arc<Profile>, TermsAboutNodes)>,
}

impl AskedProfiles {
    pub(super) fn of(conditions: &Conditions<'_>, subject: &Subject<'_>) -> Self {
        let snapshot = subject.snapshot;
        let profiles = snapshot
            .profiles()
            .filter(|p| snapshot.admits(p, subject.namespace))
            .take_while(|_| conditions.may_compare_another(subject.deadline))
            .map(|p| (Arc::clone(p), conditions.terms_about_nodes_of(p)))
            .filter(|(p, terms)| terms.is_any_asking() && unmet_condition_of_when(p, subject).is_none());
        Self { profiles: profiles.collect() }
    }

    /// Those that apply on none of the nodes that the pod can run on now: it may exclude the nodes of today by name, the pool is
    /// at zero, or another profile applies on these nodes, because of its priority or because the pod names it. Nodes that join
    /// while the pod is pending would fit it.
    pub(super) fn without_usable_nodes(
        mut self,
        conditions: &Conditions<'_>,
        (constraints, subject): (&NodeConstraintsOfPod<'_>, &Subject<'_>),
        landing: &ClassSet,
        named: Option<&Arc<Profile>>,
    ) -> Vec<Arc<Profile>> {
        if self.profiles.is_empty() {
            return Vec::new();
        }
        // Another term may ask for a profile with a higher priority, but on other nodes.
        let outranks = |(p, terms): &(Arc<Profile>, TermsAboutNodes)| {
            self.profiles.iter().any(|(q, of_q)| q.priority > p.priority && terms.all_asking_require(*of_q))
        };
        let outranked: Vec<bool> = self.profiles.iter().map(outranks).collect();
        let mut outranked = outranked.into_iter();
        self.profiles.retain(|_| outranked.next() == Some(false));
        // Further nodes of a profile are like those that it has: what excludes these excludes them too, except their names. But
        // they may not have registered their accelerators and the resources of the profile yet.
        let snapshot = subject.snapshot;
        let classes = snapshot.all_nodes().classes();
        let mut others = classes.all().clone();
        others.difference_with(&snapshot.classes_with_tolerated_taints(constraints, subject.deadline));
        let accelerators = requested_accelerators(constraints, snapshot);
        let (have, of_other_kind) = classes_with_any_and_with_other_accelerators(&accelerators, snapshot);
        if !accelerators.is_empty() {
            others.union_with(&of_other_kind);
        }
        let mut away = classes.all().clone();
        // Without looks, the pod counts as fitting all nodes, and must not gain by it.
        if subject.deadline.looks_left().is_some() {
            away.difference_with(landing);
        }
        let mut priorities = PrioritiesOnNodes::of(subject, named);
        let published = ClassesLackingPublishedResources::of(constraints, subject);
        self.profiles.retain(|(p, terms)| {
            let Some(carrying) = snapshot.catalog().node_classes_of(&p.name) else { return true };
            if !subject.deadline.take_looks(carrying.count_ones(..) / CLASSES_PER_LOOK) {
                return true;
            }
            let mut applying = priorities.classes_where_highest(p, carrying);
            // A pod that names its nodes runs on no others.
            if let Some(nodes) = conditions.classes_named_by(*terms) {
                applying.intersect_with(&nodes);
                if applying.is_clear() {
                    return false;
                }
            }
            if applying.is_clear() || !applying.is_subset(&away) {
                return applying.is_clear();
            }
            // A node that has not registered its accelerators may not have registered anything.
            let mut lacking = published.except_those_of(p);
            lacking.intersect_with(&have);
            let mut others = others.clone();
            others.union_with(&lacking);
            !applying.is_subset(&others)
        });
        if let Some(named) = named {
            let of_named = conditions.terms_about_nodes_of(named);
            self.profiles.retain(|(p, terms)| {
                let both = terms.all_asking_require(of_named);
                p.name != named.name && !replaces(named, p, both)
            });
        }
        self.profiles.into_iter().map(|(p, _)| p).collect()
    }
}

/// Classes of nodes that are compared with the profiles on them in the time of one look at a node.
const CLASSES_PER_LOOK: usize = 8;

/// The priorities of the profiles that a pod could have, on the nodes that carry them.
struct PrioritiesOnNodes<'s> {
    catalog: &'s Catalog,
    usable: PlacesOfProfiles,
    /// The highest of all.
    highest: Option<i32>,
    /// The profile that the pod has, if it could have it.
    named: Option<&'s Arc<Profile>>,
    /// The highest in each set of profiles that was seen: all profiles ask for the same sets.
    of_set: Vec<Option<Option<i32>>>,
}

impl<'s> PrioritiesOnNodes<'s> {
    fn of(subject: &Subject<'s>, named: Option<&Arc<Profile>>) -> Self {
        let (snapshot, catalog) = (subject.snapshot, subject.snapshot.catalog());
        let usable = snapshot.profiles().filter(|p| {
            snapshot.admits(p, subject.namespace) && unmet_condition_of_when(p, subject).is_none()
        });
        let usable: BTreeMap<&str, i32> = usable.map(|p| (p.name.as_str(), p.priority)).collect();
        Self {
            catalog,
            highest: usable.values().max().copied(),
            named: named
                .and_then(|named| catalog.get(&named.name))
                .filter(|p| usable.contains_key(p.name.as_str())),
            usable: catalog.places_of_profiles(|p| usable.contains_key(p.name.as_str())),
            of_set: vec![None; catalog.profile_sets()],
        }
    }

    /// Of the classes that a profile selects, those where no other profile that the pod could have has a higher priority, and
    /// the one that the pod has does not replace it.
    fn classes_where_highest(&mut self, profile: &Profile, carrying: &ClassSet) -> ClassSet {
        let equal = |named: &&Arc<Profile>| named.name != profile.name && named.priority == profile.priority;
        let replacing = self.named.filter(equal);
        let mut applying = carrying.clone();
        if replacing.is_none() && self.highest.is_none_or(|highest| highest <= profile.priority) {
            return applying;
        }
        for class in carrying.ones() {
            let number = self.catalog.profile_set_of_class(class);
            let set = self.catalog.profile_set(number);
            let Some(highest) = self.of_set.get_mut(number) else { continue };
            let highest = *highest.get_or_insert_with(|| set.first_of(&self.usable).map(|p| p.priority));
            let replaced = || replacing.is_some_and(|named| set.contains(named));
            if highest.is_some_and(|highest| highest > profile.priority) || replaced() {
                applying.set(class, false);
            }
        }
        applying
    }
}
