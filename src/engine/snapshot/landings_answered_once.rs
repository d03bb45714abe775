//! Where the pods of one decision can run. The templates of a workload mostly ask for the same nodes, and a cluster may
//! have thousands of kinds of them, so that each question is answered once.

use crate::nodes::ClassSet;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Most answers of each kind that are kept (count). Each takes a bit for every kind of node.
const KEPT: usize = 64;

/// Two hashes with keys of their own: nobody can foresee them, so that no two questions have the same.
type Question = (u64, u64);

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    hashes: (RandomState, RandomState),
    tolerated: Mutex<HashMap<Question, ClassSet>>,
    landings: Mutex<HashMap<Question, ClassSet>>,
}

impl Answers {
    /// The classes whose taints a pod tolerates, as far as that was asked before.
    pub(super) fn tolerated(&self, asked: &impl Hash, find: impl FnOnce() -> ClassSet) -> ClassSet {
        once(&self.tolerated, self.question(asked), find)
    }

    /// The classes that a pod can run on, as far as that was asked before.
    pub(super) fn landing(&self, asked: &impl Hash, find: impl FnOnce() -> ClassSet) -> ClassSet {
        once(&self.landings, self.question(asked), find)
    }

    fn question(&self, what: &impl Hash) -> Question {
        (self.hashes.0.hash_one(what), self.hashes.1.hash_one(what))
    }
}

/// The answers so far; `None` where a decision is about one pod, which asks only once or twice.
#[derive(Debug, Clone, Default)]
pub(super) struct Landings(Option<Arc<Answers>>);

impl Landings {
    /// For a decision on several pods.
    pub(super) fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    pub(super) fn answers(&self) -> Option<&Answers> {
        self.0.as_deref()
    }
}

/// They follow from the facts.
impl PartialEq for Landings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Landings {}

/// The answer to a question that may have been asked before.
fn once(
    known: &Mutex<HashMap<Question, ClassSet>>,
    question: Question,
    find: impl FnOnce() -> ClassSet,
) -> ClassSet {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = lock().get(&question) {
        return answer.clone();
    }
    let answer = find();
    let mut known = lock();
    if known.len() < KEPT {
        known.insert(question, answer.clone());
    }
    answer
}
