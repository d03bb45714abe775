//! Comparison of selectors without nodes: could a node satisfy both the pod and a profile, and must every node that
//! satisfies the pod satisfy the profile?

use super::Strength;
use crate::nodes::{Constraints, Relation, Requirement};
use crate::profile::Profile;
use crate::profile::schema::LabelSelector;
use std::collections::{BTreeMap, BTreeSet};

/// Most terms of an affinity that are compared; a pod with more counts as fitting.
const MAX_TERMS: usize = 64;

/// The conditions on one label.
#[derive(Debug, Default, Clone)]
struct Condition<'a> {
    allowed: Option<BTreeSet<&'a str>>,
    forbidden: BTreeSet<&'a str>,
    present: bool,
    absent: bool,
    above: Option<i64>,
    below: Option<i64>,
}

impl<'a> Condition<'a> {
    fn add(&mut self, requirement: Requirement<'a>) {
        match requirement.relation {
            Relation::In => {
                self.present = true;
                let values: BTreeSet<&str> = requirement.values.iter().collect();
                self.allowed = Some(match self.allowed.take() {
                    None => values,
                    Some(known) => known.intersection(&values).copied().collect(),
                });
            }
            Relation::NotIn => self.forbidden.extend(requirement.values.iter()),
            Relation::Exists => self.present = true,
            Relation::DoesNotExist => self.absent = true,
            Relation::Gt | Relation::Lt => {
                self.present = true;
                let Some(bound) = requirement.values.iter().next().and_then(|v| v.parse::<i64>().ok()) else {
                    self.allowed = Some(BTreeSet::new());
                    return;
                };
                if requirement.relation == Relation::Gt {
                    self.above = Some(self.above.map_or(bound, |b| b.max(bound)));
                } else {
                    self.below = Some(self.below.map_or(bound, |b| b.min(bound)));
                }
            }
        }
    }

    fn takes(&self, value: &str) -> bool {
        let number = || value.parse::<i64>().ok();
        !self.forbidden.contains(value)
            && self.above.is_none_or(|b| number().is_some_and(|n| n > b))
            && self.below.is_none_or(|b| number().is_some_and(|n| n < b))
    }

    /// Whether some value, or absence, satisfies both sets of conditions.
    fn possible(&self, other: &Condition<'_>) -> bool {
        if (self.present || other.present) && (self.absent || other.absent) {
            return false;
        }
        let both = |value: &&str| self.takes(value) && other.takes(value);
        match (&self.allowed, &other.allowed) {
            (Some(own), Some(others)) => own.iter().any(|value| others.contains(value) && both(value)),
            (Some(allowed), None) | (None, Some(allowed)) => allowed.iter().any(both),
            (None, None) => match (self.above.max(other.above), least(self.below, other.below)) {
                (Some(above), Some(below)) => below.checked_sub(above).is_none_or(|gap| gap > 1),
                _ => true,
            },
        }
    }

    /// Whether everything that satisfies these conditions satisfies the requirement.
    fn implies(&self, requirement: Requirement<'_>) -> bool {
        match requirement.relation {
            Relation::Exists => self.present,
            Relation::DoesNotExist => self.absent,
            Relation::NotIn if self.absent => true,
            relation => match &self.allowed {
                Some(allowed) => {
                    let mut left = allowed.iter().filter(|v| self.takes(v)).peekable();
                    left.peek().is_some() && left.all(|value| requirement.holds(Some(value)))
                }
                None => {
                    relation == Relation::NotIn
                        && requirement.values.iter().all(|v| self.forbidden.contains(v))
                }
            },
        }
    }
}

fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// A pod's conditions, label by label.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    /// Of its node selector.
    shared: BTreeMap<&'a str, Condition<'a>>,
    /// Of each term that its affinity leaves open, on the labels that the term names, including the node selector's
    /// conditions on them; without an affinity, one entry without labels.
    terms: Vec<BTreeMap<&'a str, Condition<'a>>>,
    /// Whether there are more terms than are compared.
    more: bool,
}

impl<'a> Conditions<'a> {
    pub(crate) fn of(constraints: &Constraints<'a>) -> Self {
        let mut shared: BTreeMap<&str, Condition<'_>> = BTreeMap::new();
        for requirement in &constraints.selector {
            shared.entry(requirement.key).or_default().add(*requirement);
        }
        let Some(terms) = &constraints.terms else {
            return Self { shared, terms: vec![BTreeMap::new()], more: false };
        };
        let open = terms.iter().filter(|t| !t.void);
        let conditions = open.clone().take(MAX_TERMS).map(|term| {
            let mut conditions: BTreeMap<&str, Condition<'_>> = BTreeMap::new();
            for requirement in &term.labels {
                let of_selector = || shared.get(requirement.key).cloned().unwrap_or_default();
                conditions.entry(requirement.key).or_insert_with(of_selector).add(*requirement);
            }
            conditions
        });
        // A term that contradicts itself or the node selector adds no node.
        let nothing = Condition::default();
        let terms = conditions.filter(|term| term.values().all(|own| own.possible(&nothing))).collect();
        Self { terms, more: open.count() > MAX_TERMS, shared }
    }

    /// The conditions of a term on a label.
    fn of_label<'t>(
        &'t self,
        term: &'t BTreeMap<&str, Condition<'a>>,
        key: &str,
    ) -> Option<&'t Condition<'a>> {
        term.get(key).or_else(|| self.shared.get(key))
    }

    /// Whether a node could satisfy both the pod and the profile. A profile that names no nodes fits nothing here.
    pub(crate) fn may_meet(&self, profile: &Profile) -> bool {
        if !profile.has_nodes() {
            return false;
        }
        let mut wanted: BTreeMap<&str, Condition<'_>> = BTreeMap::new();
        for requirement in profile.stated() {
            wanted.entry(requirement.key).or_default().add(requirement);
        }
        self.more
            || self.terms.iter().any(|term| {
                let nothing = Condition::default();
                let fits = |key: &str, asked: &Condition<'_>| {
                    self.of_label(term, key).unwrap_or(&nothing).possible(asked)
                };
                wanted.iter().all(|(key, asked)| fits(key, asked))
            })
    }

    /// How strongly the pod asks for a profile that it may meet.
    pub(crate) fn strength(&self, profile: &Profile) -> Strength {
        let selector: Vec<_> = profile.node_selector.iter().flat_map(LabelSelector::conditions).collect();
        if !selector.is_empty() && self.imply(&selector) {
            return Strength::Nodes;
        }
        let types = profile.instance_type();
        match types.is_some() && self.imply(types.as_slice()) {
            false => Strength::Open,
            // The node selector, where there is one, says which nodes carry the profile.
            true if selector.is_empty() => Strength::Nodes,
            true => Strength::Type,
        }
    }

    /// A label and value that the pod requires and no profile selects, although profiles select nodes by this label.
    pub(crate) fn beside<'p>(
        &self,
        profiles: impl Iterator<Item = &'p Profile>,
    ) -> Option<(&'a str, &'a str)> {
        if self.more {
            return None;
        }
        let mut selected: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for requirement in profiles.flat_map(Profile::stated).filter(|r| r.relation == Relation::In) {
            selected.entry(requirement.key).or_default().extend(requirement.values.iter());
        }
        // Every term has the conditions of the node selector; those of the first are on labels that all may share.
        let first = self.terms.first()?;
        self.shared.keys().chain(first.keys()).find_map(|key| {
            let selected = selected.get(key)?;
            let mut asked = self.terms.iter().map(|term| self.of_label(term, key)?.allowed.as_ref());
            let none = asked.all(|values| values.is_some_and(|values| values.is_disjoint(selected)));
            let value = self.of_label(first, key)?.allowed.as_ref()?.first()?;
            none.then_some((*key, *value))
        })
    }

    /// Whether every node that satisfies the pod satisfies the requirements.
    fn imply(&self, requirements: &[Requirement<'_>]) -> bool {
        let implied = |term: &BTreeMap<&str, Condition<'a>>, r: &Requirement<'_>| {
            self.of_label(term, r.key).is_some_and(|condition| condition.implies(*r))
        };
        !self.more
            && !self.terms.is_empty()
            && self.terms.iter().all(|term| requirements.iter().all(|r| implied(term, r)))
    }
}
