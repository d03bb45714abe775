//! Decisions that may take longer than a millisecond. They run on threads of their own, a few at a time, and no other
//! request or probe waits for them. Each has to be ready before the API server gives up: an answer that comes later is
//! wasted, and so is the work for it.
//!
//! The length of a body says little about its decision. So a decision begins where short ones are made. If it is not ready
//! after a short time, it begins again behind longer ones: on the thread that read the body, then on a thread for small
//! bodies, then on one for large bodies.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::decide_and_catch_panic::{Decide, decide_log_count_and_answer};
use super::estimate_memory_of_decision::DecisionMemoryEstimate;
use super::fair_share_per_client_address::MAX_SMALL_BODY_BYTES;
use super::http_answers::{
    BUSY_BECAUSE_OF_NAMESPACE, count_and_answer_busy, count_and_answer_late, internal_error_answer,
};
use super::metrics::Shed;
use super::namespace_of_body::hash_of_first_namespace;
use super::request_body;
use super::shared_state::State;
use super::turns_of_decisions_and_handshakes::{MAX_MEMORY_OF_ALL_DECISIONS, Turn};
use super::which_thread::{MAX_CPU_TIME_ON_READING_THREAD, MAX_CPU_TIME_ON_SMALL_THREAD};
use crate::decision_limits::DecisionLimits;
use crate::review::decide_webhook_request::WebhookEntry;
use axum::response::Response;
use rustix::time::{ClockId, clock_gettime};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Of so many questions whether the time is over, one is answered by the clock (count): the rules ask some 200 times.
const QUESTIONS_PER_CLOCK_READING: usize = 8;

/// Tells the thread that decides when nobody waits for its answer any more.
struct Abandons(Arc<AtomicBool>);

impl Drop for Abandons {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Decides on a body over [`super::which_thread::MAX_BYTES_ON_READING_THREAD`] by a point in time, together with the stored objects that the
/// decision reads.
pub(super) async fn decide_behind_reading_thread(
    state: &Arc<State>,
    entry: WebhookEntry,
    (mut held, beside): (BytesWithinBudget, DecisionMemoryEstimate),
    decide: Decide,
    until: Instant,
) -> Response {
    let namespace = hash_of_first_namespace(held.bytes());
    let Some(_share) = state.budgets.take_share_of_namespace_or_refuse(&mut held, namespace) else {
        return count_and_answer_busy(state, Shed::Requests, BUSY_BECAUSE_OF_NAMESPACE);
    };
    let read = (held, beside, namespace);
    decide_on_small_then_large_thread(state, entry, read, decide, Instant::now()..until).await
}

/// The same from a point in time on, for a request that has the share of its namespace.
async fn decide_on_small_then_large_thread(
    state: &Arc<State>,
    entry: WebhookEntry,
    (held, beside, namespace): (BytesWithinBudget, DecisionMemoryEstimate, u64),
    decide: Decide,
    time: Range<Instant>,
) -> Response {
    let until = time.end;
    let work = async {
        if let Some(exceeded) = held.exceeded_limit() {
            return Some(request_body::count_and_answer_too_large(state, &exceeded));
        }
        let decoded = held.estimated_memory_of_decision();
        let mut held = held;
        if held.bytes().len() + beside.weighed_bytes() <= MAX_SMALL_BODY_BYTES {
            let turn = state.budgets.turns.wait_for_turn_of_small_body(held.peer(), namespace).await?;
            let limit = DecisionTimeLimit { until, longest: MAX_CPU_TIME_ON_SMALL_THREAD };
            held = match decide_on_blocking_thread_within_limit(state, entry, held, decide, limit, turn).await
            {
                Ok(response) => return Some(response),
                Err(held) => held,
            };
        }
        // Only the body may be too much.
        let decoded_together =
            decoded.max((decoded + beside.memory_of_decision()).min(MAX_MEMORY_OF_ALL_DECISIONS));
        let turn =
            state.budgets.turns.wait_for_turn_of_large_body(held.peer(), namespace, decoded_together).await;
        let Some(turn) = turn else {
            return Some(request_body::refuse_too_much_memory(state, decoded));
        };
        let limit = DecisionTimeLimit { until, longest: Duration::MAX };
        decide_on_blocking_thread_within_limit(state, entry, held, decide, limit, turn).await.ok()
    };
    let decided = tokio::time::timeout_at(until.into(), work).await;
    decided.ok().flatten().unwrap_or_else(|| count_and_answer_late(state, entry, time.start))
}

/// Decides on a body of at most [`super::which_thread::MAX_BYTES_ON_READING_THREAD`] on the thread that read it, by a point in time. A decision
/// that takes longer than a millisecond, or needs many looks at nodes, begins again on a thread of its own.
pub(super) async fn decide_on_reading_thread_first(
    state: &Arc<State>,
    entry: WebhookEntry,
    mut held: BytesWithinBudget,
    how: Decide,
    until: Instant,
) -> Response {
    let started = Instant::now();
    let namespace = hash_of_first_namespace(held.bytes());
    let Some(_share) = state.budgets.take_share_of_namespace_or_refuse(&mut held, namespace) else {
        return count_and_answer_busy(state, Shed::Requests, BUSY_BECAUSE_OF_NAMESPACE);
    };
    let turn = state.budgets.turns.wait_for_turn_on_reading_thread(held.peer(), namespace);
    let tried = match tokio::time::timeout_at(until.into(), turn).await {
        Ok(_turn) => decide_on_this_thread_briefly(state, entry, held, how, until),
        Err(_) => Err(held),
    };
    match tried {
        Ok(response) => response,
        Err(_) if Instant::now() >= until => count_and_answer_late(state, entry, started),
        Err(held) => {
            decide_on_small_then_large_thread(
                state,
                entry,
                (held, DecisionMemoryEstimate::default(), namespace),
                how,
                started..until,
            )
            .await
        }
    }
}

/// The body again, where it is not decided.
fn decide_on_this_thread_briefly(
    state: &State,
    entry: WebhookEntry,
    held: BytesWithinBudget,
    decide: Decide,
    until: Instant,
) -> Result<Response, BytesWithinBudget> {
    let asked = AtomicUsize::new(1);
    let own = CpuTimeOfDecision::of_this_thread(MAX_CPU_TIME_ON_READING_THREAD);
    // Only this thread asks. To look at the clock each time would be a noticeable part of such a decision.
    let over = || {
        let times = asked.load(Ordering::Relaxed);
        asked.store(times.wrapping_add(1), Ordering::Relaxed);
        times.is_multiple_of(QUESTIONS_PER_CLOCK_READING) && own.is_over(until)
    };
    decide_log_count_and_answer(state, entry, held, decide, &DecisionLimits::brief_and_ends_when(&over))
}

/// CPU time of one decision. The other threads of the server, and the machine, may stop its thread at any time for longer
/// than it may take.
struct CpuTimeOfDecision {
    started: (Instant, Duration),
    longest: Duration,
}

impl CpuTimeOfDecision {
    fn of_this_thread(longest: Duration) -> Self {
        Self { started: (Instant::now(), cpu_time()), longest }
    }

    /// CPU time so far.
    fn used(&self) -> Duration {
        cpu_time().saturating_sub(self.started.1)
    }

    /// Whether the decision has taken its CPU time, or a point in time has come.
    fn is_over(&self, until: Instant) -> bool {
        let now = Instant::now();
        // The clock of a thread is a system call, and CPU time is never longer than time.
        let long = now.saturating_duration_since(self.started.0) >= self.longest;
        now >= until || long && self.used() >= self.longest
    }
}

/// CPU time that this thread has taken.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The time limit of a decision on a thread of its own.
#[derive(Clone, Copy)]
struct DecisionTimeLimit {
    until: Instant,
    /// CPU time that it may take.
    longest: Duration,
}

/// Decides on a thread of its own. The body again where the decision stops because of the time limit.
async fn decide_on_blocking_thread_within_limit(
    state: &Arc<State>,
    entry: WebhookEntry,
    held: BytesWithinBudget,
    decide: Decide,
    DecisionTimeLimit { until, longest }: DecisionTimeLimit,
    turn: Turn,
) -> Result<Response, BytesWithinBudget> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let _abandons = Abandons(Arc::clone(&abandoned));
    let state = Arc::clone(state);
    let work = tokio::task::spawn_blocking(move || {
        // Held until the thread is done, even if nobody waits for it.
        let mut turn = turn;
        let own = CpuTimeOfDecision::of_this_thread(longest);
        let over = || abandoned.load(Ordering::Relaxed) || own.is_over(until);
        let decided =
            decide_log_count_and_answer(&state, entry, held, decide, &DecisionLimits::ends_when(&over));
        turn.count_cpu_time(own.used());
        decided
    });
    // It fails only where the runtime ends; panics are caught inside.
    work.await.unwrap_or_else(|_| Ok(internal_error_answer()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::admission_review::RequestError;
    use crate::review::decide_webhook_request::Answer;
    use crate::review::decide_webhook_request::SnapshotForAudience;
    use axum::http::StatusCode;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};
    use std::time::Duration;

    type Decided = Result<Answer, RequestError>;

    /// Stops when it is asked to.
    fn yielding(
        _: &[u8],
        _: WebhookEntry,
        _: SnapshotForAudience<'_>,
        deadline: &DecisionLimits<'_>,
    ) -> Decided {
        while !deadline.is_over() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(RequestError::Late)
    }

    /// Does not ask for a second.
    fn stubborn(_: &[u8], _: WebhookEntry, _: SnapshotForAudience<'_>, _: &DecisionLimits<'_>) -> Decided {
        std::thread::sleep(Duration::from_secs(1));
        Err(RequestError::NoUid)
    }

    #[test]
    fn late_work_is_given_up_and_counted() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.unwrap();
        for (how, within) in [(yielding as Decide, 500), (stubborn, 500)] {
            let state = Arc::new(State::bare());
            let held = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
            let held = (held, DecisionMemoryEstimate::default());
            let started = Instant::now();
            let until = started + Duration::from_millis(50);
            let response = runtime.block_on(decide_behind_reading_thread(
                &state,
                WebhookEntry::Mutate,
                held,
                how,
                until,
            ));
            assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
            assert!(response.headers().get("retry-after").is_none());
            assert!(started.elapsed() < Duration::from_millis(within), "{:?}", started.elapsed());
            let text = state.metrics.text_for_scrape();
            assert!(
                text.contains("requests_total{entry=\"mutate\",mode=\"enforce\",result=\"late\"} 1"),
                "{text}"
            );
        }
    }

    /// A decision on the thread that read the body stops as well.
    #[test]
    fn a_small_body_is_late_too() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = Arc::new(State::bare());
        let held = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let started = Instant::now();
        let until = started + Duration::from_millis(50);
        let response = runtime.block_on(decide_on_reading_thread_first(
            &state,
            WebhookEntry::Mutate,
            held,
            yielding,
            until,
        ));
        assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
        let text = state.metrics.text_for_scrape();
        assert!(
            text.contains("requests_total{entry=\"mutate\",mode=\"enforce\",result=\"late\"} 1"),
            "{text}"
        );
    }

    /// Says whether it may look often, and on which thread.
    static LOOKED: Mutex<Vec<(ThreadId, bool)>> = Mutex::new(Vec::new());

    fn looking(
        _: &[u8],
        _: WebhookEntry,
        _: SnapshotForAudience<'_>,
        deadline: &DecisionLimits<'_>,
    ) -> Decided {
        let may = deadline.take_looks(1 << 17);
        LOOKED.lock().unwrap().push((thread::current().id(), may));
        Err(if deadline.is_over() { RequestError::Late } else { RequestError::NoUid })
    }

    /// Other connections wait for the thread that read the body.
    #[test]
    fn many_looks_are_on_a_thread_of_their_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = Arc::new(State::bare());
        let held = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let until = Instant::now() + Duration::from_secs(60);
        let response = runtime.block_on(decide_on_reading_thread_first(
            &state,
            WebhookEntry::Mutate,
            held,
            looking,
            until,
        ));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "it is decided");
        let looked = LOOKED.lock().unwrap();
        let here = thread::current().id();
        let looked: Vec<_> = looked.iter().map(|(thread, may)| (*thread == here, *may)).collect();
        assert_eq!(looked, [(true, false), (false, true)]);
    }

    /// The threads of one decision.
    static TRIED: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

    /// Is ready only where it is tried for the third time.
    fn slow(_: &[u8], _: WebhookEntry, _: SnapshotForAudience<'_>, deadline: &DecisionLimits<'_>) -> Decided {
        let tries = {
            let mut tried = TRIED.lock().unwrap();
            tried.push(thread::current().id());
            tried.len()
        };
        // To wait is no work.
        std::thread::sleep(2 * MAX_CPU_TIME_ON_SMALL_THREAD);
        assert!(!deadline.is_over());
        while tries < 3 && !deadline.is_over() {
            std::hint::spin_loop();
        }
        Err(if deadline.is_over() { RequestError::Late } else { RequestError::NoUid })
    }

    /// Whatever the length of its body, a decision that takes long makes way for others twice.
    #[test]
    fn a_long_decision_begins_again_behind_longer_ones() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = Arc::new(State::bare());
        let until = Instant::now() + Duration::from_secs(60);
        let ask = || {
            let held = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
            decide_on_reading_thread_first(&state, WebhookEntry::Mutate, held, slow, until)
        };
        // All threads for large bodies are busy: it is tried twice, and waits.
        let turn = || state.budgets.turns.wait_for_turn_of_large_body(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, 0);
        let mut busy = Vec::new();
        while let Ok(turn) =
            runtime.block_on(async { tokio::time::timeout(Duration::from_millis(50), turn()).await })
        {
            busy.push(turn.unwrap());
        }
        let waits = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(1), ask()).await });
        assert!(waits.is_err());
        let tried = std::mem::take(&mut *TRIED.lock().unwrap());
        assert_eq!(tried.iter().map(|t| *t == thread::current().id()).collect::<Vec<_>>(), [true, false]);
        drop(busy);
        assert_eq!(runtime.block_on(ask()).status(), StatusCode::BAD_REQUEST, "it is decided");
        assert_eq!(TRIED.lock().unwrap().len(), 3);
        assert_eq!(state.budgets.requests_and_bytes_in_use(), (0, 0));
    }

    /// A request whose client has gone stops the work for it.
    #[test]
    fn nobody_waits_so_nothing_is_decided() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.unwrap();
        let state = Arc::new(State::bare());
        let until = Instant::now() + Duration::from_secs(60);
        runtime.block_on(async {
            let held = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
            let work = decide_behind_reading_thread(
                &state,
                WebhookEntry::Mutate,
                (held, DecisionMemoryEstimate::default()),
                yielding,
                until,
            );
            assert!(tokio::time::timeout(Duration::from_millis(50), work).await.is_err());
            // All threads are free again.
            for _ in 0..8 {
                let turn = state.budgets.turns.wait_for_turn_of_large_body(
                    IpAddr::V4(Ipv4Addr::LOCALHOST),
                    0,
                    MAX_MEMORY_OF_ALL_DECISIONS,
                );
                assert!(tokio::time::timeout(Duration::from_secs(10), turn).await.is_ok_and(|t| t.is_some()));
            }
        });
    }
}
