//! How long to wait between two rounds: after a write conflict, and after rounds that do not converge. The usual time is
//! `Lifetimes::tick`.

use std::time::Duration;

/// Maximum of rounds in a row that request another at once. More do not converge.
pub(super) const MAX_IMMEDIATE_ROUNDS: u32 = 12;
/// Minimum time between two checks, whatever the number of reported changes.
pub(super) const MIN_TIME_BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// Longest pause after a write conflict (milliseconds).
pub(super) const MAX_PAUSE_AFTER_CONFLICT_MS: u64 = 300;
/// Write conflicts of one object in a row that are more than a race.
pub(super) const CONFLICTS_BEFORE_FAULT: u32 = 5;

/// The pause after a round.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) length: Duration,
    /// Whether a change of the objects ends it.
    pub(super) listens: bool,
    /// Whether it is a back-off.
    pub(super) is_back_off: bool,
}

/// Counts rounds that do not converge.
#[derive(Debug, Default)]
pub(super) struct RoundsWithoutConvergence {
    row: u32,
}

impl RoundsWithoutConvergence {
    /// The pause after a round that wants the next after `again`, or at the usual `tick`.
    pub(super) fn pause_after_round(&mut self, again: Option<Duration>, tick: Duration) -> Pause {
        let Some(length) = again.filter(|pause| *pause < tick) else {
            self.row = 0;
            return Pause { length: tick, listens: true, is_back_off: false };
        };
        self.row += 1;
        if self.row < MAX_IMMEDIATE_ROUNDS {
            return Pause { length, listens: length >= MIN_TIME_BETWEEN_CHECKS, is_back_off: false };
        }
        self.row = 0;
        // Our own writes are changes as well, and would end the pause at once.
        Pause { length: tick, listens: false, is_back_off: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_do_not_converge_back_off() {
        let (tick, mut back_off) = (Duration::from_secs(10), RoundsWithoutConvergence::default());
        let usual = Pause { length: tick, listens: true, is_back_off: false };
        assert_eq!(back_off.pause_after_round(None, tick), usual);
        for _ in 0..3 {
            for _ in 1..MAX_IMMEDIATE_ROUNDS {
                let at_once = Pause { length: Duration::ZERO, listens: false, is_back_off: false };
                assert_eq!(back_off.pause_after_round(Some(Duration::ZERO), tick), at_once);
            }
            let backing_off = Pause { length: tick, listens: false, is_back_off: true };
            assert_eq!(back_off.pause_after_round(Some(Duration::ZERO), tick), backing_off);
        }
        back_off.pause_after_round(Some(MIN_TIME_BETWEEN_CHECKS), tick);
        assert_eq!(back_off.pause_after_round(None, tick), usual);
        assert!(back_off.pause_after_round(Some(MIN_TIME_BETWEEN_CHECKS), tick).listens);
    }
}
