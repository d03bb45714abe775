//! Comparison of selectors without nodes: could a node satisfy both the pod and a profile, and must every node that
//! satisfies the pod satisfy the profile?

use crate::decision_limits::DecisionLimits;
use crate::nodes::{
    ClassSet, CombinedConditions, HOSTNAME_LABEL, LabelRequirement, NodeConstraintsOfPod, Relation,
};
use crate::profile::Profile;
use crate::snapshot::{Catalog, ConditionsByNodeLabel, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Most different terms of an affinity that are compared, without those that contradict themselves; a pod with more counts as
/// fitting.
const MAX_TERMS: usize = 64;

/// Most values of profiles that are looked up for one pod: real pods name a few. A pod that takes more counts as fitting,
/// as above.
const MAX_LOOKUPS: usize = 1 << 14;

type ByLabel<'a> = BTreeMap<&'a str, CombinedConditions<&'a str>>;

/// The field of a node's name, in `matchFields`.
const NODE_NAME_FIELD: &str = "metadata.name";

/// The classes of the nodes that one of the requirements lists by name, if all of them exist: no node that joins later satisfies
/// it.
fn classes_of_named_nodes(
    requirements: &[LabelRequirement<'_>],
    key: &str,
    snapshot: &Snapshot,
    deadline: &DecisionLimits<'_>,
) -> Option<ClassSet> {
    let listing = requirements.iter().find(|r| r.key == key && r.relation == Relation::In)?;
    if !deadline.take_looks(listing.values.len()) {
        return None;
    }
    let nodes = snapshot.all_nodes();
    let mut classes = nodes.classes().empty_set();
    for name in listing.values.iter() {
        classes.insert(nodes.class_number_of_node(name)?);
    }
    Some(classes)
}

/// What the terms of a pod say about the nodes of a profile; bits by the number of the term.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct TermsAboutNodes {
    /// The terms that ask for these nodes, see `Conditions::asks_for`.
    asking: u64,
    /// The terms that are satisfied only by these nodes.
    requiring: u64,
}

impl TermsAboutNodes {
    /// Whether any term asks for these nodes.
    pub(crate) fn is_any_asking(self) -> bool {
        self.asking != 0
    }

    /// Whether each term that asks for these nodes is satisfied only by those of another profile.
    pub(crate) fn all_asking_require(self, other: Self) -> bool {
        self.asking & !other.requiring == 0
    }
}

/// A pod's conditions on the labels that profiles ask for, label by label.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    /// Of its node selector.
    shared: ByLabel<'a>,
    /// Of each term that its affinity leaves open, on the labels that the term names, including the node selector's
    /// conditions on them; without an affinity, one entry without labels.
    terms: Vec<ByLabel<'a>>,
    /// For each term that names existing nodes, their classes: no other node satisfies it.
    named_nodes: Vec<Option<ClassSet>>,
    /// Whether there are more conditions, terms or values than are compared.
    more: bool,
    pub(super) catalog: &'a Catalog,
}

impl<'a> Conditions<'a> {
    /// Those of a pod, to compare with the profiles that admit its namespace. Only these profiles count for the limit of
    /// lookups: the answer must not depend on what others ask for.
    pub(crate) fn of(
        constraints: &NodeConstraintsOfPod<'a>,
        (snapshot, namespace): (&'a Snapshot, &str),
        deadline: &DecisionLimits<'_>,
    ) -> Self {
        let catalog = snapshot.catalog();
        // A node selector has each key once, so that a condition on another label changes nothing.
        let of_terms: BTreeSet<&str> =
            constraints.terms.iter().flatten().flat_map(|term| &term.labels).map(|r| r.key).collect();
        let mut shared = ByLabel::new();
        for requirement in &constraints.selector {
            if catalog.asks_for_label(requirement.key) || of_terms.contains(requirement.key) {
                shared.entry(requirement.key).or_default().add_requirement(*requirement);
            }
        }
        let Some(terms) = &constraints.terms else {
            shared.values_mut().for_each(CombinedConditions::remove_excluded_values);
            let named = classes_of_named_nodes(&constraints.selector, HOSTNAME_LABEL, snapshot, deadline);
            return Self {
                shared,
                terms: vec![ByLabel::new()],
                named_nodes: vec![named],
                more: constraints.any_labels,
                catalog,
            };
        };
        // Terms that say nothing new do not count for the limit.
        let (hashes, mut seen) = (RandomState::new(), HashSet::new());
        let distinct = terms.iter().filter(|term| !term.void && seen.insert(hashes.hash_one(term)));
        let conditions = distinct.map(|term| {
            let mut conditions = ByLabel::new();
            for requirement in &term.labels {
                let of_selector = || shared.get(requirement.key).cloned().unwrap_or_default();
                conditions.entry(requirement.key).or_insert_with(of_selector).add_requirement(*requirement);
            }
            let named = |requirements: &[LabelRequirement<'_>], key| {
                classes_of_named_nodes(requirements, key, snapshot, deadline)
            };
            let named = named(&term.names, NODE_NAME_FIELD)
                .or_else(|| named(&term.labels, HOSTNAME_LABEL))
                .or_else(|| named(&constraints.selector, HOSTNAME_LABEL));
            (conditions, named)
        });
        // A term that contradicts itself or the node selector adds no node.
        let nothing = CombinedConditions::<&str>::default();
        let conditions = conditions.filter(|(term, _)| term.values().all(|own| own.can_both_hold(&nothing)));
        let mut terms: Vec<(ByLabel<'_>, Option<ClassSet>)> = conditions.take(MAX_TERMS + 1).collect();
        let too_many = terms.len() > MAX_TERMS;
        terms.truncate(MAX_TERMS);
        // How many times values are looked up, at most.
        let mut asked: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let lookups: usize = (terms.iter().flat_map(|(term, _)| term))
            .map(|(key, condition)| {
                let (profiles, named) = *asked.entry(key).or_insert_with(|| {
                    catalog.profiles_and_values_for_label(key, |p| snapshot.admits(p, namespace))
                });
                condition.count_named_values().saturating_mul(profiles).min(named)
            })
            .sum();
        let more =
            constraints.any_labels || too_many || lookups > MAX_LOOKUPS || !deadline.take_looks(lookups);
        // What is left is compared with each profile.
        terms.iter_mut().for_each(|(term, _)| term.retain(|key, _| catalog.asks_for_label(key)));
        terms.dedup();
        let (mut terms, named_nodes): (Vec<ByLabel<'_>>, Vec<_>) = terms.into_iter().unzip();
        shared.retain(|key, _| catalog.asks_for_label(key));
        let conditions = terms.iter_mut().flat_map(BTreeMap::values_mut).chain(shared.values_mut());
        conditions.for_each(CombinedConditions::remove_excluded_values);
        Self { terms, named_nodes, more, shared, catalog }
    }

    /// The conditions of a term on a label.
    fn of_label<'t>(&'t self, term: &'t ByLabel<'a>, key: &str) -> Option<&'t CombinedConditions<&'a str>> {
        term.get(key).or_else(|| self.shared.get(key))
    }

    /// Takes a comparison with one profile from the budget of the run; returns whether there is time left for it.
    pub(super) fn may_compare_another(&self, deadline: &DecisionLimits<'_>) -> bool {
        let labels = || 1 + self.shared.len() + self.terms.iter().map(BTreeMap::len).sum::<usize>();
        deadline.spend_work_of_run(labels);
        !deadline.is_over()
    }

    /// Whether a node could satisfy both the pod and the profile. A profile that names no nodes fits nothing here.
    pub(crate) fn may_fit_nodes_of(&self, profile: &Profile) -> bool {
        let Some(selection) = self.catalog.selection_of(&profile.name) else { return false };
        let (nothing, stated) = (CombinedConditions::default(), selection.all_conditions());
        if self.more {
            return true;
        }
        // What the node selector rules out, no term allows again: each label is looked at once, not for each term.
        let by_selector = |key: &str, wanted: &CombinedConditions<Box<str>>| {
            self.shared.get(key).unwrap_or(&nothing).can_both_hold(wanted)
        };
        let fits = |(key, own): (&&str, &CombinedConditions<&str>)| {
            stated.get(*key).is_none_or(|w| own.can_both_hold(w))
        };
        stated.iter().all(|(key, wanted)| by_selector(key, wanted))
            && self.terms.iter().any(|term| term.iter().all(fits))
    }

    /// A label and value that the pod requires and no profile selects, although profiles select nodes by this label. `counts`: which
    /// profiles are looked at.
    pub(crate) fn required_label_no_profile_selects(
        &self,
        counts: &dyn Fn(&Profile) -> bool,
    ) -> Option<(&'a str, &'a str)> {
        if self.more {
            return None;
        }
        // Every term has the conditions of the node selector; those of the first are on labels that all may share.
        let first = self.terms.first()?;
        let any = |profiles: &[Arc<Profile>]| profiles.iter().any(|profile| counts(profile));
        self.shared.keys().chain(first.keys()).find_map(|key| {
            let listed = self.catalog.values_listed_for_label(key).filter(|listed| any(&listed.profiles))?;
            let selected = |value: &&str| listed.values.get(*value).is_some_and(|profiles| any(profiles));
            let mut asked = self.terms.iter().map(|term| self.of_label(term, key)?.allowed.as_ref());
            let none = asked.all(|values| values.is_some_and(|values| !values.iter().any(&selected)));
            let value = self.of_label(first, key)?.allowed.as_ref()?.first()?;
            none.then_some((*key, *value))
        })
    }

    /// What the terms of the pod say about the nodes of a profile.
    pub(crate) fn terms_about_nodes_of(&self, profile: &Profile) -> TermsAboutNodes {
        if self.more {
            // One of the terms that are not compared may ask for these nodes, and not be satisfied by them alone.
            let asking = if self.catalog.selection_of(&profile.name).is_some() { u64::MAX } else { 0 };
            return TermsAboutNodes { asking, requiring: 0 };
        }
        let Some(wanted) = self.labels_that_select_nodes_of(profile) else {
            return TermsAboutNodes::default();
        };
        let rest = self.beyond_selector(wanted);
        let listed = wanted.values().any(|condition| condition.allowed.is_some());
        let those = |holds: &dyn Fn(&ByLabel<'a>) -> bool| {
            self.terms.iter().rev().fold(0, |bits, term| bits << 1 | u64::from(holds(term)))
        };
        TermsAboutNodes {
            asking: those(&|term| self.asks_for(term, &rest, listed)),
            requiring: those(&|term| implies(term, &rest)),
        }
    }

    /// The classes of the nodes that the terms name which ask for the nodes of a profile; `None` if one of them names none.
    pub(crate) fn classes_named_by(&self, terms: TermsAboutNodes) -> Option<ClassSet> {
        let mut all = None;
        if self.more {
            return None;
        }
        for (_, named) in self.named_nodes.iter().enumerate().filter(|(n, _)| terms.asking >> n & 1 == 1) {
            let named = named.as_ref()?;
            match &mut all {
                None => all = Some(named.clone()),
                Some(all) => all.union_with(named),
            }
        }
        all
    }

    /// Whether each node that satisfies a term satisfies what is wanted, or the term lists a value of each label of which values
    /// are wanted. Beside those, it may leave open which labels are absent: `pool in (a)` asks for the nodes of pool `a` without
    /// the label `canary`, and not for those with it.
    fn asks_for(
        &self,
        term: &ByLabel<'a>,
        wanted: &[(&str, &CombinedConditions<Box<str>>)],
        values_are_listed: bool,
    ) -> bool {
        let nothing = CombinedConditions::default();
        wanted.iter().all(|(key, wanted)| {
            let own = term.get(key);
            if values_are_listed && wanted.allowed.is_none() && !wanted.requires_presence() {
                let all = own.or_else(|| self.shared.get(key)).unwrap_or(&nothing);
                return all.can_both_hold(wanted);
            }
            own.is_some_and(|own| own.implies(wanted) || own.allowed.is_some() && own.can_both_hold(wanted))
        })
    }

    /// What a term must require in order to ask for the nodes of a profile. A profile without a node selector is for its
    /// instance types. None if the profile names no nodes.
    fn labels_that_select_nodes_of(&self, profile: &Profile) -> Option<&ConditionsByNodeLabel> {
        let selection = self.catalog.selection_of(&profile.name)?;
        let wanted = if selection.selector.is_empty() { &selection.types } else { &selection.selector };
        (!wanted.is_empty()).then_some(wanted)
    }

    /// Whether every node that satisfies the pod satisfies what is wanted; not if nothing is.
    pub(super) fn imply(&self, wanted: &ConditionsByNodeLabel) -> bool {
        if self.more || wanted.is_empty() || self.terms.is_empty() {
            return false;
        }
        let rest = self.beyond_selector(wanted);
        self.terms.iter().all(|term| implies(term, &rest))
    }

    /// What is wanted beyond what the node selector implies: each term implies that as well.
    fn beyond_selector<'w>(
        &self,
        wanted: &'w ConditionsByNodeLabel,
    ) -> Vec<(&'w str, &'w CombinedConditions<Box<str>>)> {
        let by_selector = |key: &str, wanted: &CombinedConditions<Box<str>>| {
            self.shared.get(key).is_some_and(|condition| condition.implies(wanted))
        };
        let all = wanted.iter().map(|(key, wanted)| (&**key, wanted));
        all.filter(|(key, wanted)| !by_selector(key, wanted)).collect()
    }
}

/// Whether every node that satisfies a term satisfies what is wanted.
fn implies(term: &ByLabel<'_>, wanted: &[(&str, &CombinedConditions<Box<str>>)]) -> bool {
    wanted.iter().all(|(key, wanted)| term.get(key).is_some_and(|condition| condition.implies(wanted)))
}
