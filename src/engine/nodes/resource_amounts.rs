//! The units of extended resources that nodes list. Nodes of one machine type list the same, so the lists are kept
//! once and counted by class: a question about the largest node reads no node.

use super::largest_nodes_of_resource::ClassesByUnits;
use super::node_classes::ClassSet;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Most different lists that are kept: a cluster has one for each machine type, and a few more while device plugins
/// restart.
const MOST_LISTS: usize = 1024;

/// Number of a list; `UNKNOWN` if there was no room for it.
pub(super) type ListNumber = u16;
/// The list of a node is not known.
pub(super) const UNKNOWN_LIST: ListNumber = ListNumber::MAX;

/// Units by resource, sorted by name.
type List = Arc<[(Arc<str>, u64)]>;

/// Every list, and how many nodes of each class have it.
#[derive(Debug, Clone, Default)]
pub(super) struct AmountsOfAllNodes {
    lists: Vec<(List, usize)>,
    nodes: BTreeMap<(usize, ListNumber), usize>,
    /// Made at the first question about these nodes.
    largest: OnceLock<Arc<ClassesByUnits>>,
}

impl AmountsOfAllNodes {
    /// Number of a list that some node has.
    pub(super) fn find_used_list(&self, units: &[(&str, u64)]) -> Option<ListNumber> {
        let same = |list: &[(Arc<str>, u64)]| list.iter().map(|(n, u)| (&**n, *u)).eq(units.iter().copied());
        let at = self.lists.iter().position(|(list, nodes)| *nodes > 0 && same(list))?;
        ListNumber::try_from(at).ok()
    }

    /// Keeps a new list of amounts; returns `UNKNOWN` if all numbers are taken.
    pub(super) fn keep_new_list(&mut self, units: Vec<(Arc<str>, u64)>) -> ListNumber {
        let list = (units.into(), 0);
        let free = self.lists.iter().position(|(_, nodes)| *nodes == 0);
        let at = free.unwrap_or(self.lists.len());
        match self.lists.get_mut(at) {
            Some(free) => *free = list,
            None if at < MOST_LISTS => self.lists.push(list),
            None => return UNKNOWN_LIST,
        }
        ListNumber::try_from(at).unwrap_or(UNKNOWN_LIST)
    }

    /// Counts a node in, or out.
    pub(super) fn count_node_in_or_out(&mut self, class: usize, number: ListNumber, more: bool) {
        let step = |count: usize| if more { count + 1 } else { count.saturating_sub(1) };
        if let Some((_, nodes)) = self.lists.get_mut(usize::from(number)) {
            *nodes = step(*nodes);
        }
        let nodes = self.nodes.entry((class, number)).or_default();
        let before = *nodes;
        *nodes = step(before);
        let after = *nodes;
        if after == 0 {
            self.nodes.remove(&(class, number));
        }
        if (before == 0) != (after == 0) {
            self.largest.take();
        }
    }

    /// A list by its number; empty if it is not known.
    pub(super) fn list(&self, number: ListNumber) -> &[(Arc<str>, u64)] {
        self.lists.get(usize::from(number)).map(|(list, _)| &**list).unwrap_or_default()
    }

    /// Units of a resource on the node that lists most of them, among the classes of a set. `None` if no such node
    /// lists the resource, or if one may have more than is known: its list was not kept, or it lists 0, as a node
    /// does while its device plugin restarts (kubernetes/kubernetes pkg/kubelet/cm/devicemanager, `GetCapacity`).
    pub(super) fn most_units_in_classes(&self, set: &ClassSet, resource: &str) -> Option<u64> {
        self.largest.get_or_init(|| Arc::new(self.by_size())).most_units_in_classes(set, resource)
    }

    fn by_size(&self) -> ClassesByUnits {
        let mut classes: BTreeMap<ListNumber, Vec<usize>> = BTreeMap::new();
        for (class, number) in self.nodes.keys() {
            classes.entry(*number).or_default().push(*class);
        }
        let unknown = classes.remove(&UNKNOWN_LIST).unwrap_or_default();
        let count = self.nodes.last_key_value().map_or(0, |((class, _), _)| class + 1);
        ClassesByUnits::sort_classes_by_units(
            count,
            &unknown,
            classes.iter().map(|(number, classes)| (self.list(*number), &**classes)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(list: &[(&str, u64)]) -> Vec<(Arc<str>, u64)> {
        list.iter().map(|(name, units)| (Arc::from(*name), *units)).collect()
    }

    #[test]
    fn the_largest_node_of_a_set_of_classes() {
        let mut amounts = AmountsOfAllNodes::default();
        for (class, list) in [(0, [("a/vf", 8)]), (1, [("a/vf", 16)]), (1, [("a/vf", 16)])] {
            let number = amounts.find_used_list(&list).unwrap_or_else(|| amounts.keep_new_list(units(&list)));
            amounts.count_node_in_or_out(class, number, true);
        }
        let set = |classes: &[usize]| {
            let mut set = ClassSet::with_capacity(4);
            classes.iter().for_each(|class| set.insert(*class));
            set
        };
        assert_eq!(amounts.most_units_in_classes(&set(&[0]), "a/vf"), Some(8));
        assert_eq!(amounts.most_units_in_classes(&set(&[0, 1]), "a/vf"), Some(16));
        assert_eq!(amounts.most_units_in_classes(&set(&[0, 1]), "a/other"), None);
        assert_eq!(amounts.most_units_in_classes(&set(&[2]), "a/vf"), None);
        // A node with 0 units may soon have more.
        let none = amounts.keep_new_list(units(&[("a/vf", 0)]));
        amounts.count_node_in_or_out(0, none, true);
        assert_eq!(amounts.most_units_in_classes(&set(&[0]), "a/vf"), None);
        amounts.count_node_in_or_out(0, none, false);
        assert_eq!(amounts.most_units_in_classes(&set(&[0]), "a/vf"), Some(8));
        // The next list reuses the number of a list that no node has.
        assert_eq!(amounts.find_used_list(&[("a/vf", 0)]), None);
        assert_eq!(amounts.keep_new_list(units(&[("a/vf", 4)])), none);
    }

    #[test]
    fn lists_without_room_are_unknown() {
        let mut amounts = AmountsOfAllNodes::default();
        for n in 0..=MOST_LISTS as u64 {
            let number = amounts.keep_new_list(units(&[("a/vf", n + 1)]));
            assert_eq!(number == UNKNOWN_LIST, n as usize == MOST_LISTS);
            amounts.count_node_in_or_out(0, number, true);
        }
        let mut set = ClassSet::with_capacity(1);
        set.insert(0);
        assert_eq!(amounts.most_units_in_classes(&set, "a/vf"), None);
    }
}
