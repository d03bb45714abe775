//! The sync state of each kind: for readiness and the admin port.

use super::watched_kinds::ESSENTIAL;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// State of a kind's watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// No answer yet.
    Listing,
    /// Listed, and watched.
    Synced,
    /// The API server does not serve the kind: its CRD is not installed.
    Absent,
    /// We may not list it.
    Forbidden,
    /// Calls fail.
    Failing,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 5] = [Self::Listing, Self::Synced, Self::Absent, Self::Forbidden, Self::Failing];

    /// Name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Synced => "synced",
            Self::Absent => "absent",
            Self::Forbidden => "forbidden",
            Self::Failing => "failing",
        }
    }

    /// Whether the kind's first list is complete, or known to be impossible. Essential kinds are waited for longer: an API
    /// server that starts refuses rights that it has not read yet, and without nodes or profiles the answers would be
    /// wrong.
    fn lets_readiness_go_on(self, essential: bool, failures: u32) -> bool {
        match self {
            Self::Synced | Self::Absent => true,
            Self::Forbidden => !essential || failures >= FAILURES_BEFORE_SETTLED,
            Self::Failing => !essential && failures >= FAILURES_BEFORE_SETTLED,
            Self::Listing => false,
        }
    }
}

/// Failures in a row after which readiness does not wait for a kind: a broken conversion webhook, or a right that is
/// withheld on purpose, must not prevent serving. Essential kinds whose calls fail are always waited for.
const FAILURES_BEFORE_SETTLED: u32 = 5;

#[derive(Debug, Default)]
struct State {
    failures: BTreeMap<&'static str, u32>,
    phases: BTreeMap<&'static str, Phase>,
    heard: BTreeMap<&'static str, Instant>,
    /// Since when the calls of a kind have failed without a success in between.
    failing_since: BTreeMap<&'static str, Instant>,
    waiting: Vec<&'static str>,
    published: bool,
    /// What is missing, by kind (prerequisites).
    missing: BTreeMap<&'static str, String>,
    outdated: Option<String>,
}

/// Phases of all kinds; cheap to clone. Empty where nothing is watched.
#[derive(Debug, Clone, Default)]
pub struct SyncStateOfKinds(Arc<Mutex<State>>);

impl SyncStateOfKinds {
    /// No contact yet for any of these kinds.
    #[must_use]
    pub fn of(kinds: impl Iterator<Item = &'static str>) -> Self {
        let waiting: Vec<&'static str> = kinds.collect();
        let phases = waiting.iter().map(|kind| (*kind, Phase::Listing)).collect();
        Self(Arc::new(Mutex::new(State { phases, waiting, ..State::default() })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a phase. Returns whether it has changed.
    pub(super) fn record_phase_and_settle_kind(&self, kind: &'static str, phase: Phase) -> bool {
        self.with(|state| {
            let failures = state.failures.entry(kind).or_default();
            *failures = if matches!(phase, Phase::Failing | Phase::Forbidden) { *failures + 1 } else { 0 };
            match phase {
                Phase::Failing => drop(state.failing_since.entry(kind).or_insert_with(Instant::now)),
                Phase::Listing => {}
                Phase::Synced | Phase::Absent | Phase::Forbidden => drop(state.failing_since.remove(kind)),
            }
            if phase.lets_readiness_go_on(ESSENTIAL.contains(&kind), *failures) {
                state.waiting.retain(|k| *k != kind);
            }
            state.phases.insert(kind, phase) != Some(phase)
        })
    }

    /// Notes what is missing for a kind.
    pub(super) fn set_missing(&self, kind: &'static str, sentence: Option<String>) {
        self.with(|state| match sentence {
            Some(sentence) => state.missing.insert(kind, sentence),
            None => state.missing.remove(kind),
        });
    }

    /// Notes that the API server is too old, or is not. Returns whether that has changed.
    pub(super) fn set_unsupported_version_message(&self, sentence: Option<String>) -> bool {
        self.with(|state| std::mem::replace(&mut state.outdated, sentence.clone()) != sentence)
    }

    /// What the server needs and does not have, for `/readyz`.
    #[must_use]
    pub fn missing_prerequisites(&self) -> Vec<String> {
        self.with(|state| state.outdated.iter().chain(state.missing.values()).cloned().collect())
    }

    /// Notes a contact with the API server.
    pub(super) fn record_contact(&self, kind: &'static str) {
        self.with(|state| state.heard.insert(kind, Instant::now()));
    }

    /// Time since the last contact, by kind; of a kind that was never listed, since its first list failed.
    #[must_use]
    pub fn times_since_last_contact(&self) -> Vec<(&'static str, Duration)> {
        self.with(|state| {
            let never = state.failing_since.iter().filter(|(kind, _)| !state.heard.contains_key(*kind));
            state.heard.iter().chain(never).map(|(kind, at)| (*kind, at.elapsed())).collect()
        })
    }

    /// Kinds whose last contact is longer ago than this.
    pub(super) fn kinds_without_contact_for(&self, since: Duration) -> Vec<&'static str> {
        self.times_since_last_contact()
            .into_iter()
            .filter(|(_, age)| *age > since)
            .map(|(kind, _)| kind)
            .collect()
    }

    /// Whether every kind has settled once. What settled stays settled.
    pub(super) fn has_every_kind_settled(&self) -> bool {
        self.with(|state| state.waiting.is_empty())
    }

    /// Notes that a Snapshot of everything is in use.
    pub(super) fn mark_published(&self) {
        self.with(|state| state.published = true);
    }

    /// The kinds that readiness waits for; `None` permanently, once a first complete Snapshot is in use.
    #[must_use]
    pub fn kinds_that_readiness_waits_for(&self) -> Option<Vec<&'static str>> {
        self.with(|state| {
            let watched = !state.phases.is_empty();
            (watched && !state.published).then(|| state.waiting.clone())
        })
    }
}
