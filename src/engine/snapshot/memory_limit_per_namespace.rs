//! Room for the objects of one namespace. A tenant may create as many claims and networks as etcd takes: without a limit,
//! one tenant's objects would fill the memory of every replica.

use crate::facts::FactKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Most memory for the objects of one kind in one namespace (bytes, estimated by `Fact::estimated_memory`). It is enough for 28,000
/// claims of one request each, or for 10,000 networks. Each kind has its own room, because a namespace with many pods has
/// many claims that were made from templates, and decisions need the templates.
pub(super) const MAX_BYTES_PER_NAMESPACE_AND_KIND: usize = 16 << 20;

/// Namespaces of which some objects are not known, by kind.
pub(super) type LeftOut = BTreeMap<FactKind, BTreeSet<Arc<str>>>;

/// How much of it is taken, and where it was not enough.
#[derive(Debug, Clone, Default)]
pub(super) struct MemoryPerNamespaceAndKind {
    taken: HashMap<(FactKind, Arc<str>), usize>,
    /// Kinds and namespaces of objects that were left out, and whether that was after the last whole list of the kind.
    left_out: BTreeMap<(FactKind, Arc<str>), bool>,
}

impl MemoryPerNamespaceAndKind {
    /// Whether an object still fits, in place of one that takes `old` bytes.
    pub(super) fn fits(&self, kind: FactKind, namespace: &Arc<str>, old: usize, new: usize) -> bool {
        // An object that shrinks always fits.
        new <= old || self.with(&(kind, Arc::clone(namespace)), old, new) <= MAX_BYTES_PER_NAMESPACE_AND_KIND
    }

    pub(super) fn change_used_memory(
        &mut self,
        kind: FactKind,
        namespace: &Arc<str>,
        old: usize,
        new: usize,
    ) {
        let key = (kind, Arc::clone(namespace));
        match self.with(&key, old, new) {
            0 => drop(self.taken.remove(&key)),
            taken => drop(self.taken.insert(key, taken)),
        }
    }

    /// Notes that an object was left out.
    pub(super) fn record_left_out(&mut self, kind: FactKind, namespace: &Arc<str>) {
        self.left_out.insert((kind, Arc::clone(namespace)), true);
    }

    /// Notes that all objects of a kind were listed again: where none was left out since the list before, all are known.
    /// Returns whether that changed anything.
    pub(super) fn forget_left_out_before_this_list(&mut self, kind: FactKind) -> bool {
        let before = self.left_out.len();
        self.left_out.retain(|(of, _), again| *of != kind || std::mem::take(again));
        self.left_out.len() != before
    }

    /// Namespaces of which some objects are not known, by kind.
    pub(super) fn left_out(&self) -> LeftOut {
        let mut all = LeftOut::default();
        for (kind, namespace) in self.left_out.keys() {
            all.entry(*kind).or_default().insert(Arc::clone(namespace));
        }
        all
    }

    fn with(&self, key: &(FactKind, Arc<str>), old: usize, new: usize) -> usize {
        self.taken.get(key).copied().unwrap_or_default().saturating_sub(old).saturating_add(new)
    }
}
