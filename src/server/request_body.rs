//! The body of a request: how it is read, and the refusals of a body that is too large (413), too slow (408), incomplete
//! (400) or of another content type (415). Too large are also a body that takes too much memory once decoded
//! ([`super::estimate_memory_of_decision`] estimates it) and one with too many escape sequences.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::client_address_and_connection::Caller;
use super::estimate_memory_of_decision::MAX_ESCAPES;
use super::fair_share_per_client_address::{MAX_SMALL_BODY_BYTES, NoRoom};
use super::framing_of_bodies::FramingOfBodies;
use super::http_answers::{BUSY_BECAUSE_OF_MEMORY, BUSY_BECAUSE_OF_NAMESPACE, count_and_answer_busy, plain};
use super::metrics::Shed;
use super::shared_state::State;
use super::turns_of_decisions_and_handshakes::MAX_MEMORY_OF_ALL_DECISIONS;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use std::net::{IpAddr, Ipv4Addr};

/// Why a body is not read to its end.
enum Unread {
    TooLarge,
    Memory,
    Namespace,
    Ended,
    Pieces,
    Framing,
}

/// Pieces in which any body may arrive (count). A piece is a chunk or a TLS record, and costs about a microsecond.
const PIECES_ALLOWED_TO_ANY_BODY: usize = 1024;
/// Average length from which on a body may have more pieces (bytes). An API server sends pieces of kilobytes.
const MIN_AVERAGE_PIECE_BYTES: usize = 1024;

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
    let read =
        tokio::time::timeout(state.limits.body, collect_or_drop_rest(state, body, held, framing)).await;
    if let Some(caller) = caller {
        caller.watch.record_complete_body();
    }
    match read {
        Ok(Ok(held)) => Ok(held),
        Ok(Err(Unread::TooLarge)) => Err(count_and_answer_too_large(state, "the body is larger than 8 MiB")),
        Ok(Err(Unread::Memory)) => Err(count_and_answer_busy(state, Shed::Memory, BUSY_BECAUSE_OF_MEMORY)),
        Ok(Err(Unread::Namespace)) => {
            Err(count_and_answer_busy(state, Shed::Requests, BUSY_BECAUSE_OF_NAMESPACE))
        }
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

/// Reads a body. Memory is taken from the budget as bytes arrive, never by the length in a header. The rest of a refused
/// body is read and dropped, up to four times the limit: a client that still writes when the connection closes would not
/// see the answer.
async fn collect_or_drop_rest(
    state: &State,
    mut body: Body,
    mut held: BytesWithinBudget,
    framing: Option<&FramingOfBodies>,
) -> Result<BytesWithinBudget, Unread> {
    let most = state.limits.body_bytes;
    // A length that no body has would count as what its namespace holds.
    let mut unread = held.stated_length().filter(|length| *length > most).map(|_| Unread::TooLarge);
    let mut total = 0_usize;
    let mut pieces = 0_usize;
    while let Some(frame) = body.frame().await {
        let of_framing = framing.is_some_and(FramingOfBodies::is_exceeded);
        let why = if of_framing { Unread::Framing } else { Unread::Ended };
        let Ok(data) = frame.map_err(|_| why)?.into_data() else { continue };
        if let Some(framing) = framing {
            framing.record_data(data.len());
        }
        total = total.saturating_add(data.len());
        pieces += 1;
        if pieces > PIECES_ALLOWED_TO_ANY_BODY + total / MIN_AVERAGE_PIECE_BYTES {
            return Err(Unread::Pieces);
        }
        if total > most {
            unread = Some(Unread::TooLarge);
        }
        if unread.is_none() {
            let was_small = held.bytes().len() <= MAX_SMALL_BODY_BYTES;
            if let Err(NoRoom) = held.push_if_budget_has_room(&data) {
                unread = Some(Unread::Memory);
            } else if was_small
                && held.bytes().len() > MAX_SMALL_BODY_BYTES
                && !state.budgets.take_share_of_large_body_or_refuse(&mut held)
            {
                unread = Some(Unread::Namespace);
            }
        }
        if unread.is_some() {
            held.drop_bytes_and_give_back_share();
            if total > most.saturating_mul(4) {
                break;
            }
        }
    }
    unread.map_or(Ok(held), Err)
}

fn count_and_answer_too_large(state: &State, text: &str) -> Response {
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

/// The refusal of a body with more than [`MAX_ESCAPES`].
pub(super) fn refuse_too_many_escapes(state: &State, escapes: usize) -> Response {
    let text = format!(
        "the texts of the body have {escapes} escape sequences, such as \\n and \\\"; at most {MAX_ESCAPES} escape sequences are allowed"
    );
    count_and_answer_too_large(state, &text)
}
