//! Which groups of nodes share a profile: those with one fabric, one number of accelerators and one provider.

use super::fields_with_origin::Fabric;
use super::groups_of_nodes::Group;
use super::node_as_shown::Node;
use std::collections::BTreeMap;

/// Groups that share a profile.
pub(super) struct Together<'a> {
    pub(super) fabric: Fabric,
    pub(super) groups: Vec<Group<'a>>,
}

impl<'a> Together<'a> {
    /// Whether a group with this fabric gets the same profile.
    fn shares_a_profile_with(&self, group: &Group<'_>, fabric: &Fabric) -> bool {
        let units = |group: &Group<'_>| group.accelerators.as_ref().map(|(_, count)| count.units);
        self.fabric == *fabric
            && self
                .groups
                .first()
                .is_some_and(|first| units(first) == units(group) && first.provider == group.provider)
    }

    /// The nodes of all groups.
    pub(super) fn nodes(&self) -> Vec<&'a Node> {
        self.groups.iter().flat_map(|group| group.nodes.iter().copied()).collect()
    }
}

/// Names and numbers of a fabric, and accelerators of a node.
type Alike = ((Vec<String>, Vec<u64>), Option<u64>);

/// Groups, joined as they get profiles.
#[derive(Default)]
pub(super) struct Joined<'a> {
    pub(super) profiles: Vec<Together<'a>>,
    /// Places in `profiles`, by what their fabrics have in common: a cluster may have one fabric for each of its groups.
    alike: BTreeMap<Alike, Vec<usize>>,
}

impl<'a> Joined<'a> {
    /// Adds a group to those with which it shares a profile, else as the first of a new profile.
    pub(super) fn add_to_equal_profile_or_new(&mut self, group: Group<'a>, fabric: Fabric) {
        let units = group.accelerators.as_ref().map(|(_, count)| count.units);
        let alike = self.alike.entry((fabric.names_and_numbers(), units)).or_default();
        let shares = |at: &usize| {
            self.profiles.get(*at).is_some_and(|known| known.shares_a_profile_with(&group, &fabric))
        };
        let known = alike.iter().copied().find(shares);
        match known.and_then(|at| self.profiles.get_mut(at)) {
            Some(known) => known.groups.push(group),
            None => {
                alike.push(self.profiles.len());
                self.profiles.push(Together { fabric, groups: vec![group] });
            }
        }
    }
}
