//! The accept loop. A handshake never holds up another connection, an error never spins, and the end waits for
//! what is under way.

use super::connection::{Watch, Watched};
use super::metrics::Handshake;
use super::{State, Stop, routes};
use axum::Router;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// Pause after an accept that failed; out of file descriptors it would otherwise fail a million times a second.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until told to stop, and until the last connection has ended or the drain deadline has passed.
pub(super) async fn serve(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    state: Arc<State>,
    mut stop: watch::Receiver<Stop>,
) {
    let acceptor = TlsAcceptor::from(config);
    let router = routes::router(Arc::clone(&state));
    let permits = Arc::new(Semaphore::new(state.limits.connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        // A connection over the limit waits in the kernel's queue until another one ends.
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stop.changed() => break,
        };
        let Ok(permit) = permit else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.changed() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = Connection {
                    acceptor: acceptor.clone(),
                    router: router.clone(),
                    state: Arc::clone(&state),
                    watcher: graceful.watcher(),
                };
                connections.spawn(connection.serve(stream, permit));
            }
            Err(error) => {
                state.metrics.accept_error();
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    if *stop.borrow() == Stop::Drain {
        let ended = async {
            graceful.shutdown().await;
            while connections.join_next().await.is_some() {}
        };
        tokio::select! {
            () = ended => tracing::info!("stopped: every connection ended"),
            () = tokio::time::sleep(state.limits.drain) => tracing::warn!("stopped: connections were left at the deadline"),
            _ = stop.changed() => tracing::warn!("stopped at once"),
        }
    }
}

struct Connection {
    acceptor: TlsAcceptor,
    router: Router,
    state: Arc<State>,
    watcher: hyper_util::server::graceful::Watcher,
}

impl Connection {
    async fn serve(self, stream: TcpStream, _permit: OwnedSemaphorePermit) {
        let Self { acceptor, router, state, watcher } = self;
        let _ = stream.set_nodelay(true);
        let tls = match tokio::time::timeout(state.limits.handshake, acceptor.accept(stream)).await {
            Ok(Ok(tls)) => {
                state.metrics.handshake(Handshake::Ok);
                tls
            }
            Ok(Err(error)) => {
                state.metrics.handshake(Handshake::Failed);
                tracing::debug!(%error, "TLS handshake failed");
                return;
            }
            Err(_) => {
                state.metrics.handshake(Handshake::Timeout);
                return;
            }
        };
        state.metrics.connected();
        let watch = Watch::new();
        let service = hyper::service::service_fn({
            let watch = Arc::clone(&watch);
            move |request: hyper::Request<Incoming>| {
                let (router, watch) = (router.clone(), Arc::clone(&watch));
                watch.request_begins();
                async move {
                    let response = router.oneshot(request.map(axum::body::Body::new)).await;
                    watch.request_ends();
                    response
                }
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(state.limits.idle)
            .serve_connection(TokioIo::new(Watched::new(tls, Arc::clone(&watch))), service);
        tokio::select! {
            outcome = watcher.watch(connection) => {
                if let Err(error) = outcome {
                    tracing::debug!(%error, "connection ended with an error");
                }
            }
            () = watch.too_slow(state.limits.header) => tracing::debug!("connection closed: its header came, or its answer was read, too slowly"),
        }
        state.metrics.disconnected();
    }
}
