//! Background tasks that failed, for `/readyz`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Tasks that are down, or were within the last minute; by name, with their line of `/readyz`. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailedTasks(Arc<Mutex<BTreeMap<String, String>>>);

impl FailedTasks {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    pub(super) fn set(&self, name: &str, line: String) {
        self.with(|lines| lines.insert(name.to_owned(), line));
    }
    pub(super) fn clear(&self, name: &str) {
        self.with(|lines| lines.remove(name));
    }
    pub(super) fn has(&self, name: &str) -> bool {
        self.with(|lines| lines.contains_key(name))
    }
    /// Lines for `/readyz`.
    pub(super) fn lines(&self) -> Vec<String> {
        self.with(|lines| lines.values().cloned().collect())
    }
}
