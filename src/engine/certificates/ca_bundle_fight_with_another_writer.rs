//! CaBundles that others change: counted, and restored more slowly if another writer changes them repeatedly.

use std::collections::VecDeque;

/// Reverts within `WINDOW` seconds that show another active writer.
pub(super) const MAX_REVERTS_WITHOUT_FIGHT: usize = 5;
/// Seconds over which reverts count.
pub(super) const WINDOW: i64 = 600;
/// Seconds between two writes in a fight.
pub(super) const MIN_SECONDS_BETWEEN_WRITES_IN_FIGHT: i64 = 30;

/// The history of one field that the server writes and others may change.
#[derive(Debug, Clone, Default)]
pub struct RepeatedChanges {
    wanted: String,
    right: bool,
    /// Written since the last read.
    stored: bool,
    reverts: VecDeque<i64>,
    written: Option<i64>,
}

impl RepeatedChanges {
    /// Records the result of a check. Returns whether another writer has changed a correct caBundle.
    pub fn record_check(&mut self, wanted: &str, right: bool, now: i64) -> bool {
        let reverted = (self.right || self.stored) && !right && self.wanted == wanted;
        self.stored = false;
        if reverted {
            self.count_event(now);
        }
        self.right = right;
        if self.wanted != wanted {
            wanted.clone_into(&mut self.wanted);
        }
        reverted
    }

    /// Counts an event: an external change, or an emergency where those are counted.
    pub fn count_event(&mut self, now: i64) {
        self.reverts.push_back(now);
        if self.reverts.len() > MAX_REVERTS_WITHOUT_FIGHT + 1 {
            self.reverts.pop_front();
        }
    }

    /// Whether another writer changes it repeatedly.
    #[must_use]
    pub fn is_fight(&self, now: i64) -> bool {
        self.reverts.len() > MAX_REVERTS_WITHOUT_FIGHT
            && self.reverts.front().is_some_and(|first| (now - first).abs() <= WINDOW)
    }

    /// Whether a write must wait.
    #[must_use]
    pub fn are_writes_held_back(&self, now: i64) -> bool {
        self.is_fight(now)
            && self
                .written
                .is_some_and(|written| (0..MIN_SECONDS_BETWEEN_WRITES_IN_FIGHT).contains(&(now - written)))
    }

    /// Records that this server wrote the bundle.
    pub fn record_write_attempt(&mut self, now: i64) {
        self.written = Some(now);
    }

    /// Records that the API server accepted the write: a difference at the next read is a later change.
    pub fn record_accepted_write(&mut self) {
        self.stored = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sixth_revert_in_ten_minutes_is_a_fight_and_writes_slow_down() {
        let mut drift = RepeatedChanges::default();
        let mut now = 1000;
        assert!(!drift.record_check("a", false, now), "never right");
        for nth in 1..=6 {
            drift.record_write_attempt(now);
            assert!(!drift.record_check("a", true, now));
            now += 100;
            assert!(drift.record_check("a", false, now), "{nth}");
            assert!(!drift.record_check("a", false, now), "reported once");
            assert_eq!(drift.is_fight(now), nth == 6, "{nth}");
        }
        assert!(!drift.are_writes_held_back(now), "the last write was long ago");
        drift.record_write_attempt(now);
        assert!(
            drift.are_writes_held_back(now)
                && drift.are_writes_held_back(now + MIN_SECONDS_BETWEEN_WRITES_IN_FIGHT - 1)
                && !drift.are_writes_held_back(now + MIN_SECONDS_BETWEEN_WRITES_IN_FIGHT)
        );
        // A clock that is set back must not hold it permanently.
        assert!(!drift.are_writes_held_back(now - 1));
        assert!(drift.is_fight(now + 100) && !drift.is_fight(now + 101 + WINDOW - 500));
    }

    #[test]
    fn a_revert_before_the_next_look_counts() {
        let mut drift = RepeatedChanges::default();
        drift.record_check("a", false, 0);
        drift.record_write_attempt(0);
        assert!(!drift.record_check("a", false, 1), "nothing was taken");
        for now in 2..8 {
            drift.record_write_attempt(now);
            drift.record_accepted_write();
            assert!(drift.record_check("a", false, now));
            assert!(!drift.record_check("a", false, now), "counted once");
        }
        assert!(drift.is_fight(8) && drift.are_writes_held_back(8));
        drift.record_accepted_write();
        assert!(!drift.record_check("b", false, 9), "another is wanted by now");
    }

    #[test]
    fn another_bundle_of_our_own_is_no_revert() {
        let mut drift = RepeatedChanges::default();
        drift.record_check("a", true, 0);
        assert!(!drift.record_check("b", false, 1));
        drift.record_check("b", true, 2);
        assert!(drift.record_check("b", false, 3));
    }
}
