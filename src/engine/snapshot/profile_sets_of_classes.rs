//! The sets of profiles that classes of nodes carry. A cluster may have thousands of profiles and classes, and nearly as many
//! different sets, so a set has a bit for each profile.

use crate::nodes::ClassSet;
use crate::profile::Profile;
use fixedbitset::FixedBitSet;
use std::cmp::Ordering;
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

/// Places of profiles among all that name their nodes.
#[derive(Debug)]
pub struct PlacesOfProfiles(FixedBitSet);

/// A set of profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileSet<'c> {
    ranked: &'c [Arc<Profile>],
    members: Option<&'c FixedBitSet>,
}

impl<'c> ProfileSet<'c> {
    /// The profiles, the highest priority first, and then by name.
    pub fn iter(self) -> impl Iterator<Item = &'c Arc<Profile>> {
        self.with_places().map(|(_, profile)| profile)
    }

    /// The same, each with its place among all profiles that name their nodes.
    pub(crate) fn with_places(self) -> impl Iterator<Item = (usize, &'c Arc<Profile>)> {
        let members = self.members.into_iter().flat_map(FixedBitSet::ones);
        members.filter_map(|place| Some((place, self.ranked.get(place)?)))
    }

    /// The first one of some profiles.
    #[must_use]
    pub fn first_of(self, places: &PlacesOfProfiles) -> Option<&'c Arc<Profile>> {
        self.ranked.get(self.members?.intersection(&places.0).next()?)
    }

    /// Whether it has a profile.
    #[must_use]
    pub fn contains(self, profile: &Profile) -> bool {
        let place = self.ranked.binary_search_by(|one| in_order_of_priority(one, profile));
        place.is_ok_and(|place| self.members.is_some_and(|members| members.contains(place)))
    }

    /// The order of the names of two sets, as of two lists. What both begin with is not looked at.
    #[must_use]
    pub fn cmp_names(self, other: Self) -> Ordering {
        let (Some(own), Some(others)) = (self.members, other.members) else {
            return self.len().cmp(&other.len());
        };
        let differences = [own.difference(others).next(), others.difference(own).next()];
        let Some(first) = differences.into_iter().flatten().min() else { return Ordering::Equal };
        let name_from = |members: &FixedBitSet| {
            let place = (first..members.len()).find(|place| members.contains(*place))?;
            self.ranked.get(place).map(|profile| profile.name.as_str())
        };
        name_from(own).cmp(&name_from(others))
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

/// The highest priority first, and then by name.
fn in_order_of_priority(a: &Profile, b: &Profile) -> Ordering {
    (b.priority, &a.name).cmp(&(a.priority, &b.name))
}

impl ProfileSetsOfClasses {
    /// The sets of profiles with the classes that each is on.
    pub(super) fn of<'s>(profiles: impl Iterator<Item = (&'s Arc<Profile>, &'s ClassSet)>) -> Self {
        let mut ranked: Vec<(&Arc<Profile>, &ClassSet)> = profiles.collect();
        ranked.sort_by(|(a, _), (b, _)| in_order_of_priority(a, b));
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
        let mut numbered: Vec<(usize, FixedBitSet)> =
            numbers.into_iter().map(|(set, number)| (number, set)).collect();
        numbered.sort_unstable_by_key(|(number, _)| *number);
        let sets = numbered.into_iter().map(|(_, set)| set).collect();
        Self { ranked: ranked.into_iter().map(|(profile, _)| Arc::clone(profile)).collect(), sets, of_class }
    }

    /// The places of some profiles.
    pub(super) fn places(&self, of: impl Fn(&Profile) -> bool) -> PlacesOfProfiles {
        let mut places = FixedBitSet::with_capacity(self.ranked.len());
        let of = self.ranked.iter().enumerate().filter(|(_, profile)| of(profile));
        of.for_each(|(place, _)| places.insert(place));
        PlacesOfProfiles(places)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::FabricProfile;

    #[test]
    fn sets_of_classes() {
        let profile = |name: &str, priority: i32| {
            let json = format!(
                r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"{name}"}},
                "spec":{{"transport":"ethernet","attachment":"none","priority":{priority}}}}}"#
            );
            let profile: FabricProfile = serde_json::from_str(&json).unwrap();
            Arc::new(Profile::checked_with_base(&profile, &[]).unwrap())
        };
        let profiles = [profile("a", 0), profile("b", 5), profile("c", 0), profile("d", 0)];
        let classes = |members: &[usize]| {
            let mut set = ClassSet::with_capacity(9);
            members.iter().for_each(|class| set.insert(*class));
            set
        };
        let on = [classes(&[1, 2, 5]), classes(&[2, 3]), classes(&[1, 3, 5]), classes(&[])];
        let sets = ProfileSetsOfClasses::of(profiles.iter().zip(&on));
        let names = |class: usize| {
            let set = sets.set(sets.number_of_class(class));
            let names: Vec<&str> = set.iter().map(|profile| profile.name.as_str()).collect();
            assert_eq!((set.len(), set.is_empty()), (names.len(), names.is_empty()));
            names
        };
        let all = [0, 1, 2, 3, 4, 5, 8].map(names);
        assert_eq!(
            all,
            [vec![], vec!["a", "c"], vec!["b", "a"], vec!["b", "c"], vec![], vec!["a", "c"], vec![]]
        );
        assert_eq!((sets.len(), sets.number_of_class(0), sets.number_of_class(99)), (4, 0, 0));
        assert_eq!(sets.number_of_class(1), sets.number_of_class(5));
        let set = |class| sets.set(sets.number_of_class(class));
        let places = sets.places(|profile| profile.name != "b");
        let first = [1, 2, 3].map(|class| set(class).first_of(&places).map(|p| p.name.as_str()));
        assert_eq!(first, [Some("a"), Some("a"), Some("c")]);
        assert!(set(0).first_of(&places).is_none());
        for class in 0..6 {
            let has = profiles.iter().map(|p| set(class).contains(p));
            assert!(has.eq(profiles.iter().map(|p| names(class).contains(&p.name.as_str()))), "{class}");
        }
        for one in 0..6 {
            for other in 0..6 {
                assert_eq!(set(one).cmp_names(set(other)), names(one).cmp(&names(other)), "{one} {other}");
            }
        }
    }
}
