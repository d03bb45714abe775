//! Connections to peers.

use crate::rdma::{Reading, Unreadable};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::bounded_files::reason;

/// Most peers that are tried.
const MAX_PEERS: usize = 16;
/// Time for one connection, and for all of them together with the names' resolution.
const DEADLINE_OF_ONE: Duration = Duration::from_secs(1);
const DEADLINE_OF_ALL: Duration = Duration::from_secs(2);

/// Whether each peer accepts a connection. A resolver that does not answer holds nothing up: its thread is left behind.
pub(super) fn connect_to_peers(peers: &[String]) -> Vec<(String, Reading<()>)> {
    let end = Instant::now() + DEADLINE_OF_ALL;
    let tried: Vec<_> = peers
        .iter()
        .take(MAX_PEERS)
        .map(|peer| {
            let (sender, answer) = channel();
            let name = peer.clone();
            thread::spawn(move || sender.send(connect(&name)));
            (peer.clone(), answer)
        })
        .collect();
    tried
        .into_iter()
        .map(|(peer, answer)| {
            let result = answer.recv_timeout(end.saturating_duration_since(Instant::now()));
            let result = result.unwrap_or_else(|error| {
                Err(Unreadable::NotRead(match error {
                    RecvTimeoutError::Timeout => "no answer within 2 s",
                    RecvTimeoutError::Disconnected => "the attempt ended without an answer",
                }))
            });
            (peer, result)
        })
        .collect()
}

fn connect(peer: &str) -> Reading<()> {
    let mut addresses = peer.to_socket_addrs().map_err(|error| reason(&error))?;
    let address = addresses.next().ok_or(Unreadable::Missing)?;
    TcpStream::connect_timeout(&address, DEADLINE_OF_ONE).map(drop).map_err(|error| reason(&error))
}
