//! The sets of profiles that classes of nodes carry. A cluster may have thousands of profiles and classes, and nearly as many
//! different sets, so a set has a bit for each profile.

use crate::nodes::ClassSet;
use crate::profile::Profile;
use fixedbitset::FixedBitSet;
use std::collections::HashMap;
use std::sync::Arc;

/// The sets, each once.
#[derive(Debug)]
pub(super) struct ProfileSetsOfClasses {
    /// All profiles, the highest priority first, and then by name. A profile's bit is its place here.
    ranked: Vec<Arc<Profile>>,
    sets: Vec<FixedBitSet>,
    /// For each class, the number of its set.
    of_class: Vec<usize>,
}

/// A set of profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileSet<'c> {
    ranked: &'c [Arc<Profile>],
    members: Option<&'c FixedBitSet>,
}

impl<'c> ProfileSet<'c> {
    /// The profiles, the highest priority first, and then by name.
    pub fn iter(self) -> impl Iterator<Item = &'c Arc<Profile>> {
        self.members.into_iter().flat_map(FixedBitSet::ones).filter_map(|place| self.ranked.get(place))
    }

    /// Profiles (count).
    #[must_use]
    pub fn len(self) -> usize {
        self.members.map_or(0, |members| members.count_ones(..))
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.members.is_none_or(FixedBitSet::is_clear)
    }
}

impl ProfileSetsOfClasses {
    /// The sets of profiles with the classes that each is on.
    pub(super) fn of<'s>(profiles: impl Iterator<Item = (&'s Arc<Profile>, &'s ClassSet)>) -> Self {
        let mut ranked: Vec<(&Arc<Profile>, &ClassSet)> = profiles.collect();
        ranked.sort_by(|(a, _), (b, _)| (b.priority, &a.name).cmp(&(a.priority, &b.name)));
        let mut carried: Vec<FixedBitSet> = Vec::new();
        for (place, (_, classes)) in ranked.iter().enumerate() {
            for class in classes.ones() {
                if carried.len() <= class {
                    carried.resize_with(class + 1, FixedBitSet::new);
                }
                let Some(carried) = carried.get_mut(class) else { continue };
                if carried.is_empty() {
                    *carried = FixedBitSet::with_capacity(ranked.len());
                }
                carried.insert(place);
            }
        }
        let mut numbers: HashMap<FixedBitSet, usize> = HashMap::from([(FixedBitSet::new(), 0)]);
        let mut number = |set: FixedBitSet| {
            let next = numbers.len();
            *numbers.entry(set).or_insert(next)
        };
        let of_class = carried.into_iter().map(&mut number).collect();
        let mut sets: Vec<FixedBitSet> = vec![FixedBitSet::new(); numbers.len()];
        for (set, number) in numbers {
            if let Some(place) = sets.get_mut(number) {
                *place = set;
            }
        }
        Self { ranked: ranked.into_iter().map(|(profile, _)| Arc::clone(profile)).collect(), sets, of_class }
    }

    /// Number of the set that a class carries; 0 is the empty one.
    pub(super) fn number_of_class(&self, class: usize) -> usize {
        self.of_class.get(class).copied().unwrap_or(0)
    }

    /// A set by its number.
    pub(super) fn set(&self, number: usize) -> ProfileSet<'_> {
        ProfileSet { ranked: &self.ranked, members: self.sets.get(number) }
    }

    /// Sets (count), the empty one included.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }
}

impl Default for ProfileSetsOfClasses {
    fn default() -> Self {
        Self { ranked: Vec::new(), sets: vec![FixedBitSet::new()], of_class: Vec::new() }
    }
}
