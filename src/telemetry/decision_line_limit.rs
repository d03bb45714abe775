//! The limit of one kind of decision line. It is asked before the values of a line are gathered, so that a line beyond the
//! limit costs a request next to nothing. It takes no lock.

use super::log_rate_limit::{BURST, DECISIONS, LEFT_OUT, TIME_PER_LINE, UNREPORTED};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The limit of one kind of line.
#[derive(Debug)]
pub struct DecisionLineLimit {
    /// When all lines that were written are forgotten, in nanoseconds since [`START`]: each moves it on.
    forgotten: AtomicU64,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl DecisionLineLimit {
    /// The target of these lines.
    pub const TARGET: &'static str = DECISIONS;

    /// No line yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { forgotten: AtomicU64::new(0) }
    }

    /// Whether a line is to be written now; if the log takes it but the limit does not, it is counted as left out.
    #[must_use]
    pub fn admit_or_count_left_out(&self) -> bool {
        if !tracing::enabled!(target: DECISIONS, tracing::Level::INFO) {
            return false;
        }
        let takes = self.takes_at(u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX));
        if !takes {
            LEFT_OUT.inc();
            UNREPORTED.add_one();
        }
        takes
    }

    fn takes_at(&self, now: u64) -> bool {
        let each = u64::try_from(TIME_PER_LINE.as_nanos()).unwrap_or(u64::MAX);
        let most = now.saturating_add(each.saturating_mul(u64::from(BURST)));
        let next = |forgotten: u64| {
            let after = forgotten.max(now).saturating_add(each);
            (after <= most).then_some(after)
        };
        self.forgotten.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }
}

impl Default for DecisionLineLimit {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_so_many_a_second() {
        let lines = DecisionLineLimit::new();
        let taken = |milliseconds: u64, tries: usize| {
            (0..tries).filter(|_| lines.takes_at(milliseconds * 1_000_000)).count()
        };
        assert_eq!([taken(5, 1_000), taken(1_005, 1_000), taken(1_006, 1_000)], [200, 20, 0]);
        assert_eq!(taken(3_600_000, 1_000), 200, "after a pause");
    }
}
