//! The time limit of one decision. The core has no clock: the caller hands in the question whether the time is over, and
//! the decision asks it between templates, objects and rules. Comparisons of names have a limit of their own, since small
//! objects, which are decided without a clock, may ask for many.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pairs of letters that one decision compares in search of the name that somebody probably meant. They are enough for
/// 1,000 names of 20 letters; each takes about two nanoseconds.
const PAIRS: usize = 500_000;

/// Pairs of letters that take as long as the question whether a profile is for a namespace.
const LOOKUP: usize = 32;

/// Looks at single nodes, and at values of profiles, that one decision takes for what pods ask of their nodes: the
/// templates of a workload share them. Each takes about 70 nanoseconds.
const LOOKS: usize = 1 << 18;

/// The same on a thread that other connections wait for, which takes half a millisecond. A decision that needs more is
/// made on a thread of its own.
const FEW_LOOKS: usize = 1 << 13;

/// Values that a profile sets in the containers of a pod, which a thread that other connections wait for plans and judges.
/// Each takes about 0.7 microseconds. Eight containers with thirty variables are 368.
const FEW_VALUES: usize = 2_048;

/// Text of known ConfigMaps that one decision reads (bytes): the templates of a workload may all name the same ones.
const TEXT: usize = 1 << 20;

/// The time limit of one decision. A decision that it cut short is incomplete and must not be used.
pub struct Deadline<'a> {
    over: Option<&'a (dyn Fn() -> bool + Sync)>,
    cut: AtomicBool,
    pairs: AtomicUsize,
    looks: AtomicUsize,
    /// The same for reasons that people read. No decision depends on these looks.
    looks_for_reasons: AtomicUsize,
    values: AtomicUsize,
    /// Whether it has asked for more looks than it had.
    short: AtomicBool,
    /// Whether a decision that needs more looks or values is cut short.
    brief: bool,
    text: AtomicUsize,
}

/// No limit at all.
pub static NEVER: Deadline<'static> = Deadline {
    over: None,
    cut: AtomicBool::new(false),
    pairs: AtomicUsize::new(usize::MAX),
    looks: AtomicUsize::new(usize::MAX),
    looks_for_reasons: AtomicUsize::new(usize::MAX),
    values: AtomicUsize::new(usize::MAX),
    short: AtomicBool::new(false),
    brief: false,
    text: AtomicUsize::new(usize::MAX),
};

impl<'a> Deadline<'a> {
    /// A time limit that is over when the answer is true.
    #[must_use]
    pub fn when(over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { over: Some(over), ..Self::without_clock() }
    }

    /// The same for a decision that others wait for: it is cut short too where it needs more than a few looks or values.
    #[must_use]
    pub fn brief(over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        let [looks, looks_for_reasons] = [(); 2].map(|()| AtomicUsize::new(FEW_LOOKS));
        let values = AtomicUsize::new(FEW_VALUES);
        Self { looks, looks_for_reasons, values, brief: true, ..Self::when(over) }
    }

    /// The same time limit for another object of the same decision, which may take as many looks again.
    #[must_use]
    pub fn for_another(&self) -> Deadline<'a> {
        match self.over {
            Some(over) if self.brief => Self::brief(over),
            Some(over) => Self::when(over),
            None => Self::without_clock(),
        }
    }

    /// Ends this decision too if the other one was cut short.
    pub fn join(&self, other: &Deadline<'_>) {
        if other.is_over() {
            self.cut.store(true, Ordering::Relaxed);
        }
    }

    /// No time limit: for one small object, and for the command line.
    #[must_use]
    pub const fn without_clock() -> Self {
        Self {
            over: None,
            cut: AtomicBool::new(false),
            pairs: AtomicUsize::new(PAIRS),
            looks: AtomicUsize::new(LOOKS),
            looks_for_reasons: AtomicUsize::new(LOOKS),
            values: AtomicUsize::new(usize::MAX),
            short: AtomicBool::new(false),
            brief: false,
            text: AtomicUsize::new(TEXT),
        }
    }

    /// The names to compare with a wanted one, as long as this decision may compare. A hint may thus be missing; findings
    /// do not depend on it.
    pub fn compared<'n>(
        &self,
        wanted: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> impl Iterator<Item = &'n str> {
        let wanted = wanted.len();
        names.take_while(move |name| {
            let cost = wanted.saturating_mul(name.len()).max(1);
            take(&self.pairs, cost)
        })
    }

    /// Whether one of these fits. Each question counts as `LOOKUP` pairs of letters; `None` where this decision may
    /// compare no more.
    pub fn any<T>(&self, all: &[T], fits: impl Fn(&T) -> bool) -> Option<bool> {
        for one in all {
            if !take(&self.pairs, LOOKUP) {
                return None;
            }
            if fits(one) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether this decision may read so much text of a known ConfigMap (bytes).
    #[must_use]
    pub fn reads(&self, length: usize) -> bool {
        take(&self.text, length)
    }

    /// Whether this decision may take so many more looks. If not, what would be looked at counts as fitting the pod.
    #[must_use]
    pub fn looks(&self, looks: usize) -> bool {
        self.takes(&self.looks, looks)
    }

    /// Whether it may take so many more looks for a reason that people read. If not, the reason is left out.
    #[must_use]
    pub fn looks_for_reasons(&self, looks: usize) -> bool {
        self.takes(&self.looks_for_reasons, looks)
    }

    fn takes(&self, left: &AtomicUsize, looks: usize) -> bool {
        let enough = take(left, looks);
        if !enough {
            self.short.store(true, Ordering::Relaxed);
        }
        if self.brief && !enough {
            self.cut.store(true, Ordering::Relaxed);
        }
        enough
    }

    /// The looks that are left, and those for reasons; `None` once it was short of looks, or has to stop.
    pub(crate) fn looks_left(&self) -> Option<(usize, usize)> {
        let left = |of: &AtomicUsize| of.load(Ordering::Relaxed);
        let enough = !self.short.load(Ordering::Relaxed) && !self.is_over();
        enough.then(|| (left(&self.looks), left(&self.looks_for_reasons)))
    }

    /// Takes the looks of an answer that is known already, so that a decision depends on no other; not if fewer are left.
    pub(crate) fn takes_again(&self, (looks, for_reasons): (usize, usize)) -> bool {
        let enough = self.looks_left().is_some_and(|(l, r)| looks <= l && for_reasons <= r);
        enough && take(&self.looks, looks) && take(&self.looks_for_reasons, for_reasons)
    }

    /// Whether this decision may plan and judge so many more values here. If not, it is cut short.
    #[must_use]
    pub fn plans(&self, values: usize) -> bool {
        let enough = !self.brief || take(&self.values, values);
        if !enough {
            self.cut.store(true, Ordering::Relaxed);
        }
        enough
    }

    /// Whether to stop here. Once it is over it stays over, so that an incomplete decision is known as such at the end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let Some(over) = self.over else { return false };
        if !self.cut.load(Ordering::Relaxed) && over() {
            self.cut.store(true, Ordering::Relaxed);
        }
        self.cut.load(Ordering::Relaxed)
    }
}

/// Takes an amount from what is left; not if less is left.
fn take(left: &AtomicUsize, amount: usize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount)).is_ok()
}

impl fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("limited", &self.over.is_some()).field("cut", &self.cut).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_decision_compares_so_many_letters() {
        let deadline = Deadline::without_clock();
        let names = || std::iter::repeat_n("0123456789", 10_000);
        assert_eq!(deadline.compared("0123456789", names()).count(), PAIRS / 100);
        assert_eq!(deadline.compared("0123456789", names()).count(), 0);
        assert_eq!(NEVER.compared("0123456789", names()).count(), 10_000);
    }

    #[test]
    fn a_brief_decision_is_cut_short_where_it_needs_more() {
        let brief = Deadline::brief(&|| false);
        assert!(brief.looks(FEW_LOOKS) && !brief.is_over());
        assert!(!brief.looks(1) && brief.is_over());
        let long = Deadline::when(&|| false);
        assert!(long.looks(LOOKS) && !long.looks(1) && !long.is_over());
    }

    #[test]
    fn an_answer_that_is_known_takes_its_looks_again() {
        let deadline = Deadline::without_clock();
        assert!(deadline.takes_again((LOOKS - 1, LOOKS)) && !deadline.takes_again((2, 0)));
        assert!(deadline.takes_again((1, 0)));
        assert_eq!(deadline.looks_left(), Some((0, 0)));
        assert!(!deadline.looks(1) && deadline.looks_left().is_none());
    }

    #[test]
    fn one_decision_asks_so_many_questions_and_reads_so_much() {
        let deadline = Deadline::without_clock();
        assert_eq!(deadline.any(&[1, 2, 3], |n| *n == 2), Some(true));
        assert_eq!(deadline.any(&[1; 1000], |n| *n == 2), Some(false));
        assert_eq!(deadline.any(&[1; PAIRS / LOOKUP], |n| *n == 2), None);
        assert!(deadline.looks(LOOKS) && !deadline.looks(1) && NEVER.looks(LOOKS * 2));
        assert!(deadline.reads(TEXT) && !deadline.reads(1) && deadline.reads(0) && NEVER.reads(TEXT * 2));
    }

    /// A brief decision is cut short by many values; any other one is not.
    #[test]
    fn a_brief_decision_plans_few_values() {
        let over = || false;
        let brief = Deadline::brief(&over);
        assert!(brief.plans(FEW_VALUES / 2) && brief.plans(FEW_VALUES / 2) && !brief.is_over());
        assert!(!brief.plans(1) && brief.is_over());
        let other = Deadline::when(&over);
        assert!(other.plans(usize::MAX) && other.plans(usize::MAX) && !other.is_over());
    }
}
