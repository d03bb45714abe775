//! Comparison of selectors without nodes: could a node satisfy both the pod and a profile, and must every node that
//! satisfies the pod satisfy the profile?

use super::Strength;
use crate::nodes::{Condition, Constraints};
use crate::profile::Profile;
use crate::snapshot::{Catalog, Wanted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most terms of an affinity that are compared; a pod with more counts as fitting.
const MAX_TERMS: usize = 64;

/// Most values of profiles that are looked up for one pod: real pods name a few. A pod that takes more counts as fitting,
/// as above.
const MAX_LOOKUPS: usize = 1 << 14;

type ByLabel<'a> = BTreeMap<&'a str, Condition<&'a str>>;

/// A pod's conditions, label by label.
#[derive(Debug)]
pub(crate) struct Conditions<'a> {
    /// Of its node selector.
    shared: ByLabel<'a>,
    /// Of each term that its affinity leaves open, on the labels that the term names, including the node selector's
    /// conditions on them; without an affinity, one entry without labels.
    terms: Vec<ByLabel<'a>>,
    /// Whether there are more terms or values than are compared.
    more: bool,
    catalog: &'a Catalog,
}

impl<'a> Conditions<'a> {
    /// Those of a pod, to compare with the profiles of a catalog.
    pub(crate) fn of(constraints: &Constraints<'a>, catalog: &'a Catalog) -> Self {
        let mut shared = ByLabel::new();
        for requirement in &constraints.selector {
            shared.entry(requirement.key).or_default().add(*requirement);
        }
        let Some(terms) = &constraints.terms else {
            return Self { shared, terms: vec![ByLabel::new()], more: false, catalog };
        };
        let open = terms.iter().filter(|t| !t.void);
        let conditions = open.clone().take(MAX_TERMS).map(|term| {
            let mut conditions = ByLabel::new();
            for requirement in &term.labels {
                let of_selector = || shared.get(requirement.key).cloned().unwrap_or_default();
                conditions.entry(requirement.key).or_insert_with(of_selector).add(*requirement);
            }
            conditions
        });
        // A term that contradicts itself or the node selector adds no node.
        let nothing = Condition::<&str>::default();
        let terms: Vec<ByLabel<'_>> =
            conditions.filter(|term| term.values().all(|own| own.possible(&nothing))).collect();
        let labels = terms.iter().flatten();
        let lookups: usize = labels.map(|(key, condition)| catalog.lookups(key, condition.named())).sum();
        Self { terms, more: open.count() > MAX_TERMS || lookups > MAX_LOOKUPS, shared, catalog }
    }

    /// The conditions of a term on a label.
    fn of_label<'t>(&'t self, term: &'t ByLabel<'a>, key: &str) -> Option<&'t Condition<&'a str>> {
        term.get(key).or_else(|| self.shared.get(key))
    }

    /// Whether a node could satisfy both the pod and the profile. A profile that names no nodes fits nothing here.
    pub(crate) fn may_meet(&self, profile: &Profile) -> bool {
        let Some(selection) = self.catalog.selection_of(&profile.name) else { return false };
        let nothing = Condition::default();
        self.more
            || self.terms.iter().any(|term| {
                selection
                    .stated()
                    .iter()
                    .all(|(key, wanted)| self.of_label(term, key).unwrap_or(&nothing).possible(wanted))
            })
    }

    /// How strongly the pod asks for a profile that it may meet.
    pub(crate) fn strength(&self, profile: &Profile) -> Strength {
        let Some(selection) = self.catalog.selection_of(&profile.name) else { return Strength::Open };
        if self.imply(&selection.selector) {
            return Strength::Nodes;
        }
        match self.imply(&selection.types) {
            false => Strength::Open,
            // The node selector, where there is one, says which nodes carry the profile.
            true if selection.selector.is_empty() => Strength::Nodes,
            true => Strength::Type,
        }
    }

    /// A label and value that the pod requires and no profile selects, although profiles select nodes by this label. `counts`: which
    /// profiles are looked at.
    pub(crate) fn beside(&self, counts: &dyn Fn(&Profile) -> bool) -> Option<(&'a str, &'a str)> {
        if self.more {
            return None;
        }
        // Every term has the conditions of the node selector; those of the first are on labels that all may share.
        let first = self.terms.first()?;
        let any = |profiles: &[Arc<Profile>]| profiles.iter().any(|profile| counts(profile));
        self.shared.keys().chain(first.keys()).find_map(|key| {
            let listed = self.catalog.listed(key).filter(|listed| any(&listed.profiles))?;
            let selected = |value: &&str| listed.values.get(*value).is_some_and(|profiles| any(profiles));
            let mut asked = self.terms.iter().map(|term| self.of_label(term, key)?.allowed.as_ref());
            let none = asked.all(|values| values.is_some_and(|values| !values.iter().any(&selected)));
            let value = self.of_label(first, key)?.allowed.as_ref()?.first()?;
            none.then_some((*key, *value))
        })
    }

    /// Whether every node that satisfies the pod satisfies what is wanted; not if nothing is.
    fn imply(&self, wanted: &Wanted) -> bool {
        let implied = |term: &ByLabel<'a>, key: &str, wanted: &Condition<Box<str>>| {
            self.of_label(term, key).is_some_and(|condition| condition.implies(wanted))
        };
        !self.more
            && !wanted.is_empty()
            && !self.terms.is_empty()
            && self.terms.iter().all(|term| wanted.iter().all(|(key, wanted)| implied(term, key, wanted)))
    }
}
