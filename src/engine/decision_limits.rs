//! The time limit of one decision. The core has no clock: the caller hands in the question whether the time is over, and
//! the decision asks it between templates, objects and rules. Comparisons of names have a limit of their own, since small
//! objects, which are decided without a clock, may ask for many.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Pairs of letters that one decision compares in search of the name that somebody probably meant. They are enough for
/// 1,000 names of 20 letters. A name of 64 letters, with as many others, takes about 0.3 microseconds.
const MAX_LETTER_PAIRS: usize = 500_000;

/// What a comparison of two short names takes beside its pairs of letters, as a number of pairs.
const LETTER_PAIRS_PER_NAME: usize = 128;

/// Pairs of letters that are compared in one unit of the work of a run.
const PAIRS_OF_LETTERS_PER_WORK: usize = 1_024;

/// Pairs of letters that take as long as the question whether a profile is for a namespace.
const LETTER_PAIRS_PER_LOOKUP: usize = 32;

/// Looks at single nodes, and at values of profiles, that one decision takes for what pods ask of their nodes: the
/// templates of a workload share them. Each takes about 70 nanoseconds.
const MAX_LOOKS: usize = 1 << 18;

/// The same on a thread that other connections wait for, which takes half a millisecond. A decision that needs more is
/// made on a thread of its own.
const MAX_LOOKS_OF_BRIEF_DECISION: usize = 1 << 13;

/// Values that a profile sets in the containers of a pod, which a thread that other connections wait for plans and judges.
/// Each takes about 0.7 microseconds. Eight containers with thirty variables are 368.
const MAX_VALUES_OF_BRIEF_DECISION: usize = 2_048;

/// What such a name takes, in units of the work of a run.
const WORK_OF_UNKNOWN_VARIABLE: usize = 70;

/// What a value of a profile takes, in units of the work of a run.
pub const WORK_OF_VALUE: usize = 7;

/// The same for a device of a claim.
pub const WORK_OF_CLAIMED_DEVICE: usize = 8;

/// Unknown names of variables that one decision compares with all known ones. Each takes about seven microseconds.
const MAX_UNKNOWN_VARIABLES: usize = 256;

/// Text of known ConfigMaps that one decision reads (bytes): the templates of a workload may all name the same ones.
const MAX_CONFIG_MAP_TEXT_BYTES: usize = 1 << 20;

/// The work of all decisions in one run of a command (units of about 0.1 microseconds). Files name few objects many times
/// with YAML aliases, or compare each with each, so limits of single decisions do not bound a run. Without a clock, equal
/// inputs have equal results.
#[derive(Debug)]
pub struct RunBudget(AtomicUsize);

impl RunBudget {
    /// What every run may take: about two seconds.
    const BASE: usize = 20_000_000;
    /// What a run may take in addition for each byte of its inputs: about two microseconds.
    const PER_BYTE: usize = 20;

    /// Adds to the budget what inputs of this length may take (bytes).
    pub fn add_input(&self, length: usize) {
        let more = length.saturating_mul(Self::PER_BYTE);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            (left > 0).then(|| left.saturating_add(more))
        });
    }

    /// Whether it is used up. Then it stays so: a decision in between was cut short.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Takes work from the budget (units of about 0.1 microseconds).
    pub fn spend(&self, work: usize) {
        let spend = |left: usize| Some(left.saturating_sub(work));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
    }
}

impl Default for RunBudget {
    fn default() -> Self {
        Self(AtomicUsize::new(Self::BASE))
    }
}

/// The time limit of one decision. A decision that it cut short is incomplete and must not be used.
pub struct DecisionLimits<'a> {
    over: Option<&'a (dyn Fn() -> bool + Sync)>,
    run: Option<&'a RunBudget>,
    cut: AtomicBool,
    pairs: AtomicUsize,
    looks: AtomicUsize,
    /// The same for reasons that people read. No decision depends on these looks.
    looks_for_reasons: AtomicUsize,
    values: AtomicUsize,
    unknown_variables: AtomicUsize,
    /// Whether it has asked for more looks than it had.
    short: AtomicBool,
    /// Whether a decision that needs more looks or values is cut short.
    brief: bool,
    text: AtomicUsize,
}

/// No limit at all.
pub static NEVER: DecisionLimits<'static> = DecisionLimits {
    over: None,
    run: None,
    cut: AtomicBool::new(false),
    pairs: AtomicUsize::new(usize::MAX),
    looks: AtomicUsize::new(usize::MAX),
    looks_for_reasons: AtomicUsize::new(usize::MAX),
    values: AtomicUsize::new(usize::MAX),
    unknown_variables: AtomicUsize::new(usize::MAX),
    short: AtomicBool::new(false),
    brief: false,
    text: AtomicUsize::new(usize::MAX),
};

impl<'a> DecisionLimits<'a> {
    /// A time limit that is over when the answer is true.
    #[must_use]
    pub fn ends_when(over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { over: Some(over), ..Self::without_clock() }
    }

    /// The same for a decision that others wait for: it is cut short too where it needs more than a few looks or values.
    #[must_use]
    pub fn brief_and_ends_when(over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        let [looks, looks_for_reasons] = [(); 2].map(|()| AtomicUsize::new(MAX_LOOKS_OF_BRIEF_DECISION));
        let values = AtomicUsize::new(MAX_VALUES_OF_BRIEF_DECISION);
        Self { looks, looks_for_reasons, values, brief: true, ..Self::ends_when(over) }
    }

    /// The same time limit for another object of the same decision, which may take as many looks again.
    #[must_use]
    pub fn for_another(&self) -> DecisionLimits<'a> {
        match self.over {
            Some(over) if self.brief => Self::brief_and_ends_when(over),
            Some(over) => Self::ends_when(over),
            None => Self { run: self.run, ..Self::without_clock() },
        }
    }

    /// No time limit, but a share in the work of a run.
    #[must_use]
    pub fn within_run(run: &'a RunBudget) -> Self {
        Self { run: Some(run), ..Self::without_clock() }
    }

    /// Takes work from the budget of the run (units of about 0.1 microseconds).
    pub fn spend_work_of_run(&self, work: impl FnOnce() -> usize) {
        if let Some(run) = self.run {
            run.spend(work());
        }
    }

    /// The same where the work is done; returns whether it is.
    fn spend_work_of_run_if(&self, is_done: bool, work: usize) -> bool {
        if is_done {
            self.spend_work_of_run(|| work);
        }
        is_done
    }

    /// Ends this decision too if the other one was cut short.
    pub fn cut_short_if_over(&self, other: &DecisionLimits<'_>) {
        if other.is_over() {
            self.cut.store(true, Ordering::Relaxed);
        }
    }

    /// No time limit: for one small object, and for the command line.
    #[must_use]
    pub const fn without_clock() -> Self {
        Self {
            over: None,
            run: None,
            cut: AtomicBool::new(false),
            pairs: AtomicUsize::new(MAX_LETTER_PAIRS),
            looks: AtomicUsize::new(MAX_LOOKS),
            looks_for_reasons: AtomicUsize::new(MAX_LOOKS),
            values: AtomicUsize::new(usize::MAX),
            unknown_variables: AtomicUsize::new(MAX_UNKNOWN_VARIABLES),
            short: AtomicBool::new(false),
            brief: false,
            text: AtomicUsize::new(MAX_CONFIG_MAP_TEXT_BYTES),
        }
    }

    /// The names to compare with a wanted one, as long as this decision may compare. A hint may thus be missing; findings
    /// do not depend on it.
    pub fn take_names_within_budgets<'n>(
        &self,
        wanted: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> impl Iterator<Item = &'n str> {
        let wanted = wanted.len();
        names.take_while(move |name| {
            let cost = wanted.saturating_mul(name.len()).saturating_add(LETTER_PAIRS_PER_NAME);
            let enough = take(&self.pairs, cost);
            self.spend_work_of_run_if(enough, 1 + cost / PAIRS_OF_LETTERS_PER_WORK)
        })
    }

    /// Whether this decision may ask so many more times whether a profile is for a namespace: each time counts as
    /// 32 pairs of letters.
    pub fn take_lookups(&self, lookups: usize) -> bool {
        take(&self.pairs, lookups.saturating_mul(LETTER_PAIRS_PER_LOOKUP))
    }

    /// Whether this decision may compare one more unknown name of a variable with all known ones.
    #[must_use]
    pub fn take_unknown_variable(&self) -> bool {
        self.spend_work_of_run_if(take(&self.unknown_variables, 1), WORK_OF_UNKNOWN_VARIABLE)
    }

    /// Whether this decision may read so much text of a known ConfigMap (bytes).
    #[must_use]
    pub fn take_config_map_text(&self, length: usize) -> bool {
        self.spend_work_of_run_if(take(&self.text, length), length / 4)
    }

    /// Whether this decision may take so many more looks. If not, what would be looked at counts as fitting the pod.
    #[must_use]
    pub fn take_looks(&self, looks: usize) -> bool {
        self.take_looks_or_cut_brief_decision(&self.looks, looks)
    }

    /// Whether it may take so many more looks for a reason that people read. If not, the reason is left out.
    #[must_use]
    pub fn take_looks_for_reasons(&self, looks: usize) -> bool {
        self.take_looks_or_cut_brief_decision(&self.looks_for_reasons, looks)
    }

    fn take_looks_or_cut_brief_decision(&self, left: &AtomicUsize, looks: usize) -> bool {
        let enough = self.spend_work_of_run_if(take(left, looks), looks);
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
    pub(crate) fn take_looks_of_known_answer(&self, (looks, for_reasons): (usize, usize)) -> bool {
        let enough = self.looks_left().is_some_and(|(l, r)| looks <= l && for_reasons <= r);
        enough && take(&self.looks, looks) && take(&self.looks_for_reasons, for_reasons)
    }

    /// Whether this decision may plan and judge so many more values here. If not, it is cut short.
    #[must_use]
    pub fn take_values_or_cut_short(&self, values: usize) -> bool {
        self.spend_work_of_run(|| values.saturating_mul(WORK_OF_VALUE));
        let enough = !self.brief || take(&self.values, values);
        if !enough {
            self.cut.store(true, Ordering::Relaxed);
        }
        enough
    }

    /// Whether to stop here. Once it is over it stays over, so that an incomplete decision is known as such at the end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        if self.run.is_some_and(RunBudget::is_spent) {
            return true;
        }
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

impl fmt::Debug for DecisionLimits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecisionLimits")
            .field("limited", &self.over.is_some())
            .field("cut", &self.cut)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_decision_compares_so_many_letters() {
        let deadline = DecisionLimits::without_clock();
        let names = || std::iter::repeat_n("0123456789", 10_000);
        let each = 100 + LETTER_PAIRS_PER_NAME;
        assert_eq!(
            deadline.take_names_within_budgets("0123456789", names()).count(),
            MAX_LETTER_PAIRS / each
        );
        assert_eq!(deadline.take_names_within_budgets("0123456789", names()).count(), 0);
        assert_eq!(NEVER.take_names_within_budgets("0123456789", names()).count(), 10_000);
    }

    #[test]
    fn a_brief_decision_is_cut_short_where_it_needs_more() {
        let brief = DecisionLimits::brief_and_ends_when(&|| false);
        assert!(brief.take_looks(MAX_LOOKS_OF_BRIEF_DECISION) && !brief.is_over());
        assert!(!brief.take_looks(1) && brief.is_over());
        let long = DecisionLimits::ends_when(&|| false);
        assert!(long.take_looks(MAX_LOOKS) && !long.take_looks(1) && !long.is_over());
    }

    #[test]
    fn an_answer_that_is_known_takes_its_looks_again() {
        let deadline = DecisionLimits::without_clock();
        assert!(
            deadline.take_looks_of_known_answer((MAX_LOOKS - 1, MAX_LOOKS))
                && !deadline.take_looks_of_known_answer((2, 0))
        );
        assert!(deadline.take_looks_of_known_answer((1, 0)));
        assert_eq!(deadline.looks_left(), Some((0, 0)));
        assert!(!deadline.take_looks(1) && deadline.looks_left().is_none());
    }

    #[test]
    fn one_decision_asks_so_many_questions_and_reads_so_much() {
        let deadline = DecisionLimits::without_clock();
        let all = MAX_LETTER_PAIRS / LETTER_PAIRS_PER_LOOKUP;
        assert!(deadline.take_lookups(all - 1) && !deadline.take_lookups(2) && deadline.take_lookups(1));
        assert!(deadline.take_looks(MAX_LOOKS) && !deadline.take_looks(1) && NEVER.take_looks(MAX_LOOKS * 2));
        assert!(
            deadline.take_config_map_text(MAX_CONFIG_MAP_TEXT_BYTES)
                && !deadline.take_config_map_text(1)
                && deadline.take_config_map_text(0)
                && NEVER.take_config_map_text(MAX_CONFIG_MAP_TEXT_BYTES * 2)
        );
    }

    /// A brief decision is cut short by many values; any other one is not.
    #[test]
    fn a_brief_decision_plans_few_values() {
        let over = || false;
        let brief = DecisionLimits::brief_and_ends_when(&over);
        assert!(
            brief.take_values_or_cut_short(MAX_VALUES_OF_BRIEF_DECISION / 2)
                && brief.take_values_or_cut_short(MAX_VALUES_OF_BRIEF_DECISION / 2)
                && !brief.is_over()
        );
        assert!(!brief.take_values_or_cut_short(1) && brief.is_over());
        let other = DecisionLimits::ends_when(&over);
        assert!(
            other.take_values_or_cut_short(usize::MAX)
                && other.take_values_or_cut_short(usize::MAX)
                && !other.is_over()
        );
    }
}
