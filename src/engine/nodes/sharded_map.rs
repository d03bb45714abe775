//! A map by name in many shared parts, so that a copy for readers costs little, however large the map is: only the
//! parts that change after the copy are copied.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Parts: at 130,000 names each holds about 500.
const PARTS: u64 = 256;

/// The map.
#[derive(Debug, Clone)]
pub(super) struct Shards<V> {
    parts: Vec<Arc<BTreeMap<Box<str>, V>>>,
    len: usize,
}

impl<V> Default for Shards<V> {
    fn default() -> Self {
        Self { parts: (0..PARTS).map(|_| Arc::default()).collect(), len: 0 }
    }
}

fn part(name: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    usize::try_from(hasher.finish() % PARTS).unwrap_or(0)
}

impl<V: Clone> Shards<V> {
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.parts.get(part(name))?.get(name)
    }

    /// The value of a name, with the name as the map has it.
    pub(super) fn get_key_value(&self, name: &str) -> Option<(&str, &V)> {
        self.parts.get(part(name))?.get_key_value(name).map(|(name, value)| (&**name, value))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, name: &str, value: V) -> Option<V> {
        let old = Arc::make_mut(self.parts.get_mut(part(name))?).insert(name.into(), value);
        self.len += usize::from(old.is_none());
        old
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<V> {
        let slot = self.parts.get_mut(part(name))?;
        if !slot.contains_key(name) {
            return None;
        }
        let old = Arc::make_mut(slot).remove(name);
        self.len -= usize::from(old.is_some());
        old
    }

    /// Changes the value of a name, created by `default` if there is none.
    pub(super) fn change_or_insert(
        &mut self,
        name: &str,
        default: impl FnOnce() -> V,
        change: impl FnOnce(&mut V),
    ) {
        let Some(slot) = self.parts.get_mut(part(name)) else { return };
        let map = Arc::make_mut(slot);
        if let Some(value) = map.get_mut(name) {
            change(value);
        } else {
            let mut value = default();
            change(&mut value);
            map.insert(name.into(), value);
            self.len += 1;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.parts.iter().flat_map(|part| part.iter().map(|(name, value)| (&**name, value)))
    }
}
