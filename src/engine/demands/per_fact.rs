//! What follows from a known claim or template, worked out once: thousands of a pod's claims may name one template.

use crate::facts::DeviceClaim;
use std::collections::HashMap;
use std::marker::PhantomData;

/// Answers by the fact. The snapshot, which outlives `'a`, holds each fact in one place.
#[derive(Debug)]
pub(crate) struct PerFact<'a, T> {
    answers: HashMap<*const DeviceClaim, T>,
    facts: PhantomData<&'a DeviceClaim>,
}

impl<T> Default for PerFact<'_, T> {
    fn default() -> Self {
        Self { answers: HashMap::new(), facts: PhantomData }
    }
}

impl<'a> PerFact<'a, ()> {
    /// Whether a fact was not given before.
    pub(crate) fn is_first(&mut self, fact: &'a DeviceClaim) -> bool {
        self.answers.insert(std::ptr::from_ref(fact), ()).is_none()
    }
}

impl<'a, T> PerFact<'a, T> {
    /// The answer for a fact, from `answer` the first time.
    pub(crate) fn get(&mut self, fact: &'a DeviceClaim, answer: impl FnOnce() -> T) -> &T {
        self.answers.entry(std::ptr::from_ref(fact)).or_insert_with(answer)
    }
}
