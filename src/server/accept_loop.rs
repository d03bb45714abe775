//! The accept loop. A handshake never delays another connection, a failing accept never becomes a busy loop, and the end
//! waits for requests in progress.

use super::client_address_and_connection::Caller;
use super::connection_activity_and_slow_clients::{ConnectionWatch, Waits};
use super::default_limits_and_deadlines::Limits;
use super::metrics::Shed;
use super::open_connections::{OpenConnections, Refused};
use super::routes;
use super::serve_connection::Connection;
use super::shared_state::State;
use super::stop_signals::Stop;
use super::tls_handshake::TlsHandshakes;
use axum::Router;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Pause after an accept that failed; out of file descriptors it would otherwise fail a million times a second.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until a stop signal, and until the last connection has ended or the drain deadline has passed.
pub(super) async fn serve(
    listener: TcpListener,
    handshakes: TlsHandshakes,
    state: Arc<State>,
    mut stop: watch::Receiver<Stop>,
) {
    let port = Port {
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
    router: Router,
    table: Arc<OpenConnections>,
    state: Arc<State>,
    handshakes: TlsHandshakes,
}

impl Port {
    /// Serves a connection, or resets it if there are too many: before its handshake, which costs more than any answer. Of a
    /// connection that is closed, the kernel keeps what a client does not acknowledge.
    fn serve_or_close(&self, stream: TcpStream, peer: SocketAddr, connections: &mut JoinSet<()>) {
        let watch = ConnectionWatch::new();
        let place = match self.table.take_place_evict_or_refuse(peer.ip(), &watch) {
            Ok(place) => place,
            Err(refused) => {
                self.state.metrics.count_shed(match refused {
                    Refused::Peer => Shed::PeerConnections,
                    Refused::Full => Shed::Connections,
                });
                let _ = stream.set_zero_linger();
                return;
            }
        };
        let shed = place.made_room.and_then(|waits| match waits {
            Waits::End => None,
            Waits::Idle => Some(Shed::Idle),
            Waits::Handshake => Some(Shed::UnfinishedHandshake),
            Waits::Header => Some(Shed::SlowHeader),
            Waits::Body => Some(Shed::SlowBody),
            Waits::Answer => Some(Shed::SlowAnswer),
        });
        if let Some(shed) = shed {
            self.state.metrics.count_shed(shed);
        }
        let connection = Connection {
            router: self.router.clone(),
            state: Arc::clone(&self.state),
            handshakes: self.handshakes.clone(),
            caller: Caller { address: peer.ip().to_canonical(), watch },
        };
        connections.spawn(connection.serve(stream, place));
    }
}
