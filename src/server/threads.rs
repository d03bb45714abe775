//! Decisions that may take longer than a millisecond. They run on threads of their own, a few at a time, and no other
//! request or probe waits for them. Each has to be ready before the API server gives up: an answer that comes later is
//! wasted, and so is the work for it.

use super::answers::{Decide, answer, fault, plain};
use super::body_memory::{Held, SMALL};
use super::budgets::{DECODED, Turn};
use super::decoded_size::{DecodedSize, MAX_ESCAPES};
use super::request_body;
use super::state::State;
use crate::deadline::Deadline;
use crate::review::webhook_body::WebhookEntry;
use axum::http::StatusCode;
use axum::response::Response;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the API server waits if it does not say so: the default of `timeoutSeconds` (k8s.io/api
/// admissionregistration/v1). It always says so.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that it can say (`timeoutSeconds` is 1 to 30), and the shortest.
const LONGEST: u64 = 30;
const SHORTEST: u64 = 1;
/// The largest body that is decided on the thread that read it (bytes): a hand-over costs more than most decisions. The
/// dearest pods take 64 ns per byte, so 16 KiB of them take a millisecond; pods of people take a tenth of that. (opt-level
/// 3, two x86-64 cores: 200 containers that each get a plan, 15 KiB, 0.8 ms; 850 of them, 60 KiB, 4 ms; 64 KiB of networks
/// in an annotation 4 ms; 64 KiB of a device plugin's configuration 9 ms.)
pub(super) const ON_WORKER: usize = 16 * 1024;
/// Of so many questions whether the time is over, one is answered by the clock (count): the rules ask some 200 times.
const ASKED: usize = 8;
/// The answer has to travel.
const MARGIN: Duration = Duration::from_millis(200);

/// How long after a request's header its answer is useful. The API server sends `?timeout=5s`, in whole seconds
/// (k8s.io/apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go, `callAttemptMutating`).
pub(super) fn decision_timeout(query: Option<&str>) -> Duration {
    let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let seconds = parameters
        .filter(|(name, _)| name == "timeout")
        .find_map(|(_, value)| value.strip_suffix('s')?.parse::<u64>().ok());
    let timeout = seconds.map_or(TIMEOUT, |s| Duration::from_secs(s.clamp(SHORTEST, LONGEST)));
    timeout.saturating_sub(MARGIN)
}

/// Tells the thread that decides when nobody waits for its answer any more.
struct Abandons(Arc<AtomicBool>);

impl Drop for Abandons {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Decides on a body over [`ON_WORKER`] by a point in time, together with the stored objects that the decision reads.
pub(super) async fn decide(
    state: &Arc<State>,
    entry: WebhookEntry,
    read: (Held, DecodedSize),
    decide: Decide,
    until: Instant,
) -> Response {
    decide_since(state, entry, read, decide, Instant::now()..until).await
}

/// The same from a point in time on.
async fn decide_since(
    state: &Arc<State>,
    entry: WebhookEntry,
    (held, beside): (Held, DecodedSize),
    decide: Decide,
    time: Range<Instant>,
) -> Response {
    let until = time.end;
    let work = async {
        if held.escapes() > MAX_ESCAPES {
            return Some(request_body::too_many_escapes(held.escapes()));
        }
        let decoded = held.decoded();
        let turn = match held.bytes().len() + beside.weighed() > SMALL {
            // Only the body may be too much.
            true => {
                state.budgets.turn(held.peer(), decoded.max((decoded + beside.decoded()).min(DECODED))).await
            }
            false => state.budgets.small_turn(held.peer()).await,
        };
        let Some(turn) = turn else {
            return Some(request_body::too_many_entries(decoded));
        };
        on_a_thread(state, entry, held, decide, until, turn).await
    };
    let decided = tokio::time::timeout_at(until.into(), work).await;
    decided.ok().flatten().unwrap_or_else(|| late(state, entry, time.start))
}

/// Decides on a body of at most [`ON_WORKER`] on the thread that read it, by a point in time. A decision that needs more
/// than a few looks at nodes begins again on a thread of its own.
pub(super) async fn decide_small(
    state: &Arc<State>,
    entry: WebhookEntry,
    held: Held,
    how: Decide,
    until: Instant,
) -> Response {
    let started = Instant::now();
    match decide_here(state, entry, held, how, until) {
        Ok(response) => response,
        Err(_) if Instant::now() >= until => late(state, entry, started),
        Err(held) => decide_since(state, entry, (held, DecodedSize::default()), how, started..until).await,
    }
}

/// The body again, where it is not decided.
fn decide_here(
    state: &State,
    entry: WebhookEntry,
    held: Held,
    decide: Decide,
    until: Instant,
) -> Result<Response, Held> {
    let asked = AtomicUsize::new(1);
    // Only this thread asks. To look at the clock each time would be a noticeable part of such a decision.
    let over = || {
        let times = asked.load(Ordering::Relaxed);
        asked.store(times.wrapping_add(1), Ordering::Relaxed);
        times.is_multiple_of(ASKED) && Instant::now() >= until
    };
    answer(state, entry, held, decide, &Deadline::brief(&over))
}

/// The answer without a decision. It has no Retry-After, because the API server has no time left: it says that we took too
/// long, and failurePolicy decides.
fn late(state: &State, entry: WebhookEntry, started: Instant) -> Response {
    state.metrics.late(entry, started.elapsed());
    plain(StatusCode::GATEWAY_TIMEOUT, "fabric-admission: no decision within the webhook's timeout")
}

/// Decides on a thread of its own. `None` where it stops because of the time limit.
async fn on_a_thread(
    state: &Arc<State>,
    entry: WebhookEntry,
    held: Held,
    decide: Decide,
    until: Instant,
    turn: Turn,
) -> Option<Response> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let _abandons = Abandons(Arc::clone(&abandoned));
    let state = Arc::clone(state);
    let work = tokio::task::spawn_blocking(move || {
        // Held until the thread is done, even if nobody waits for it.
        let _turn = turn;
        let over = || abandoned.load(Ordering::Relaxed) || Instant::now() >= until;
        answer(&state, entry, held, decide, &Deadline::when(&over)).ok()
    });
    // It fails only where the runtime ends; panics are caught inside.
    work.await.unwrap_or_else(|_| Some(fault()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::admission_review::EnvelopeError;
    use crate::review::webhook_body::Answer;
    use crate::review::webhook_body::Known;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};

    #[test]
    fn the_api_server_says_how_long_it_waits() {
        for (query, seconds) in [
            (None, 10),
            (Some(""), 10),
            (Some("timeout=5s"), 5),
            (Some("a=b&timeout=30s"), 30),
            (Some("timeout=0s"), 1),
            (Some("timeout=99999999999s"), 30),
            (Some("timeout=-1s"), 10),
            (Some("timeout=1m"), 10),
        ] {
            assert_eq!(decision_timeout(query) + MARGIN, Duration::from_secs(seconds), "{query:?}");
        }
    }

    type Decided = Result<Answer, EnvelopeError>;

    /// Stops when it is asked to.
    fn yielding(_: &[u8], _: WebhookEntry, _: Known<'_>, deadline: &Deadline<'_>) -> Decided {
        while !deadline.is_over() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(EnvelopeError::Late)
    }

    /// Does not ask for a second.
    fn stubborn(_: &[u8], _: WebhookEntry, _: Known<'_>, _: &Deadline<'_>) -> Decided {
        std::thread::sleep(Duration::from_secs(1));
        Err(EnvelopeError::NoUid)
    }

    #[test]
    fn late_work_is_given_up_and_counted() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.unwrap();
        for (how, within) in [(yielding as Decide, 500), (stubborn, 500)] {
            let state = Arc::new(State::bare());
            let held = state.budgets.body(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
            let held = (held, DecodedSize::default());
            let started = Instant::now();
            let until = started + Duration::from_millis(50);
            let response = runtime.block_on(decide(&state, WebhookEntry::Mutate, held, how, until));
            assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
            assert!(response.headers().get("retry-after").is_none());
            assert!(started.elapsed() < Duration::from_millis(within), "{:?}", started.elapsed());
            let text = state.metrics.text();
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
        let held = state.budgets.body(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let started = Instant::now();
        let until = started + Duration::from_millis(50);
        let response = runtime.block_on(decide_small(&state, WebhookEntry::Mutate, held, yielding, until));
        assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
        assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
        let text = state.metrics.text();
        assert!(
            text.contains("requests_total{entry=\"mutate\",mode=\"enforce\",result=\"late\"} 1"),
            "{text}"
        );
    }

    /// Says whether it may look often, and on which thread.
    static LOOKED: Mutex<Vec<(ThreadId, bool)>> = Mutex::new(Vec::new());

    fn looking(_: &[u8], _: WebhookEntry, _: Known<'_>, deadline: &Deadline<'_>) -> Decided {
        let may = deadline.looks(1 << 17);
        LOOKED.lock().unwrap().push((thread::current().id(), may));
        Err(if deadline.is_over() { EnvelopeError::Late } else { EnvelopeError::NoUid })
    }

    /// Other connections wait for the thread that read the body.
    #[test]
    fn many_looks_are_on_a_thread_of_their_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let state = Arc::new(State::bare());
        let held = state.budgets.body(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let until = Instant::now() + Duration::from_secs(60);
        let response = runtime.block_on(decide_small(&state, WebhookEntry::Mutate, held, looking, until));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "it is decided");
        let looked = LOOKED.lock().unwrap();
        let here = thread::current().id();
        let looked: Vec<_> = looked.iter().map(|(thread, may)| (*thread == here, *may)).collect();
        assert_eq!(looked, [(true, false), (false, true)]);
    }

    /// A request whose client has gone stops the work for it.
    #[test]
    fn nobody_waits_so_nothing_is_decided() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.unwrap();
        let state = Arc::new(State::bare());
        let until = Instant::now() + Duration::from_secs(60);
        runtime.block_on(async {
            let held = state.budgets.body(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
            let work = decide(&state, WebhookEntry::Mutate, (held, DecodedSize::default()), yielding, until);
            assert!(tokio::time::timeout(Duration::from_millis(50), work).await.is_err());
            // All threads are free again.
            for _ in 0..8 {
                let turn = state.budgets.turn(IpAddr::V4(Ipv4Addr::LOCALHOST), DECODED);
                assert!(tokio::time::timeout(Duration::from_secs(10), turn).await.is_ok_and(|t| t.is_some()));
            }
        });
    }
}
