//! The accept loop. A handshake never delays another connection, a failing accept never becomes a busy loop, and the end
//! waits for requests in progress.

use super::begin_in_turn::{begin_in_turn, take_steps_in_turns};
use super::client_address_and_connection::Caller;
use super::connection_activity_and_slow_clients::{ConnectionWatch, Slow, Waits, WatchedStream};
use super::connection_age;
use super::default_limits_and_deadlines::Limits;
use super::metrics::{Handshake, Shed};
use super::open_connections::{OpenConnections, Place, Refused};
use super::routes;
use super::shared_state::State;
use super::shared_tcp_stream::SharedTcpStream;
use super::stop_signals::Stop;
use super::tls_records_without_data::{CountedRecords, RecordAllowance};
use super::unread_answers::UnreadAnswers;
use axum::Router;
use axum::http::{HeaderValue, header};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::Acceptor;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::LazyConfigAcceptor;
use tower::ServiceExt;

/// Pause after an accept that failed; out of file descriptors it would otherwise fail a million times a second.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// While the server stops, an unused connection is served for this long: its first request may be in transit.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Read buffer of hyper per connection (bytes), and so the maximum of a header. By default it grows to 417,792 bytes for a
/// client that sends much at once (hyper proto/h1/io.rs) and keeps them while the connection lives. They are not in the
/// budget, and 640 connections would hold 260 MB. A TLS record has 16 KiB at most. A header of an API server has about
/// 1 KiB, or more with a bearer token.
pub(super) const READ_BUFFER: usize = 16 * 1024;

/// Bytes of an answer that TLS keeps for a connection before the kernel has room for them. They are not in the budget. The default
/// is 64 KiB.
const TLS_BUFFER: usize = 16 * 1024;

/// Most protocols that a client may offer (count). Go's client and OpenSSL's offer two at most.
const MOST_PROTOCOLS: usize = 32;

/// An answer with our certificate is longer, and one that only asks for another key share is shorter (bytes; RFC 8446, section
/// 4.1.4). The client's next message then needs all the work.
const MIN_ANSWER_WITH_CERTIFICATE: usize = 256;

/// Serves until a stop signal, and until the last connection has ended or the drain deadline has passed.
pub(super) async fn serve(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    state: Arc<State>,
    (handshakes, is_second_message_long): (Handle, bool),
    mut stop: watch::Receiver<Stop>,
) {
    let port = Port {
        config,
        is_second_message_long,
        router: routes::router(Arc::clone(&state)),
        table: OpenConnections::new(state.limits.connections, state.limits.connections_per_peer),
        state: Arc::clone(&state),
        handshakes,
    };
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => port.serve_or_close(stream, peer, &mut connections),
            Err(error) => {
                state.metrics.count_accept_error();
                tracing::warn!(%error, "accepting a connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    if *stop.borrow() == Stop::Drain {
        // Connections in the kernel's queue are answered as well; closing the listener would reset them.
        while let Ok(Ok((stream, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
            port.serve_or_close(stream, peer, &mut connections);
        }
        drop(listener);
        drain(&port.table, &state.limits, connections, stop).await;
    }
}

/// Waits for open connections to end. Answers close their connections. The client closes an idle one: if the server did,
/// the client might use it at the same moment, and it would not repeat a POST.
async fn drain(
    table: &OpenConnections,
    limits: &Limits,
    mut connections: JoinSet<()>,
    mut stop: watch::Receiver<Stop>,
) {
    let mut ended = pin!(async { while connections.join_next().await.is_some() {} });
    let closing = async {
        tokio::time::sleep(limits.drain).await;
        table.ask_all_to_end_once_idle();
        tokio::time::sleep(limits.finish).await;
    };
    tokio::select! {
        () = &mut ended => tracing::info!("server stopped after all connections were closed"),
        () = closing => tracing::warn!("server stopped at the --drain deadline; connections were still open"),
        _ = stop.changed() => tracing::warn!("server stopped immediately, because of a second stop signal"),
    }
}

/// State that all connections of the port share.
struct Port {
    config: Arc<ServerConfig>,
    router: Router,
    table: Arc<OpenConnections>,
    state: Arc<State>,
    handshakes: Handle,
    is_second_message_long: bool,
}

impl Port {
    /// Serves a connection, or closes it if there are too many: before its handshake, which costs more than any answer.
    fn serve_or_close(&self, stream: TcpStream, peer: SocketAddr, connections: &mut JoinSet<()>) {
        let watch = ConnectionWatch::new();
        let place = match self.table.take_place_evict_or_refuse(peer.ip(), &watch) {
            Ok(place) => place,
            Err(refused) => {
                self.state.metrics.count_shed(match refused {
                    Refused::Peer => Shed::PeerConnections,
                    Refused::Full => Shed::Connections,
                });
                return;
            }
        };
        if let Some(waits) = place.made_room {
            self.state.metrics.count_shed(match waits {
                Waits::Idle => Shed::Idle,
                Waits::Handshake => Shed::UnfinishedHandshake,
                Waits::Header => Shed::SlowHeader,
                Waits::Body => Shed::SlowBody,
            });
        }
        let connection = Connection {
            config: Arc::clone(&self.config),
            router: self.router.clone(),
            state: Arc::clone(&self.state),
            handshakes: self.handshakes.clone(),
            is_second_message_long: self.is_second_message_long,
            caller: Caller { address: peer.ip().to_canonical(), watch },
        };
        connections.spawn(connection.serve(stream, place));
    }
}

struct Connection {
    config: Arc<ServerConfig>,
    router: Router,
    state: Arc<State>,
    handshakes: Handle,
    is_second_message_long: bool,
    caller: Caller,
}

impl Connection {
    async fn serve(self, stream: TcpStream, _place: Place) {
        let Self { config, router, state, handshakes, is_second_message_long, caller } = self;
        let watch = Arc::clone(&caller.watch);
        let _ = stream.set_nodelay(true);
        let stream = SharedTcpStream::new(stream);
        let allowance = RecordAllowance::new();
        let counted = CountedRecords::new(stream.clone(), Arc::clone(&allowance));
        // Whoever opens connections as fast as possible would let the requests of others wait for all these handshakes, if
        // they were on the same threads; and bodies of others would let a handshake wait.
        let mut shaken = JoinSet::new();
        let (turns, peer, of_handshake) = (Arc::clone(&state), caller.address, Arc::clone(&allowance));
        let shake = async move {
            let hello = LazyConfigAcceptor::new(Acceptor::default(), counted).await?;
            if hello.client_hello().alpn().is_some_and(|mut names| names.nth(MOST_PROTOCOLS).is_some()) {
                return Err(std::io::Error::other("the client offers too many protocols"));
            }
            of_handshake.record_first_message();
            // Nearly all work is in the answer with our certificate, in the check of the client's certificate, and in TLS 1.2
            // in the key of the client, which comes after our certificate. What else follows has no turn: a client that opens
            // connections and closes them again would make connections wait that are already closed.
            let is_certificate_sent = || of_handshake.sent_bytes() >= MIN_ANSWER_WITH_CERTIFICATE;
            let is_next_step_long = || is_second_message_long || !is_certificate_sent();
            let turn = || turns.budgets.turns.wait_for_turn_of_handshake(peer);
            take_steps_in_turns(async { hello.into_stream(config).await }, turn, is_next_step_long).await
        };
        shaken.spawn_on(shake, &handshakes);
        let shaken = async {
            match shaken.join_next().await {
                Some(Ok(shaken)) => shaken,
                Some(Err(ended)) => Err(std::io::Error::other(ended)),
                None => Err(std::io::ErrorKind::NotConnected.into()),
            }
        };
        let handshake = tokio::select! {
            handshake = tokio::time::timeout(state.limits.handshake, shaken) => handshake,
            () = watch.wait_until_asked_to_make_room() => {
                state.metrics.count_handshake(Handshake::Timeout);
                return;
            }
        };
        let tls = match handshake {
            Ok(Ok(mut tls)) => {
                state.metrics.count_handshake(Handshake::Ok);
                tls.get_mut().1.set_buffer_limit(Some(TLS_BUFFER));
                tls
            }
            Ok(Err(error)) => {
                state.metrics.count_handshake(if is_client_certificate_fault(&error) {
                    Handshake::Refused
                } else {
                    Handshake::Failed
                });
                tracing::debug!(%error, "TLS handshake failed");
                return;
            }
            Err(_) => {
                state.metrics.count_handshake(Handshake::Timeout);
                state.metrics.count_shed(Shed::SlowHandshake);
                return;
            }
        };
        state.metrics.count_opened_connection();
        watch.record_handshake_end();
        allowance.record_handshake_end();
        let peer = caller.address;
        let old = connection_age::age_that_closes_connection(state.limits.connection_age);
        let unread = UnreadAnswers::of_connection(peer, Arc::clone(&state.budgets.waiting));
        let of_requests = Arc::clone(&allowance);
        let service = hyper::service::service_fn({
            let (watch, state, unread) = (Arc::clone(&watch), Arc::clone(&state), Arc::clone(&unread));
            move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(caller.clone());
                let (router, watch, state) = (router.clone(), Arc::clone(&watch), Arc::clone(&state));
                let unread = Arc::clone(&unread);
                watch.record_complete_header();
                of_requests.earn_by_request();
                let turns = Arc::clone(&state);
                let answer = async move {
                    let mut response = router.oneshot(request.map(axum::body::Body::new)).await;
                    // The API server re-uses open connections to a pod that is going away
                    // (kubernetes/kubernetes#127335), and sends nothing to one that came later.
                    if (state.draining.load(Ordering::Acquire) || watch.age_of_connection() >= old)
                        && let Ok(response) = &mut response
                    {
                        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                    }
                    watch.record_answer_ready();
                    let share = response.as_mut().ok().and_then(|r| r.extensions_mut().remove());
                    unread.record_answer_ready(share.unwrap_or_default());
                    response
                };
                // hyper answers up to 16 requests that a client sends together before it lets other connections go on
                // (src/proto/h1/dispatch.rs, `poll_loop`), and it would serve all connections of an address that are ready.
                begin_in_turn(answer, async move { turns.budgets.turns.wait_for_turn_of_request(peer).await })
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(state.limits.idle)
            .max_buf_size(READ_BUFFER)
            .serve_connection(
                TokioIo::new(WatchedStream::new(
                    tls,
                    Arc::clone(&watch),
                    Arc::clone(&allowance),
                    Arc::clone(&unread),
                )),
                service,
            );
        let ended = {
            let mut connection = pin!(connection);
            let late = || async {
                tokio::select! {
                    slow = watch.wait_until_client_is_late(state.limits.header, state.limits.write) => slow,
                    () = unread.wait_until_asked_to_make_room() => Slow::Answer,
                }
            };
            tokio::select! {
                outcome = &mut connection => Ok(outcome),
                slow = late() => Err(slow),
                () = watch.wait_until_asked_to_close() => {
                    connection.as_mut().graceful_shutdown();
                    let grace = if state.draining.load(Ordering::Acquire) { FIRST_REQUEST } else { Duration::ZERO };
                    tokio::select! {
                        outcome = &mut connection => Ok(outcome),
                        () = wait_until_no_request_in_progress(&watch, grace) => Ok(Ok(())),
                        slow = late() => Err(slow),
                    }
                }
            }
        };
        if allowance.is_spent() {
            state.metrics.count_shed(Shed::EmptyRecords);
        }
        state.metrics.count_closed_connection();
        match ended {
            Ok(outcome) => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "connection ended with an error");
                }
                let time =
                    if state.draining.load(Ordering::Acquire) { FIRST_REQUEST } else { state.limits.write };
                stream.end_and_wait_for_client_or_reset(time, watch.wait_until_asked_to_make_room()).await;
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

/// Whether a handshake failed because the client lacks the right certificate.
fn is_client_certificate_fault(error: &std::io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_)))
}

/// Completes once a connection that is to end has no request in progress. hyper itself closes a connection that has had a
/// request. On a new one it would wait for the first request, and within a header or body for the rest.
async fn wait_until_no_request_in_progress(watch: &ConnectionWatch, grace: Duration) {
    tokio::time::sleep(grace).await;
    while watch.idle_for().is_none() && !watch.must_make_room_and_is_waiting() {
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}
