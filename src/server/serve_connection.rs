//! One connection of the webhook port: its handshake, its requests and their answers, and its end.

use super::begin_in_turn::begin_in_turn;
use super::client_address_and_connection::Caller;
use super::connection_activity_and_slow_clients::{ConnectionWatch, Slow, WatchedStream};
use super::connection_age;
use super::metrics::Shed;
use super::open_connections::Place;
use super::shared_state::State;
use super::shared_tcp_stream::SharedTcpStream;
use super::tls_handshake::{Tls, TlsHandshakes};
use super::tls_records_without_data::RecordAllowance;
use super::unread_answers::UnreadAnswers;
use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpStream;
use tower::ServiceExt;

/// While the server stops, an unused connection is served for this long: its first request may be in transit.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// How long a client has to take the alert that ends its handshake.
const END_OF_HANDSHAKE: Duration = Duration::from_secs(1);

/// How often the server looks whether a connection that is to end has a request in progress.
const LOOK_FOR_REQUEST: Duration = Duration::from_millis(50);

/// Read buffer of hyper per connection (bytes), and so the maximum of a header. By default it grows to 417,792 bytes for a
/// client that sends much at once (hyper proto/h1/io.rs) and keeps them while the connection lives. They are not in the
/// budget, and 640 connections would hold 260 MB. A TLS record has 16 KiB at most. A header of an API server has about
/// 1 KiB, or more with a bearer token.
pub(super) const READ_BUFFER: usize = 16 * 1024;

/// A connection that has a place.
pub(super) struct Connection {
    pub(super) router: Router,
    pub(super) state: Arc<State>,
    pub(super) handshakes: TlsHandshakes,
    pub(super) caller: Caller,
}

impl Connection {
    /// Serves the connection until its end.
    pub(super) async fn serve(self, stream: TcpStream, _place: Place) {
        let Self { router, state, handshakes, caller } = self;
        let _ = stream.set_nodelay(true);
        let stream = SharedTcpStream::new(stream);
        let allowance = RecordAllowance::new();
        let Some(tls) = handshakes.complete_or_count(stream.clone(), &allowance, &state, &caller).await
        else {
            let sooner = caller.watch.wait_until_asked_to_make_room();
            return stream.end_and_wait_for_client_or_reset(END_OF_HANDSHAKE, sooner).await;
        };
        state.metrics.count_opened_connection();
        let unread = UnreadAnswers::of_connection(caller.address, Arc::clone(&state.budgets.waiting));
        let open = Arc::new(OpenConnection { router, state, caller, allowance, unread });
        let ended = open.answer_requests(tls).await;
        open.caller.watch.record_end();
        let OpenConnection { state, caller, allowance, .. } = &*open;
        if allowance.is_spent() {
            state.metrics.count_shed(Shed::EmptyRecords);
        }
        state.metrics.count_closed_connection();
        match ended {
            Ok(outcome) => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "connection ended with an error");
                }
                let time = if open.is_draining() { FIRST_REQUEST } else { state.limits.write };
                let sooner = caller.watch.wait_until_asked_to_make_room();
                stream.end_and_wait_for_client_or_reset(time, sooner).await;
            }
            Err(slow) => {
                state.metrics.count_shed(match slow {
                    Slow::Header => Shed::SlowHeader,
                    Slow::Answer => Shed::SlowAnswer,
                });
                tracing::debug!(?slow, "connection closed because the client was too slow");
                stream.reset_when_dropped();
            }
        }
    }
}

/// A connection after its handshake.
struct OpenConnection {
    router: Router,
    state: Arc<State>,
    caller: Caller,
    allowance: Arc<RecordAllowance>,
    unread: Arc<UnreadAnswers>,
}

impl OpenConnection {
    /// Answers the requests of a connection until it ends, or its client is too slow.
    async fn answer_requests(self: &Arc<Self>, tls: Tls) -> Result<hyper::Result<()>, Slow> {
        let old = connection_age::age_that_closes_connection(self.state.limits.connection_age);
        let service = hyper::service::service_fn({
            let open = Arc::clone(self);
            move |request| open.answer_in_turn(request, old)
        });
        let watch = &self.caller.watch;
        let stream =
            WatchedStream::new(tls, Arc::clone(watch), Arc::clone(&self.allowance), Arc::clone(&self.unread));
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.state.limits.idle)
            .max_buf_size(READ_BUFFER)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        tokio::select! {
            outcome = &mut connection => Ok(outcome),
            slow = self.wait_until_client_is_slow() => Err(slow),
            () = watch.wait_until_asked_to_close() => {
                connection.as_mut().graceful_shutdown();
                let grace = if self.is_draining() { FIRST_REQUEST } else { Duration::ZERO };
                tokio::select! {
                    outcome = &mut connection => Ok(outcome),
                    () = wait_until_no_request_in_progress(watch, grace) => Ok(Ok(())),
                    slow = self.wait_until_client_is_slow() => Err(slow),
                }
            }
        }
    }

    /// Answers a request of which the header is complete. hyper answers up to 16 requests that a client sends together before it
    /// lets other connections go on (src/proto/h1/dispatch.rs, `poll_loop`), and it would serve all connections of an address
    /// that are ready.
    fn answer_in_turn(
        self: &Arc<Self>,
        mut request: hyper::Request<Incoming>,
        old: Duration,
    ) -> impl Future<Output = Result<Response, Infallible>> + use<> {
        let open = Arc::clone(self);
        open.caller.watch.record_complete_header();
        open.allowance.earn_by_request();
        request.extensions_mut().insert(open.caller.clone());
        let (state, peer) = (Arc::clone(&open.state), open.caller.address);
        let turn = async move { state.budgets.turns.wait_for_turn_of_request(peer).await };
        begin_in_turn(async move { open.answer(request, old).await }, turn)
    }

    async fn answer(&self, request: hyper::Request<Incoming>, old: Duration) -> Result<Response, Infallible> {
        let mut response = self.router.clone().oneshot(request.map(axum::body::Body::new)).await;
        let watch = &self.caller.watch;
        // The API server re-uses open connections to a pod that is going away
        // (kubernetes/kubernetes#127335), and sends nothing to one that came later.
        if (self.is_draining() || watch.age_of_connection() >= old)
            && let Ok(response) = &mut response
        {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        watch.record_answer_ready();
        let share = response.as_mut().ok().and_then(|r| r.extensions_mut().remove());
        self.unread.record_answer_ready(share.unwrap_or_default());
        response
    }

    async fn wait_until_client_is_slow(&self) -> Slow {
        let limits = &self.state.limits;
        tokio::select! {
            slow = self.caller.watch.wait_until_client_is_late(limits.header, limits.write) => slow,
            () = self.unread.wait_until_asked_to_make_room() => Slow::Answer,
        }
    }

    fn is_draining(&self) -> bool {
        self.state.draining.load(Ordering::Acquire)
    }
}

/// Completes once a connection that is to end has no request in progress. hyper itself closes a connection that has had a
/// request. On a new one it would wait for the first request, and within a header or body for the rest.
async fn wait_until_no_request_in_progress(watch: &ConnectionWatch, grace: Duration) {
    tokio::time::sleep(grace).await;
    while watch.idle_for().is_none() && !watch.must_make_room_and_is_waiting() {
        tokio::time::sleep(LOOK_FOR_REQUEST).await;
    }
}
