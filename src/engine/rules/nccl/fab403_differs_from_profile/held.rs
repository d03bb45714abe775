//! What profiles of a pod's nodes require and forbid, beside the pod's own profile. A value that one of these profiles sets
//! is allowed on the nodes of this profile, and not on those of another. Each variable of a container is looked at once,
//! however many profiles have it and however often the container lists it.

use super::own_values::{Own, own_variables};
use super::places::Place;
use crate::plan::is_checked;
use crate::pod::pod_fields::Container;
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use crate::rules::pod_context::PodContext;
use crate::snapshot::Catalog;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Entries of profiles that are compared in the time in which a value is planned (count).
const COMPARED_PER_VALUE: usize = 8;

/// What several profiles set, require and forbid.
#[derive(Default)]
pub(super) struct Held<'a> {
    by_name: HashMap<&'a str, Variable<'a>>,
    /// Length of the longest value. The texts of a pod can be long, and longer ones are different.
    longest: usize,
}

#[derive(Default)]
struct Variable<'a> {
    /// Values that the pod's own profile sets. They are allowed everywhere.
    own: HashSet<&'a str>,
    /// Values that other profiles set, each with the numbers of these profiles, in order.
    others: HashMap<&'a str, Vec<usize>>,
    /// Entries that are compared with the container's, in the order of the profiles.
    compared: Vec<Compared<'a>>,
}

/// An entry of a profile that requires or forbids a variable.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    /// Number of the profile, and of the entry in it.
    at: (usize, usize),
    pub(super) profile: &'a Profile,
    pub(super) entry: &'a EnvEntry,
}

impl<'a> Held<'a> {
    /// What profiles have of the variables that a pod sets. Only these are looked up: a job can have hundreds of pod
    /// templates, and a cluster hundreds of profiles, each with dozens of variables.
    ///
    /// `own`: the pod's profile; `compared`: profiles whose entries containers are compared with; `beside`: others that
    /// a pod without a profile can name.
    pub(super) fn of(
        (names, catalog): (&BTreeSet<&str>, &'a Catalog),
        own: Option<&'a Profile>,
        compared: impl Iterator<Item = &'a Profile>,
        beside: impl Iterator<Item = &'a Profile>,
    ) -> Self {
        let mut numbers: HashMap<&str, (usize, bool)> = HashMap::new();
        let compared = compared.map(|profile| (profile, true));
        for (nth, (profile, compared)) in compared.chain(beside.map(|p| (p, false))).enumerate() {
            numbers.entry(&profile.name).or_insert((nth, compared));
        }
        let mut held = Self::default();
        for name in names {
            let entry_of = |(profile, at): &'a (Arc<Profile>, usize)| {
                let (nth, compared) = *numbers.get(&*profile.name)?;
                let entry = profile.env.get(*at)?;
                Some(((nth, *at), compared, &**profile, entry))
            };
            let mut entries: Vec<_> = catalog.with_variable(name).iter().filter_map(entry_of).collect();
            entries.sort_unstable_by_key(|(at, ..)| *at);
            for (at, compared, profile, entry) in entries {
                let variable = held.by_name.entry(&entry.name).or_default();
                if entry.policy != EnvPolicy::Forbid {
                    held.longest = held.longest.max(entry.value.len());
                    let setters = variable.others.entry(&entry.value).or_default();
                    if setters.last() != Some(&at.0) {
                        setters.push(at.0);
                    }
                }
                if compared && entry.policy != EnvPolicy::Default {
                    variable.compared.push(Compared { at, profile, entry });
                }
            }
        }
        for entry in own.iter().flat_map(|p| &p.env).filter(|e| e.policy != EnvPolicy::Forbid) {
            if let Some(variable) = held.by_name.get_mut(&*entry.name) {
                held.longest = held.longest.max(entry.value.len());
                variable.own.insert(&entry.value);
            }
        }
        held
    }

    /// The variables of a container that some profile refuses.
    pub(super) fn refused<'c>(&self, context: &'c PodContext<'_>, place: &Place<'c>) -> Refused<'_, 'a, 'c> {
        let container = place.container;
        let names: BTreeSet<&str> =
            names(context, place).filter(|name| self.by_name.contains_key(name)).collect();
        let each = names
            .into_iter()
            .flat_map(|name| own_variables(context, place, name).map(move |own| (name, own)));
        let mut refused = Refused { variables: Vec::new() };
        for (name, own) in each {
            let Some(variable) = self.by_name.get(name) else { continue };
            if !context.deadline.plans(variable.compared.len() / COMPARED_PER_VALUE) {
                break;
            }
            let text = own.value.as_ref().map(|v| &*v.text).filter(|text| text.len() <= self.longest);
            let by_own = text.is_some_and(|text| variable.own.contains(text));
            if by_own && own.is_known() {
                continue;
            }
            let set_by = text.and_then(|text| variable.others.get(text)).map_or(&[][..], Vec::as_slice);
            let refuses = |c: &&Compared<'_>| {
                let allowed = by_own || set_by.binary_search(&c.at.0).is_ok();
                // What the later entry of a variable gives is not known, and may be forbidden.
                let refused = match c.entry.policy {
                    EnvPolicy::Forbid => !allowed || !own.is_known(),
                    _ => !allowed && own.value.is_some(),
                };
                refused && applies(c, container)
            };
            let by: Vec<Compared<'a>> = variable.compared.iter().filter(refuses).copied().collect();
            if !by.is_empty() {
                refused.variables.push(RefusedVariable { own, set_by, by });
            }
        }
        refused
    }
}

/// The variables that a container sets.
pub(super) fn names<'c>(context: &'c PodContext<'_>, place: &Place<'c>) -> impl Iterator<Item = &'c str> {
    let in_env = place.container.env().iter().filter_map(|e| e.name.as_deref());
    in_env.chain(context.overlay.file_lines(place.app, place.container).map(|(name, _)| name))
}

/// Whether an entry is compared in a container.
fn applies(Compared { profile, entry, .. }: &Compared<'_>, container: &Container<'_>) -> bool {
    // The pod does not have the interfaces of this profile's rails.
    is_checked(entry, container, profile) && !profile.rails.iter().any(|r| *r.interface == *entry.value)
}

/// Variables of a container that profiles refuse.
pub(super) struct Refused<'h, 'a, 'c> {
    variables: Vec<RefusedVariable<'h, 'a, 'c>>,
}

struct RefusedVariable<'h, 'a, 'c> {
    own: Own<'c>,
    /// The profiles that set its value.
    set_by: &'h [usize],
    /// The entries that refuse it.
    by: Vec<Compared<'a>>,
}

impl<'a, 'c> Refused<'_, 'a, 'c> {
    /// The entries that refuse a variable, each with the variable, in the order of the profiles.
    pub(super) fn each(&self) -> impl Iterator<Item = (Compared<'a>, &Own<'c>)> {
        let mut each: Vec<(Compared<'a>, &Own<'c>)> = Vec::new();
        for RefusedVariable { own, by, .. } in &self.variables {
            each.extend(by.iter().map(|by| (*by, own)));
        }
        each.sort_unstable_by_key(|(by, _)| by.at);
        each.into_iter()
    }
}

/// The profiles that set every refused value of a pod. If the pod has no profile, it would be admitted with the name of
/// one of them, so it is admitted without.
#[derive(Default)]
pub(super) struct Setters(Option<Vec<usize>>);

impl Setters {
    /// Keeps those that set all refused values of a container. Whether any is left.
    pub(super) fn keep(&mut self, refused: &Refused<'_, '_, '_>) -> bool {
        for RefusedVariable { own, set_by, by } in &refused.variables {
            let forbidden = by.iter().any(|by| by.entry.policy == EnvPolicy::Forbid);
            let set_by = if forbidden && !own.is_known() { &[][..] } else { set_by };
            let kept = match self.0.take() {
                None => set_by.to_vec(),
                Some(kept) => kept.into_iter().filter(|nth| set_by.binary_search(nth).is_ok()).collect(),
            };
            let any = !kept.is_empty();
            self.0 = Some(kept);
            if !any {
                return false;
            }
        }
        true
    }
}
