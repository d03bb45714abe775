//! What follows from a known object, worked out once: thousands of a pod's claims may name one template, and thousands of
//! its resources may be one by other names.

use std::collections::HashMap;
use std::marker::PhantomData;

/// Answers by the fact. The snapshot, which outlives `'a`, holds each fact in one place.
#[derive(Debug)]
pub(crate) struct PerFact<'a, F, T> {
    answers: HashMap<*const F, T>,
    facts: PhantomData<&'a F>,
}

impl<F, T> Default for PerFact<'_, F, T> {
    fn default() -> Self {
        Self { answers: HashMap::new(), facts: PhantomData }
    }
}

impl<'a, F> PerFact<'a, F, ()> {
    /// Whether a fact was not given before.
    pub(crate) fn record_if_first(&mut self, fact: &'a F) -> bool {
        self.answers.insert(std::ptr::from_ref(fact), ()).is_none()
    }
}

impl<'a, F, T> PerFact<'a, F, T> {
    /// The answer for a fact, from `answer` the first time.
    pub(crate) fn get(&mut self, fact: &'a F, answer: impl FnOnce() -> T) -> &T {
        self.answers.entry(std::ptr::from_ref(fact)).or_insert_with(answer)
    }
}
