//! The accept loop. A handshake never holds up another connection, an error never spins, and the end waits for
//! what is under way.

use super::age;
use super::limits::Limits;
use super::metrics::{Handshake, Shed};
use super::routes::{self, Caller};
use super::state::State;
use super::stop::Stop;
use super::table::{Place, Refused, Table};
use super::watch::{Slow, Waits, Watch, Watched};
use axum::Router;
use axum::http::{HeaderValue, header};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// Pause after an accept that failed; out of file descriptors it would otherwise fail a million times a second.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection that has not been used is still served while we stop: its first request may be on its way.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Most bytes that hyper holds of a connection before it hands them on, and so of a header. Left to itself it takes
/// 417,792 from who sends much at once (hyper proto/h1/io.rs), for as long as the connection lives: nobody counts them,
/// and 640 connections have 260 MB. A TLS record has 16 KiB at most, and a header of an API server 1 KiB, or with a
/// bearer token some more.
pub(super) const READ_BUFFER: usize = 16 * 1024;

/// Serves until a stop signal, and until the last connection has ended or the drain deadline has passed.
pub(super) async fn serve(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    state: Arc<State>,
    mut stop: watch::Receiver<Stop>,
) {
    let port = Port {
        acceptor: TlsAcceptor::from(config),
        router: routes::router(Arc::clone(&state)),
        table: Table::new(state.limits.connections, state.limits.connections_per_peer),
        state: Arc::clone(&state),
    };
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => port.take(stream, peer, &mut connections),
            Err(error) => {
                state.metrics.accept_error();
                tracing::warn!(%error, "accepting a connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    if *stop.borrow() == Stop::Drain {
        // What the kernel has taken for us already is answered as well; closing the listener would reset it.
        while let Ok(Ok((stream, peer))) = tokio::time::timeout(Duration::ZERO, listener.accept()).await {
            port.take(stream, peer, &mut connections);
        }
        drop(listener);
        drain(&port.table, &state.limits, connections, stop).await;
    }
}

/// Waits for the end of what is open. Answers close their connections; one that is idle is left to its client, which may
/// use it in the very moment in which we close it, and does not send a POST again.
async fn drain(
    table: &Table,
    limits: &Limits,
    mut connections: JoinSet<()>,
    mut stop: watch::Receiver<Stop>,
) {
    let mut ended = pin!(async { while connections.join_next().await.is_some() {} });
    let closing = async {
        tokio::time::sleep(limits.drain).await;
        table.close_all();
        tokio::time::sleep(limits.finish).await;
    };
    tokio::select! {
        () = &mut ended => tracing::info!("stopped: all connections closed"),
        () = closing => tracing::warn!("stopped: deadline reached with open connections"),
        _ = stop.changed() => tracing::warn!("stopped immediately"),
    }
}

/// What all connections of the port have in common.
struct Port {
    acceptor: TlsAcceptor,
    router: Router,
    table: Arc<Table>,
    state: Arc<State>,
}

impl Port {
    /// Serves a connection, or closes it at once where there are too many: before its handshake, which costs more than
    /// any answer.
    fn take(&self, stream: TcpStream, peer: SocketAddr, connections: &mut JoinSet<()>) {
        let watch = Watch::new();
        let place = match self.table.take(peer.ip(), &watch) {
            Ok(place) => place,
            Err(refused) => {
                self.state.metrics.shed(match refused {
                    Refused::Peer => Shed::PeerConnections,
                    Refused::Full => Shed::Connections,
                });
                return;
            }
        };
        if let Some(waits) = place.made_room {
            self.state.metrics.shed(match waits {
                Waits::Idle => Shed::Idle,
                Waits::Handshake => Shed::UnfinishedHandshake,
                Waits::Header => Shed::SlowHeader,
                Waits::Body => Shed::SlowBody,
            });
        }
        let connection = Connection {
            acceptor: self.acceptor.clone(),
            router: self.router.clone(),
            state: Arc::clone(&self.state),
            caller: Caller { address: peer.ip().to_canonical(), watch },
        };
        connections.spawn(connection.serve(stream, place));
    }
}

struct Connection {
    acceptor: TlsAcceptor,
    router: Router,
    state: Arc<State>,
    caller: Caller,
}

impl Connection {
    async fn serve(self, stream: TcpStream, _place: Place) {
        let Self { acceptor, router, state, caller } = self;
        let watch = Arc::clone(&caller.watch);
        let _ = stream.set_nodelay(true);
        let handshake = tokio::select! {
            handshake = tokio::time::timeout(state.limits.handshake, acceptor.accept(stream)) => handshake,
            () = watch.asked_to_make_room() => {
                state.metrics.handshake(Handshake::Timeout);
                return;
            }
        };
        let tls = match handshake {
            Ok(Ok(tls)) => {
                state.metrics.handshake(Handshake::Ok);
                tls
            }
            Ok(Err(error)) => {
                state.metrics.handshake(if of_client(&error) {
                    Handshake::Refused
                } else {
                    Handshake::Failed
                });
                tracing::debug!(%error, "TLS handshake failed");
                return;
            }
            Err(_) => {
                state.metrics.handshake(Handshake::Timeout);
                state.metrics.shed(Shed::SlowHandshake);
                return;
            }
        };
        state.metrics.connected();
        watch.handshake_ends();
        let old = age::old(state.limits.connection_age);
        let service = hyper::service::service_fn({
            let (watch, state) = (Arc::clone(&watch), Arc::clone(&state));
            move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(caller.clone());
                let (router, watch, state) = (router.clone(), Arc::clone(&watch), Arc::clone(&state));
                watch.request_begins();
                async move {
                    let mut response = router.oneshot(request.map(axum::body::Body::new)).await;
                    // The API server re-uses open connections to a pod that is going away
                    // (kubernetes/kubernetes#127335), and sends nothing to one that came later.
                    if (state.draining.load(Ordering::Acquire) || watch.lived() >= old)
                        && let Ok(response) = &mut response
                    {
                        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                    }
                    watch.request_ends();
                    response
                }
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(state.limits.idle)
            .max_buf_size(READ_BUFFER)
            .serve_connection(TokioIo::new(Watched::new(tls, Arc::clone(&watch))), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            outcome = &mut connection => outcome,
            slow = watch.too_slow(state.limits.header, state.limits.write) => {
                state.metrics.shed(match slow {
                    Slow::Header => Shed::SlowHeader,
                    Slow::Answer => Shed::SlowAnswer,
                });
                tracing::debug!(?slow, "connection closed: client too slow");
                Ok(())
            }
            () = watch.asked_to_close() => {
                connection.as_mut().graceful_shutdown();
                let grace = if state.draining.load(Ordering::Acquire) { FIRST_REQUEST } else { Duration::ZERO };
                tokio::select! {
                    outcome = &mut connection => outcome,
                    () = unused(&watch, grace) => Ok(()),
                    _ = watch.too_slow(state.limits.header, state.limits.write) => Ok(()),
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "connection failed");
        }
        state.metrics.disconnected();
    }
}

/// Whether a handshake failed for want of the right client certificate.
fn of_client(error: &std::io::Error) -> bool {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(of_tls, Some(rustls::Error::NoCertificatesPresented | rustls::Error::InvalidCertificate(_)))
}

/// Ends once nothing is under way on a connection that is to end. hyper itself closes those that had a request; of one
/// that never had any it waits for the first, and of one in the middle of a header or a body for the rest.
async fn unused(watch: &Watch, grace: Duration) {
    tokio::time::sleep(grace).await;
    while watch.idle_for().is_none() && !watch.can_go() {
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}
