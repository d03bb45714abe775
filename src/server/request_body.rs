//! The body of a request: how it is read, and the refusals of a body that is too large (413), too slow (408), incomplete
//! (400) or of another content type (415). Too large are also a body that takes too much memory once decoded
//! ([`super::estimate_memory_of_decision`] estimates it) and one with too many escape sequences.

use super::begin_in_turn::begin_in_turn;
use super::body_bytes_within_budget::BytesWithinBudget;
use super::budgets_for_requests_and_bytes::RefusedByFirstBytes;
use super::bytes_that_wait_for_clients::WaitingBytes;
use super::client_address_and_connection::Caller;
use super::connection_activity_and_slow_clients::READ_PER_TURN;
use super::fair_share_per_client_address::{MAX_SMALL_BODY_BYTES, NoRoom};
use super::framing_of_bodies::FramingOfBodies;
use super::http_answers::{BUSY_BECAUSE_OF_MEMORY, BUSY_BECAUSE_OF_NAMESPACE, count_and_answer_busy, plain};
use super::metrics::Shed;
use super::shared_state::State;
use super::turns_of_decisions_and_handshakes::MAX_MEMORY_OF_ALL_DECISIONS;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Why a body is not read to its end.
enum Unread {
    TooLarge,
    Memory,
    FirstBytes(RefusedByFirstBytes),
    Ended,
    Pieces,
    Framing,
}

/// Pieces in which any body may arrive (count). A piece is a chunk or a TLS record, and costs about a microsecond.
const PIECES_ALLOWED_TO_ANY_BODY: usize = 1024;
/// Average length from which on a body may have more pieces (bytes). An API server sends pieces of kilobytes.
const MIN_AVERAGE_PIECE_BYTES: usize = 1024;

/// How often a body waits until others have made room for a part of it.
const MOST_WAITS_FOR_ROOM: usize = 32;
/// How long each time: the other bytes are dropped when their tasks run again.
const WAIT_FOR_ROOM: Duration = Duration::from_millis(2);

/// Reads the body of a request, within its limits of size, memory and time.
pub(super) async fn read(state: &State, request: Request) -> Result<BytesWithinBudget, Response> {
    let (parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Caller>();
    let address = caller.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |caller| caller.address);
    let content_type =
        parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected Content-Type application/json"));
    }
    let declared =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    let held = state.budgets.empty_body_of_address(address, declared);
    let framing = caller.map(|caller| &caller.watch.framing);
    let mut body = CountedBody { body, framing, bytes: 0, pieces: 0 };
    let until = Instant::now() + state.limits.body;
    let read = tokio::time::timeout_at(until, collect(state, &mut body, held)).await;
    if let Ok(Err(Unread::TooLarge | Unread::Memory | Unread::FirstBytes(_))) = &read {
        // The answer is the refusal, also if the rest does not come in time.
        let _ = tokio::time::timeout_at(until, drop_rest(state, &mut body, address)).await;
    }
    if let Some(caller) = caller {
        caller.watch.record_complete_body();
    }
    match read {
        Ok(Ok(held)) => Ok(held),
        Ok(Err(Unread::TooLarge)) => Err(count_and_answer_too_large(state, "the body is larger than 8 MiB")),
        Ok(Err(Unread::Memory)) => Err(count_and_answer_busy(state, Shed::Memory, BUSY_BECAUSE_OF_MEMORY)),
        Ok(Err(Unread::FirstBytes(RefusedByFirstBytes::NamespaceHoldsTooMuch))) => {
            Err(count_and_answer_busy(state, Shed::Requests, BUSY_BECAUSE_OF_NAMESPACE))
        }
        Ok(Err(Unread::FirstBytes(RefusedByFirstBytes::NameTooLong))) => Err(count_and_answer_too_large(
            state,
            "the name of the object has 60 KiB or more; names have at most 253 bytes",
        )),
        Ok(Err(Unread::Pieces)) => {
            Err(plain(StatusCode::BAD_REQUEST, "the body arrives in too many short pieces"))
        }
        Ok(Err(Unread::Framing)) => Err(plain(
            StatusCode::BAD_REQUEST,
            "the body has too many bytes besides its data, such as long chunk headers",
        )),
        Ok(Err(Unread::Ended)) => Err(plain(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => {
            state.metrics.count_shed(Shed::SlowBody);
            let mut response = plain(StatusCode::REQUEST_TIMEOUT, "the client sent the body too slowly");
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Err(response)
        }
    }
}

/// A body with a limit for the number of pieces in which it arrives.
struct CountedBody<'a> {
    body: Body,
    framing: Option<&'a FramingOfBodies>,
    bytes: usize,
    pieces: usize,
}

impl CountedBody<'_> {
    /// The next bytes; `None` at the end.
    async fn next_bytes(&mut self) -> Result<Option<Bytes>, Unread> {
        while let Some(frame) = self.body.frame().await {
            let of_framing = self.framing.is_some_and(FramingOfBodies::is_exceeded);
            let why = if of_framing { Unread::Framing } else { Unread::Ended };
            let Ok(data) = frame.map_err(|_| why)?.into_data() else { continue };
            if let Some(framing) = self.framing {
                framing.record_data(data.len());
            }
            self.bytes = self.bytes.saturating_add(data.len());
            self.pieces += 1;
            if self.pieces > PIECES_ALLOWED_TO_ANY_BODY + self.bytes / MIN_AVERAGE_PIECE_BYTES {
                return Err(Unread::Pieces);
            }
            return Ok(Some(data));
        }
        Ok(None)
    }
}

/// Reads a body. Memory is taken from the budget as bytes arrive, never by the length in a header.
async fn collect(
    state: &State,
    body: &mut CountedBody<'_>,
    mut held: BytesWithinBudget,
) -> Result<BytesWithinBudget, Unread> {
    let most = state.limits.body_bytes;
    // A length that no body has would count as what its namespace holds.
    if held.stated_length().is_some_and(|length| length > most) {
        return Err(Unread::TooLarge);
    }
    // Most bodies are complete after their first part.
    let mut incomplete: Option<WaitingBytes> = None;
    loop {
        let next = match &incomplete {
            None => body.next_bytes().await?,
            // Bytes come first: where many bodies arrive, they may have waited for this task.
            Some(incomplete) => tokio::select! {
                biased;
                next = body.next_bytes() => next?,
                () = incomplete.wait_until_asked_to_make_room() => return Err(Unread::Memory),
            },
        };
        let Some(data) = next else { return Ok(held) };
        if body.bytes > most {
            return Err(Unread::TooLarge);
        }
        let was_small = held.bytes().len() <= MAX_SMALL_BODY_BYTES;
        push_or_wait_for_room(state, &mut held, &data).await?;
        if was_small && held.bytes().len() > MAX_SMALL_BODY_BYTES {
            state.budgets.take_share_of_large_body(&mut held).map_err(Unread::FirstBytes)?;
        }
        if held.stated_length() == Some(held.bytes().len()) {
            incomplete = None;
        } else {
            let body =
                incomplete.get_or_insert_with(|| state.budgets.waiting.add(held.peer(), Arc::default()));
            body.record_bytes(held.bytes().len(), held.share_of_budget());
        }
    }
}

/// Adds bytes to a body. If no memory is left for them, the server gives up stalled bodies and answers, and tries again.
async fn push_or_wait_for_room(
    state: &State,
    held: &mut BytesWithinBudget,
    data: &[u8],
) -> Result<(), Unread> {
    for _ in 0..MOST_WAITS_FOR_ROOM {
        if held.push_if_budget_has_room(data).is_ok() {
            return Ok(());
        }
        if !state.budgets.ask_stalled_bytes_to_make_room_for(held, data.len()) {
            break;
        }
        tokio::time::sleep(WAIT_FOR_ROOM).await;
    }
    held.push_if_budget_has_room(data).map_err(|NoRoom| Unread::Memory)
}

/// Reads the rest of a refused body, up to four times the limit: a client that still writes when the connection closes would
/// not see the answer. Bodies that are not refused come first. Refused ones are most of all bytes where many addresses send
/// more than there is memory for.
async fn drop_rest(state: &State, body: &mut CountedBody<'_>, peer: IpAddr) {
    let most = state.limits.body_bytes.saturating_mul(4);
    loop {
        let end = body.bytes.saturating_add(READ_PER_TURN);
        let part = async {
            while body.bytes < end.min(most) {
                if !matches!(body.next_bytes().await, Ok(Some(_))) {
                    return false;
                }
            }
            body.bytes < most
        };
        if !begin_in_turn(part, state.budgets.turns.wait_for_turn_of_refused_body(peer)).await {
            return;
        }
    }
}

/// Refuses a body, and says why.
pub(super) fn count_and_answer_too_large(state: &State, text: &str) -> Response {
    state.metrics.count_shed(Shed::TooLarge);
    plain(StatusCode::PAYLOAD_TOO_LARGE, text)
}

/// The refusal of a body whose decision would take more memory than all large ones may.
pub(super) fn refuse_too_much_memory(state: &State, decoded: usize) -> Response {
    let (takes, most) = (decoded >> 20, MAX_MEMORY_OF_ALL_DECISIONS >> 20);
    let text = format!(
        "the body has too many list and map entries: decoding needs {takes} MiB of memory; at most {most} MiB are allowed"
    );
    count_and_answer_too_large(state, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};

    /// A body whose bytes are all there, and are counted as they are taken.
    struct Counted(Arc<AtomicUsize>);

    impl hyper::body::Body for Counted {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
            const PIECE: &[u8] = &[b' '; 16 * 1024];
            self.0.fetch_add(PIECE.len(), Ordering::Relaxed);
            Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from_static(PIECE)))))
        }
    }

    /// However many refused bodies arrive, other connections go on after a few parts of them.
    #[test]
    fn the_rests_of_refused_bodies_let_others_go_on() {
        let state = Arc::new(State::bare());
        let taken = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let most_in_one_round = runtime.block_on(async {
            let mut rests = tokio::task::JoinSet::new();
            for last in 0..100 {
                let (state, taken) = (Arc::clone(&state), Arc::clone(&taken));
                rests.spawn(async move {
                    let body = Body::new(Counted(taken));
                    let mut body = CountedBody { body, framing: None, bytes: 0, pieces: 0 };
                    drop_rest(&state, &mut body, IpAddr::from([10, 0, 0, last])).await;
                });
            }
            let mut most = 0;
            while !rests.is_empty() {
                let before = taken.load(Ordering::Relaxed);
                tokio::task::yield_now().await;
                most = most.max(taken.load(Ordering::Relaxed) - before);
                while rests.try_join_next().is_some() {}
            }
            most
        });
        let each = 4 * state.limits.body_bytes;
        assert_eq!(taken.load(Ordering::Relaxed), 100 * each, "all of them are read");
        let turns = 2 * state.limits.large_decisions;
        assert!(most_in_one_round <= turns * READ_PER_TURN, "{most_in_one_round} bytes in one round");
    }

    /// A body of which one part is there, and no more comes.
    struct Stalled(Option<Bytes>);

    impl hyper::body::Body for Stalled {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
            self.0.take().map_or(Poll::Pending, |part| Poll::Ready(Some(Ok(hyper::body::Frame::data(part)))))
        }
    }

    /// Clients that send parts of bodies and nothing more keep no other client out.
    #[test]
    fn stalled_bodies_make_room() {
        let mut state = State::bare();
        state.limits.body_budget = 4 << 20;
        state.budgets = crate::server::budgets_for_requests_and_bytes::Budgets::new(&state.limits);
        let state = Arc::new(state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let read = |address: [u8; 4], body: Body, length: usize| {
            let state = Arc::clone(&state);
            async move {
                let held = state.budgets.empty_body_of_address(IpAddr::from(address), Some(length));
                let mut body = CountedBody { body, framing: None, bytes: 0, pieces: 0 };
                collect(&state, &mut body, held).await.map_err(|_| ())
            }
        };
        runtime.block_on(async {
            let mut stalled = tokio::task::JoinSet::new();
            for n in 0..400_u16 {
                let [_, last] = (n % 20).to_be_bytes();
                let part = Bytes::from(vec![b' '; 100_000]);
                stalled.spawn(read([10, 0, 1, last], Body::new(Stalled(Some(part))), 8_000_000));
            }
            tokio::task::yield_now().await;
            let other = || read([10, 0, 0, 1], Body::from(vec![b' '; 500_000]), 500_000);
            assert!(other().await.is_err(), "no memory is left, and no body has stalled so far");
            tokio::time::sleep(Duration::from_millis(600)).await;
            assert!(other().await.is_ok());
            let small = read([10, 0, 0, 2], Body::from(vec![b' '; 40_000]), 40_000).await;
            assert!(small.is_ok());
        });
    }
}
