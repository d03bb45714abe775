//! Room for the objects of one namespace. A tenant may create as many claims and networks as etcd takes: without a limit,
//! one tenant's objects would fill the memory of every replica.

use crate::facts::Kind;
use std::collections::HashMap;
use std::sync::Arc;

/// Most memory for the objects of one kind in one namespace (bytes, estimated by `Fact::bytes`). It is enough for 35,000
/// claims of one request each, or for 10,000 networks. Each kind has its own room, because a namespace with many pods has
/// many claims that were made from templates, and decisions need the templates.
pub(super) const ROOM: usize = 16 << 20;

/// How much of it is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Rooms(HashMap<(Kind, Arc<str>), usize>);

impl Rooms {
    /// Whether an object still fits, in place of one that takes `old` bytes.
    pub(super) fn fits(&self, kind: Kind, namespace: &Arc<str>, old: usize, new: usize) -> bool {
        // An object that shrinks always fits.
        new <= old || self.with(&(kind, Arc::clone(namespace)), old, new) <= ROOM
    }

    pub(super) fn replace(&mut self, kind: Kind, namespace: &Arc<str>, old: usize, new: usize) {
        let key = (kind, Arc::clone(namespace));
        match self.with(&key, old, new) {
            0 => drop(self.0.remove(&key)),
            taken => drop(self.0.insert(key, taken)),
        }
    }

    fn with(&self, key: &(Kind, Arc<str>), old: usize, new: usize) -> usize {
        self.0.get(key).copied().unwrap_or_default().saturating_sub(old).saturating_add(new)
    }
}
