//! The profiles whose nodes the pod's selectors ask for, although the pod can run now on none where they apply. Nodes that join
//! while the pod is pending would fit it (docs/adr/0022).

use super::compare_selectors::TermsAboutNodes;
use super::node_classes_by_resources::{
    classes_lacking_published_resources, classes_with_any_and_with_other_accelerators, requested_accelerators,
};
use super::which_candidate_of_nodes_wins::replaces;
use super::{Conditions, unmet_condition_of_when};
use crate::demands::Subject;
use crate::nodes::{ClassSet, NodeConstraintsOfPod};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use std::collections::BTreeSet;
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
        let usable = snapshot.profiles().filter(|p| {
            snapshot.admits(p, subject.namespace) && unmet_condition_of_when(p, subject).is_none()
        });
        let usable: BTreeSet<&str> = usable.map(|p| p.name.as_str()).collect();
        self.profiles.retain(|(p, terms)| {
            let Some(carrying) = snapshot.catalog().node_classes_of(&p.name) else { return true };
            if !subject.deadline.take_looks(carrying.count_ones(..) / CLASSES_PER_LOOK) {
                return true;
            }
            let mut applying =
                classes_where_profile_has_highest_priority(p, (carrying, named), &usable, snapshot);
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
            let mut lacking = classes_lacking_published_resources(constraints, subject, Some(p));
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

/// Of the classes that a profile selects, those where no other profile that the pod could have has a higher priority, and the one
/// that the pod has does not replace it.
fn classes_where_profile_has_highest_priority(
    profile: &Profile,
    (carrying, named): (&ClassSet, Option<&Arc<Profile>>),
    usable: &BTreeSet<&str>,
    snapshot: &Snapshot,
) -> ClassSet {
    let catalog = snapshot.catalog();
    let outranks = |q: &Profile| {
        let replaces = named.is_some_and(|named| named.name == q.name && q.name != profile.name);
        (q.priority > profile.priority || replaces && q.priority == profile.priority)
            && usable.contains(q.name.as_str())
    };
    if !snapshot.profiles().any(|q| outranks(q)) {
        return carrying.clone();
    }
    // For each set of profiles that was seen, whether this one is outranked in it.
    let mut known: Vec<Option<bool>> = vec![None; catalog.profile_sets()];
    let mut applying = carrying.clone();
    for class in carrying.ones() {
        let set = catalog.profile_set_of_class(class);
        let outranked = || catalog.profile_set(set).iter().any(|q| outranks(q));
        if known.get_mut(set).is_some_and(|known| *known.get_or_insert_with(outranked)) {
            applying.set(class, false);
        }
    }
    applying
}
