//! Where the pods of one decision can run. The templates of a workload mostly ask for the same nodes, and a cluster may
//! have thousands of kinds of them, so that each question is answered once.

use super::Snapshot;
use crate::deadline::Deadline;
use crate::nodes::{ClassSet, Constraints, landing_of};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Most answers of each kind that are kept (count). Each takes a bit for every kind of node.
const KEPT: usize = 64;

/// Two hashes with keys of their own: nobody can foresee them, so that no two questions have the same.
type Question = (u64, u64);

/// The answers so far.
#[derive(Debug, Default)]
struct Answers {
    hashes: (RandomState, RandomState),
    tolerated: Mutex<HashMap<Question, ClassSet>>,
    landings: Mutex<HashMap<Question, ClassSet>>,
}

impl Answers {
    fn question(&self, what: &impl Hash) -> Question {
        (self.hashes.0.hash_one(what), self.hashes.1.hash_one(what))
    }
}

/// The answers so far; `None` where a decision is about one pod, which asks only once or twice.
#[derive(Debug, Clone, Default)]
pub(super) struct Landings(Option<Arc<Answers>>);

/// They follow from the facts.
impl PartialEq for Landings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Landings {}

/// Landings.
impl Snapshot {
    /// The same for a decision on several pods, which often ask for the same nodes.
    #[must_use]
    pub(crate) fn for_several_pods(&self) -> Self {
        Self { landings: Landings(Some(Arc::default())), ..self.clone() }
    }

    /// The classes that have a node that a pod can run on, of all nodes; incomplete if the time is over in between.
    #[must_use]
    pub(crate) fn landing(&self, constraints: &Constraints<'_>, deadline: &Deadline<'_>) -> ClassSet {
        let land = || landing_of(|| self.tolerated(constraints), constraints, self.all_nodes(), deadline);
        let Some(answers) = self.landings.0.as_deref() else { return land() };
        let asked = (self.of_taints(constraints), constraints.of_labels());
        once(&answers.landings, answers.question(&asked), land)
    }

    /// The classes whose taints a pod tolerates.
    #[must_use]
    pub(crate) fn tolerated(&self, constraints: &Constraints<'_>) -> ClassSet {
        let find = || self.all_nodes().classes().tolerated(|taint| constraints.tolerates(taint));
        let Some(answers) = self.landings.0.as_deref() else { return find() };
        once(&answers.tolerated, answers.question(&self.of_taints(constraints)), find)
    }

    /// What decides which taints a pod tolerates.
    fn of_taints<'c>(&self, constraints: &'c Constraints<'_>) -> impl Hash + use<'c> {
        let classes = self.all_nodes().classes();
        // Pods request many resources, and hardly any taint is named like one.
        let named: Vec<&str> =
            constraints.resources.iter().copied().filter(|name| classes.has_taint(name)).collect();
        (constraints.any_taints, &constraints.tolerations, named)
    }
}

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
