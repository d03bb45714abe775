//! Objects by the extended resource that they describe: a group of nodes looks up its resources, and is not compared with
//! every network and policy of the cluster.

use crate::multus::ResourceName;
use std::collections::BTreeMap;

/// Objects in their order, and where those of each resource are.
#[derive(Debug)]
pub(super) struct ByResource<T> {
    all: Vec<T>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// Objects that name the resource without its prefix, which the operator's settings decide.
    by_suffix: BTreeMap<String, Vec<usize>>,
}

impl<T> Default for ByResource<T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_name: BTreeMap::new(), by_suffix: BTreeMap::new() }
    }
}

impl<T> ByResource<T> {
    pub(super) fn new(
        objects: impl Iterator<Item = T>,
        resource: impl Fn(&T) -> Option<ResourceName>,
    ) -> Self {
        let mut found = Self::default();
        for object in objects {
            let at = found.all.len();
            match resource(&object) {
                Some(ResourceName::Full(name)) => found.by_name.entry(name).or_default().push(at),
                Some(ResourceName::Suffix(name)) => found.by_suffix.entry(name).or_default().push(at),
                None => {}
            }
            found.all.push(object);
        }
        found
    }

    /// All objects, in their order.
    pub(super) fn all(&self) -> &[T] {
        &self.all
    }

    fn places_of_resource(&self, resource: &str) -> impl Iterator<Item = &Vec<usize>> {
        let suffix = resource.split_once('/').and_then(|(_, suffix)| self.by_suffix.get(suffix));
        self.by_name.get(resource).into_iter().chain(suffix)
    }

    /// The number of objects of a resource.
    pub(super) fn count_objects_of_resource(&self, resource: &str) -> usize {
        self.places_of_resource(resource).map(Vec::len).sum()
    }

    /// The objects of a resource of nodes, in their order.
    pub(super) fn objects_of_resource(&self, resource: &str) -> impl Iterator<Item = &T> {
        let mut found: Vec<usize> = self.places_of_resource(resource).flatten().copied().collect();
        found.sort_unstable();
        found.into_iter().filter_map(|at| self.all.get(at))
    }
}
