//! Which connection closes when there are too many.

use super::connection_activity_and_slow_clients::{ConnectionWatch, Waits};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// A light user has at most this part (1/16) of all connections, 64 of 1,024: an API server keeps 25 idle ones.
const DIVISOR_OF_LIGHT_USER: usize = 16;

/// The open connections of each address.
pub(super) type ConnectionsByAddress = HashMap<IpAddr, ConnectionsByNumber>;

/// The open connections of one address, in the order in which they came.
pub(super) type ConnectionsByNumber = BTreeMap<u64, Arc<ConnectionWatch>>;

/// A connection that can go.
#[derive(Debug)]
pub(super) struct Dispensable {
    pub(super) peer: IpAddr,
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
///
/// In a flood this happens for each new connection. So the clock is read once, and only the connections of the address with the most
/// are looked at, unless none of them can go.
pub(super) fn choose_connection_to_evict(
    open: &ConnectionsByAddress,
    most: usize,
    newcomer: IpAddr,
) -> Option<Dispensable> {
    let now = Instant::now();
    let own = open.get(&newcomer).map_or(0, ConnectionsByNumber::len);
    // Addresses that have connections, with that of the newcomer.
    let addresses = open.len() + usize::from(own == 0);
    let share = most / addresses;
    let mut by_count: Vec<_> =
        open.iter().map(|(peer, connections)| (connections.len(), *peer, connections)).collect();
    by_count.sort_unstable_by_key(|(count, ..)| Reverse(*count));
    let of_count = |alike: &[(usize, IpAddr, &ConnectionsByNumber)]| {
        let count = alike.first()?.0;
        if own > share && count < own && count <= most / DIVISOR_OF_LIGHT_USER {
            return None;
        }
        let connections = alike
            .iter()
            .flat_map(|(_, peer, own)| own.iter().map(move |(number, watch)| (*peer, *number, watch)));
        let candidates = connections.filter_map(|(peer, number, watch)| {
            let (waits, age) = watch.awaited_from_client_and_how_long(now)?;
            let coming = waits.may_be_in_transit(age);
            let can_go = !coming || count > share.max(own);
            can_go.then_some((
                (waits == Waits::End, !coming, age, Reverse(number)),
                Dispensable { peer, number, waits, coming },
            ))
        });
        candidates.max_by_key(|(key, _)| *key).map(|(_, chosen)| chosen)
    };
    by_count.chunk_by(|one, next| one.0 == next.0).find_map(of_count)
}
