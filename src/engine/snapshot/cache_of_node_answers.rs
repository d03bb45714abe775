//! Where the pods of one decision can run. The templates of a workload mostly ask for the same nodes, and a cluster may
//! have thousands of kinds of them, so that each question is answered once. The pods of a file are decisions of their own,
//! which share the answers too, and count the looks that each answer took: what one of them gets depends on no other.

use crate::decision_limits::DecisionLimits;
use crate::nodes::{ClassSet, ExcludingConstraints};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Most answers of each kind that are kept (count). Each takes a bit for every kind of node.
const KEPT: usize = 64;

/// Two hashes with keys of their own: nobody can foresee them, so that no two questions have the same.
type Question = (u64, u64);

/// Looks at nodes that an answer took, and those for reasons.
type Looks = (usize, usize);

/// Answers of one kind.
type AnswerCache<T> = Mutex<HashMap<Question, (T, Looks)>>;

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    hashes: (RandomState, RandomState),
    tolerated: AnswerCache<ClassSet>,
    landings: AnswerCache<ClassSet>,
    dropped: AnswerCache<ExcludingConstraints>,
    /// Whether decisions of their own share them.
    of_decisions: bool,
}

impl Answers {
    /// The classes whose taints a pod tolerates, as far as that was asked before.
    pub(super) fn tolerated(&self, asked: &impl Hash, find: impl FnOnce() -> ClassSet) -> ClassSet {
        once(&self.tolerated, self.question(asked), find)
    }

    /// The classes that a pod can run on, as far as that was asked before.
    pub(super) fn landing(
        &self,
        asked: &impl Hash,
        deadline: &DecisionLimits<'_>,
        find: impl FnOnce() -> ClassSet,
    ) -> ClassSet {
        if !self.of_decisions {
            return once(&self.landings, self.question(asked), find);
        }
        once_charging_each_decision(&self.landings, self.question(asked), deadline, find)
    }

    /// The constraints that exclude nodes, as far as another decision asked before. Within one, no reason is asked twice.
    pub(super) fn constraints_that_exclude_nodes(
        &self,
        asked: &impl Hash,
        deadline: &DecisionLimits<'_>,
        find: impl FnOnce() -> ExcludingConstraints,
    ) -> ExcludingConstraints {
        if !self.of_decisions {
            return find();
        }
        once_charging_each_decision(&self.dropped, self.question(asked), deadline, find)
    }

    fn question(&self, what: &impl Hash) -> Question {
        (self.hashes.0.hash_one(what), self.hashes.1.hash_one(what))
    }
}

/// The answers so far; `None` where a decision is about one pod, which asks only once or twice.
#[derive(Debug, Clone, Default)]
pub(super) struct CacheOfNodeAnswers(Option<Arc<Answers>>);

impl CacheOfNodeAnswers {
    /// For a decision on several pods.
    pub(super) fn shared_within_decision() -> Self {
        Self(Some(Arc::default()))
    }

    /// For several decisions.
    pub(super) fn shared_between_decisions() -> Self {
        Self(Some(Arc::new(Answers { of_decisions: true, ..Answers::default() })))
    }

    pub(super) fn answers(&self) -> Option<&Answers> {
        self.0.as_deref()
    }
}

/// They follow from the facts.
impl PartialEq for CacheOfNodeAnswers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CacheOfNodeAnswers {}

fn get<T: Clone>(known: &AnswerCache<T>, question: Question) -> Option<(T, Looks)> {
    known.lock().unwrap_or_else(PoisonError::into_inner).get(&question).cloned()
}

fn keep<T>(known: &AnswerCache<T>, question: Question, answer: T, looks: Looks) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < KEPT {
        known.insert(question, (answer, looks));
    }
}

/// The answer to a question that may have been asked before.
fn once<T: Clone>(known: &AnswerCache<T>, question: Question, find: impl FnOnce() -> T) -> T {
    if let Some((answer, _)) = get(known, question) {
        return answer;
    }
    let answer = find();
    keep(known, question, answer.clone(), (0, 0));
    answer
}

/// The same for decisions of their own: each takes the looks of the answer, and finds its own if it has fewer.
fn once_charging_each_decision<T: Clone>(
    known: &AnswerCache<T>,
    question: Question,
    deadline: &DecisionLimits<'_>,
    find: impl FnOnce() -> T,
) -> T {
    if let Some((answer, looks)) = get(known, question)
        && deadline.take_looks_of_known_answer(looks)
    {
        return answer;
    }
    let before = deadline.looks_left();
    let answer = find();
    // An answer for which the looks did not suffice is that of its decision.
    if let Some((before, after)) = before.zip(deadline.looks_left()) {
        keep(
            known,
            question,
            answer.clone(),
            (before.0.saturating_sub(after.0), before.1.saturating_sub(after.1)),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each decision takes the looks of an answer that it shares, and finds its own once it has fewer.
    #[test]
    fn a_shared_answer_takes_the_looks_that_it_took_first() {
        let answers = Answers { of_decisions: true, ..Answers::default() };
        let ask = |deadline: &DecisionLimits<'_>, looks: usize| {
            let find = || match deadline.take_looks(looks) {
                true => ClassSet::with_capacity(1),
                false => ClassSet::with_capacity(2),
            };
            answers.landing(&"asked", deadline, find).len()
        };
        let all = DecisionLimits::without_clock().looks_left().unwrap().0;
        let short = DecisionLimits::without_clock();
        assert!(short.take_looks(all));
        assert_eq!(ask(&short, 10), 2, "not kept: the looks did not suffice");
        assert_eq!(ask(&DecisionLimits::without_clock(), 10), 1);
        let next = DecisionLimits::without_clock();
        assert_eq!(ask(&next, usize::MAX), 1, "known");
        assert_eq!(next.looks_left().unwrap().0, all - 10);
        let few = DecisionLimits::without_clock();
        assert!(few.take_looks(all - 9));
        assert_eq!(ask(&few, 10), 2, "its own");
    }
}
