//! All that is required of one label: by a pod, which borrows the values, or by a profile, which keeps them as sets so
//! that no decision goes through them.

use super::label_requirement::{LabelRequirement, Relation};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// The conditions on one label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CombinedConditions<T: Ord> {
    /// The values that remain, where some are listed.
    pub allowed: Option<BTreeSet<T>>,
    forbidden: BTreeSet<T>,
    present: bool,
    absent: bool,
    above: Option<i64>,
    below: Option<i64>,
}

impl<T: Ord + Clone + Borrow<str>> CombinedConditions<T> {
    /// Adds a requirement on the label.
    pub fn add_requirement<'v>(&mut self, requirement: LabelRequirement<'v>)
    where
        T: From<&'v str>,
    {
        match requirement.relation {
            Relation::In => {
                self.present = true;
                let values: BTreeSet<T> = requirement.values.iter().map(T::from).collect();
                self.allowed = Some(match self.allowed.take() {
                    None => values,
                    Some(known) => known.intersection(&values).cloned().collect(),
                });
            }
            Relation::NotIn => self.forbidden.extend(requirement.values.iter().map(T::from)),
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

    /// Whether the label must be there.
    #[must_use]
    pub fn requires_presence(&self) -> bool {
        self.present
    }

    /// Removes the listed values that other conditions exclude, so that each comparison looks at those that remain. The values that
    /// it names are counted before.
    pub fn remove_excluded_values(&mut self) {
        let Some(mut allowed) = self.allowed.take() else { return };
        allowed.retain(|value| self.allows_value((*value).borrow()));
        self.allowed = Some(allowed);
        self.forbidden.clear();
        (self.above, self.below) = (None, None);
    }

    /// The values that it names (count). A comparison of numbers stands for any number of them.
    #[must_use]
    pub fn count_named_values(&self) -> usize {
        if self.above.or(self.below).is_some() {
            return usize::MAX;
        }
        self.allowed.as_ref().map_or(0, BTreeSet::len) + self.forbidden.len()
    }

    fn allows_value(&self, value: &str) -> bool {
        let number = || value.parse::<i64>().ok();
        !self.forbidden.contains(value)
            && self.above.is_none_or(|b| number().is_some_and(|n| n > b))
            && self.below.is_none_or(|b| number().is_some_and(|n| n < b))
    }

    /// Whether some value, or absence, satisfies both sets of conditions.
    pub fn can_both_hold<U: Ord + Clone + Borrow<str>>(&self, other: &CombinedConditions<U>) -> bool {
        if (self.present || other.present) && (self.absent || other.absent) {
            return false;
        }
        let both = |value: &str| self.allows_value(value) && other.allows_value(value);
        match (&self.allowed, &other.allowed) {
            (Some(own), Some(others)) if own.len() <= others.len() => {
                own.iter().map(Borrow::borrow).any(|value| others.contains(value) && both(value))
            }
            (Some(own), Some(others)) => {
                others.iter().map(Borrow::borrow).any(|value| own.contains(value) && both(value))
            }
            (Some(allowed), None) => allowed.iter().map(Borrow::borrow).any(both),
            (None, Some(allowed)) => allowed.iter().map(Borrow::borrow).any(both),
            (None, None) => match (self.above.max(other.above), least(self.below, other.below)) {
                (Some(above), Some(below)) => below.checked_sub(above).is_none_or(|gap| gap > 1),
                _ => true,
            },
        }
    }

    /// Whether everything that satisfies these conditions satisfies what is wanted: a list of values, values that are
    /// excluded, presence or absence, as profiles state them.
    pub fn implies<U: Ord + Clone + Borrow<str>>(&self, wanted: &CombinedConditions<U>) -> bool {
        (!wanted.present || self.present)
            && (!wanted.absent || self.absent)
            && wanted.allowed.as_ref().is_none_or(|listed| self.is_within(listed))
            && (wanted.forbidden.is_empty() || self.absent || self.avoids(&wanted.forbidden))
    }

    /// The values that remain.
    fn left<'s>(&'s self, allowed: &'s BTreeSet<T>) -> impl Iterator<Item = &'s str> {
        allowed.iter().map(Borrow::borrow).filter(|value| self.allows_value(value))
    }

    /// Whether some values remain and all of them are listed. It stops at the first one that is not.
    fn is_within<U: Ord + Borrow<str>>(&self, listed: &BTreeSet<U>) -> bool {
        let Some(allowed) = &self.allowed else { return false };
        let mut left = self.left(allowed).peekable();
        left.peek().is_some() && left.all(|value| listed.contains(value))
    }

    /// Whether the remaining values, or all that are not forbidden, are outside those that are excluded.
    fn avoids<U: Ord + Borrow<str>>(&self, excluded: &BTreeSet<U>) -> bool {
        let mut excluded_values = excluded.iter().map(Borrow::borrow);
        match &self.allowed {
            None => excluded_values.all(|value| self.forbidden.contains(value)),
            Some(allowed) if allowed.len() <= excluded.len() => {
                let mut left = self.left(allowed).peekable();
                left.peek().is_some() && left.all(|value| !excluded.contains(value))
            }
            Some(allowed) => {
                self.left(allowed).next().is_some()
                    && excluded_values.all(|value| !allowed.contains(value) || !self.allows_value(value))
            }
        }
    }
}

fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
