//! Objects by the extended resource that they describe: a group of nodes looks up its resources, and is not compared with
//! every network and policy of the cluster.

use super::limit_of_comparisons::Comparisons;
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

    /// The objects of a resource of nodes, in their order; none once there were too many comparisons. Each counts as `weight`
    /// comparisons.
    pub(super) fn objects_of_resource(
        &self,
        resource: &str,
        weight: usize,
        comparisons: &Comparisons,
    ) -> impl Iterator<Item = &T> {
        let suffix = resource.split_once('/').and_then(|(_, suffix)| self.by_suffix.get(suffix));
        let named = self.by_name.get(resource);
        let number: usize = named.into_iter().chain(suffix).map(Vec::len).sum();
        let mut found = Vec::new();
        if comparisons.count(number.saturating_mul(weight)) {
            found.extend(named.into_iter().chain(suffix).flatten().copied());
        }
        found.sort_unstable();
        found.into_iter().filter_map(|at| self.all.get(at))
    }
}
