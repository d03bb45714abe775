//! A limit for log lines: a client that sends one bad request after another must not fill the log, nor hide in it what
//! else happens. Each kind of line has a limit of its own; `debug` and `trace` have none, since they are asked for.

use prometheus_client::metrics::counter::Counter;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Lines of one kind at once.
pub(super) const BURST: u32 = 200;
/// Time after which one more is written (20 a second).
pub(super) const TIME_PER_LINE: Duration = Duration::from_millis(50);

/// The target of decision lines, which have their own limit.
pub(super) const DECISIONS: &str = "fabric_admission::decisions";

/// Lines that were left out (count).
pub(super) static LEFT_OUT: LazyLock<Counter> = LazyLock::new(Counter::default);
/// Lines that were left out and not reported yet.
pub(super) static UNREPORTED: LazyLock<LeftOut> = LazyLock::new(LeftOut::default);

/// Lines that were left out and not reported yet.
#[derive(Debug, Clone, Default)]
pub(super) struct LeftOut(Arc<AtomicU64>);

impl LeftOut {
    /// Notes one more.
    pub(super) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports them in one line.
    pub(super) fn log_count_and_reset(&self) {
        let lines = self.0.swap(0, Ordering::Relaxed);
        if lines > 0 {
            tracing::warn!(
                lines,
                "log lines left out, because the same message was logged more than 20 times per second"
            );
        }
    }
}

/// The filter.
pub(super) struct Rate {
    buckets: Mutex<HashMap<Identifier, Bucket>>,
    left_out: LeftOut,
    counted: Counter,
}

/// When all lines that were written are forgotten: each moves it on.
struct Bucket(Instant);

impl Bucket {
    /// Whether one more line may be written.
    fn take_token_if_left(&mut self, now: Instant) -> bool {
        let after = self.0.max(now) + TIME_PER_LINE;
        let fits = after <= now + TIME_PER_LINE * BURST;
        if fits {
            self.0 = after;
        }
        fits
    }
}

impl Rate {
    pub(super) fn new(left_out: LeftOut, counted: Counter) -> Self {
        Self { buckets: Mutex::default(), left_out, counted }
    }

    fn admit_or_count_left_out(&self, kind: Identifier, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        // As many as there are log statements in the program.
        let takes = buckets.entry(kind).or_insert(Bucket(now)).take_token_if_left(now);
        if !takes {
            self.counted.inc();
            self.left_out.add_one();
        }
        takes
    }
}

impl<S: Subscriber> Layer<S> for Rate {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // A decision line has passed its own limit.
        let passed = *metadata.level() > Level::INFO || metadata.target() == DECISIONS;
        passed || self.admit_or_count_left_out(metadata.callsite(), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_so_many_a_second() {
        let start = Instant::now();
        let mut bucket = Bucket(start);
        let mut taken = |after: u64, tries: usize| {
            let now = start + Duration::from_millis(after);
            (0..tries).filter(|_| bucket.take_token_if_left(now)).count()
        };
        assert_eq!([taken(0, 1_000), taken(1_000, 1_000), taken(1_001, 1_000)], [200, 20, 0]);
        assert_eq!(taken(3_600_000, 1_000), 200, "after a pause");
    }

    #[test]
    fn what_is_left_out_is_counted_and_other_kinds_are_written() {
        use tracing_subscriber::layer::SubscriberExt;
        let (left_out, counted) = (LeftOut::default(), Counter::default());
        let lines = Arc::new(AtomicU64::new(0));
        struct Count(Arc<AtomicU64>);
        impl<S: Subscriber> Layer<S> for Count {
            fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let rate = Rate::new(left_out.clone(), counted.clone());
        let subscriber = tracing_subscriber::registry().with(Count(Arc::clone(&lines))).with(rate);
        tracing::subscriber::with_default(subscriber, || {
            for _ in 0..500 {
                tracing::warn!("again");
                tracing::debug!("asked for");
            }
            let written = lines.load(Ordering::Relaxed);
            assert!((700..750).contains(&written), "{written}");
            assert_eq!((counted.get() + written, left_out.0.load(Ordering::Relaxed)), (1000, counted.get()));
            tracing::warn!("another");
            left_out.log_count_and_reset();
            left_out.log_count_and_reset();
            assert_eq!(lines.load(Ordering::Relaxed), written + 2, "another line, and one of those left out");
        });
    }
}
