//! The connections that are open: how many, whose, and which of them can go when there are too many.

use super::watch::{Waits, Watch};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a connection is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its address has as many as it may have.
    Peer,
    /// There are too many, and none of them can go.
    Full,
}

/// Every open connection of a port.
#[derive(Debug)]
pub(super) struct Table {
    most: usize,
    per_peer: usize,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    next: u64,
    open: HashMap<u64, (IpAddr, Arc<Watch>)>,
    peers: HashMap<IpAddr, usize>,
}

impl Rows {
    fn remove(&mut self, number: u64) -> Option<Arc<Watch>> {
        let (peer, watch) = self.open.remove(&number)?;
        if let Some(count) = self.peers.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&peer);
            }
        }
        Some(watch)
    }

    /// The connection that is missed least among those that wait: of the address that has most, the one that has waited
    /// for the longest. Not the idle ones alone: a handshake that never ends costs its client nothing, and half a header
    /// little, so who opens connections and says no more could otherwise keep everybody out.
    fn dispensable(&self) -> Option<(u64, Waits)> {
        let candidates = self.open.iter().filter_map(|(number, (peer, watch))| {
            let (waits, age) = watch.waits()?;
            Some(((self.peers.get(peer).copied()?, age, Reverse(*number)), waits))
        });
        candidates.max_by_key(|(key, _)| *key).map(|((_, _, Reverse(number)), waits)| (number, waits))
    }
}

/// A connection's place; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    table: Arc<Table>,
    number: u64,
    /// What the connection waited for that had to go for it.
    pub(super) made_room: Option<Waits>,
}

impl Table {
    pub(super) fn new(most: usize, per_peer: usize) -> Arc<Self> {
        Arc::new(Self { most, per_peer, rows: Mutex::default() })
    }

    /// A place for a connection. Where there is none, another is told to make room.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr, watch: &Arc<Watch>) -> Result<Place, Refused> {
        // A socket of both families gives IPv4 addresses in a form of IPv6.
        let peer = peer.to_canonical();
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.peers.get(&peer).is_some_and(|count| *count >= self.per_peer) {
            return Err(Refused::Peer);
        }
        let mut made_room = None;
        if rows.open.len() >= self.most {
            let (number, waits) = rows.dispensable().ok_or(Refused::Full)?;
            // It leaves the table before it is gone, so that it is not chosen twice.
            if let Some(other) = rows.remove(number) {
                other.evict();
                made_room = Some(waits);
            }
        }
        let number = rows.next;
        rows.next += 1;
        rows.open.insert(number, (peer, Arc::clone(watch)));
        *rows.peers.entry(peer).or_default() += 1;
        Ok(Place { table: Arc::clone(self), number, made_room })
    }
}

impl Table {
    /// Tells every connection to end once it is idle.
    pub(super) fn close_all(&self) {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut numbers: Vec<&u64> = rows.open.keys().collect();
        numbers.sort_unstable();
        for (_, watch) in numbers.into_iter().filter_map(|number| rows.open.get(number)) {
            watch.close();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.rows.lock().unwrap_or_else(PoisonError::into_inner).remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn idle() -> Arc<Watch> {
        let watch = Watch::new();
        watch.request_ends();
        watch.written();
        watch
    }

    #[test]
    fn a_place_is_free_again() {
        let table = Table::new(2, 1);
        let place = table.take(peer(1), &Watch::new()).unwrap();
        assert_eq!(table.take(peer(1), &Watch::new()).unwrap_err(), Refused::Peer);
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(table.take(mapped, &Watch::new()).unwrap_err(), Refused::Peer, "the same address");
        drop(place);
        assert!(table.take(peer(1), &Watch::new()).is_ok());
        assert!(table.rows.lock().unwrap().peers.is_empty(), "an address without connections is forgotten");
    }

    /// A connection in the middle of a request.
    fn busy() -> Arc<Watch> {
        let watch = Watch::new();
        watch.request_begins();
        watch
    }

    #[test]
    fn who_has_most_makes_room_and_busy_connections_stay() {
        let table = Table::new(3, 3);
        let (crowd, alone) = ([idle(), busy()], idle());
        let _places = [
            table.take(peer(1), &alone).unwrap(),
            table.take(peer(2), &crowd[0]).unwrap(),
            table.take(peer(2), &crowd[1]).unwrap(),
        ];
        let place = table.take(peer(3), &busy()).unwrap();
        assert_eq!(place.made_room, Some(Waits::Idle));
        assert!(crowd[0].is_to_close() && !alone.is_to_close());
        let _second = table.take(peer(3), &busy()).unwrap();
        assert!(alone.is_to_close(), "the last idle one");
        assert_eq!(table.take(peer(4), &busy()).unwrap_err(), Refused::Full);
    }

    #[test]
    fn the_oldest_handshake_of_who_has_most_makes_room() {
        let table = Table::new(4, 4);
        let (alone, older) = ([Watch::new(), idle()], Watch::new());
        std::thread::sleep(std::time::Duration::from_millis(5));
        let crowd = [older, Watch::new()];
        let _places = [
            table.take(peer(1), &alone[0]).unwrap(),
            table.take(peer(2), &crowd[0]).unwrap(),
            table.take(peer(2), &crowd[1]).unwrap(),
            table.take(peer(3), &alone[1]).unwrap(),
        ];
        let place = table.take(peer(4), &busy()).unwrap();
        assert_eq!(place.made_room, Some(Waits::Handshake));
        assert!(crowd[0].is_to_close() && !crowd[1].is_to_close(), "the older one");
        assert!(alone.iter().all(|watch| !watch.is_to_close()));
    }
}
