//! What follows from a known claim or template, worked out once: thousands of a pod's claims may name one template.

use crate::facts::DeviceClaim;
use std::collections::HashMap;

/// Answers by the fact, which the snapshot holds in one place while a decision lasts.
#[derive(Debug)]
pub(crate) struct PerFact<T>(HashMap<*const DeviceClaim, T>);

impl<T> Default for PerFact<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl PerFact<()> {
    /// Whether a fact was not given before.
    pub(crate) fn is_first(&mut self, fact: &DeviceClaim) -> bool {
        self.0.insert(std::ptr::from_ref(fact), ()).is_none()
    }
}

impl<T> PerFact<T> {
    /// The answer for a fact, from `answer` the first time.
    pub(crate) fn get(&mut self, fact: &DeviceClaim, answer: impl FnOnce() -> T) -> &T {
        self.0.entry(std::ptr::from_ref(fact)).or_insert_with(answer)
    }
}
