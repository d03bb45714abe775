//! Which connection closes when there are too many.

use super::connection_activity_and_slow_clients::{ConnectionWatch, Waits};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// A light user has at most this part (1/16) of all connections, 64 of 1,024: an API server keeps 25 idle ones.
const DIVISOR_OF_LIGHT_USER: usize = 16;

/// A connection that can go.
#[derive(Debug)]
pub(super) struct Dispensable {
    pub(super) number: u64,
    pub(super) waits: Waits,
    /// In the middle of a header, a body or an answer.
    pub(super) coming: bool,
}

/// The connection to close for a newcomer: among the connections that wait for their client, of the address with the
/// most, the one that has waited longest, and before others one that has ended. Not only idle ones: an unfinished handshake
/// costs its client nothing, and half a header little, so a client that opens connections and sends nothing more, or takes no
/// answers, could otherwise keep everybody out.
///
/// A header, body or answer in transfer is not closed, unless its address has more than its share and more than the newcomer's:
/// a client that sends halves in turns never waits for long. An address with more than its share closes no connection
/// of light users, such as the idle connections of an API server.
pub(super) fn choose_connection_to_evict(
    open: &HashMap<u64, (IpAddr, Arc<ConnectionWatch>)>,
    peers: &HashMap<IpAddr, usize>,
    most: usize,
    newcomer: IpAddr,
) -> Option<Dispensable> {
    let own = peers.get(&newcomer).copied().unwrap_or_default();
    // Addresses that have connections, with that of the newcomer.
    let addresses = peers.len() + usize::from(!peers.contains_key(&newcomer));
    let share = most / addresses;
    let candidates = open.iter().filter_map(|(number, (peer, watch))| {
        let (waits, age) = watch.awaited_from_client_and_how_long()?;
        let count = peers.get(peer).copied()?;
        let coming = waits.may_be_in_transit(age);
        let spared = own > share && count < own && count <= most / DIVISOR_OF_LIGHT_USER;
        if spared || coming && count <= share.max(own) {
            return None;
        }
        Some(((count, waits == Waits::End, !coming, age, Reverse(*number)), waits))
    });
    let ((_, _, waited, _, Reverse(number)), waits) = candidates.max_by_key(|(key, _)| *key)?;
    Some(Dispensable { number, waits, coming: !waited })
}
