//! The open connections, by address. Which of them closes when there are too many: [`super::which_connection_closes`].

use super::connection_activity_and_slow_clients::{ConnectionWatch, Waits};
use super::which_connection_closes::{self, ConnectionsByAddress, Dispensable};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its address is at its limit.
    Peer,
    /// The table is full, and no connection can be closed.
    Full,
}

/// Every open connection of a port.
#[derive(Debug)]
pub(super) struct OpenConnections {
    most: usize,
    per_peer: usize,
    rows: Mutex<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    next: u64,
    /// Of all addresses (count).
    count: usize,
    by_address: ConnectionsByAddress,
}

impl Rows {
    fn add(&mut self, peer: IpAddr, watch: &Arc<ConnectionWatch>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.count += 1;
        self.by_address.entry(peer).or_default().insert(number, Arc::clone(watch));
        number
    }

    fn remove(&mut self, peer: IpAddr, number: u64) -> Option<Arc<ConnectionWatch>> {
        let own = self.by_address.get_mut(&peer)?;
        let watch = own.remove(&number)?;
        self.count -= 1;
        if own.is_empty() {
            self.by_address.remove(&peer);
        }
        Some(watch)
    }

    fn count_of_address(&self, peer: IpAddr) -> usize {
        self.by_address.get(&peer).map_or(0, |own| own.len())
    }
}

/// A connection's place; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    table: Arc<OpenConnections>,
    peer: IpAddr,
    number: u64,
    /// What the connection that made room was waiting for.
    pub(super) made_room: Option<Waits>,
}

impl OpenConnections {
    pub(super) fn new(most: usize, per_peer: usize) -> Arc<Self> {
        Arc::new(Self { most, per_peer, rows: Mutex::default() })
    }

    /// A place for a connection. If the table is full, another connection has to make room.
    pub(super) fn take_place_evict_or_refuse(
        self: &Arc<Self>,
        peer: IpAddr,
        watch: &Arc<ConnectionWatch>,
    ) -> Result<Place, Refused> {
        // A dual-stack socket shows IPv4 addresses as IPv4-mapped IPv6.
        let peer = peer.to_canonical();
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.count_of_address(peer) >= self.per_peer {
            return Err(Refused::Peer);
        }
        let mut made_room = None;
        if rows.count >= self.most {
            let Dispensable { peer, number, waits, coming } =
                which_connection_closes::choose_connection_to_evict(&rows.by_address, self.most, peer)
                    .ok_or(Refused::Full)?;
            // It leaves the table before it is gone, so that it is not chosen twice.
            if let Some(other) = rows.remove(peer, number) {
                other.ask_to_make_room(coming);
                made_room = Some(waits);
            }
        }
        let number = rows.add(peer, watch);
        Ok(Place { table: Arc::clone(self), peer, number, made_room })
    }
}

impl OpenConnections {
    /// Asks every connection to end once it is idle.
    pub(super) fn ask_all_to_end_once_idle(&self) {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watches: Vec<_> = rows.by_address.values().flatten().collect();
        watches.sort_unstable_by_key(|(number, _)| **number);
        for (_, watch) in watches {
            watch.ask_to_end_once_idle();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.rows.lock().unwrap_or_else(PoisonError::into_inner).remove(self.peer, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn idle() -> Arc<ConnectionWatch> {
        let watch = ConnectionWatch::new();
        watch.record_answer_ready();
        watch.record_all_written();
        watch
    }

    #[test]
    fn a_place_is_free_again() {
        let table = OpenConnections::new(2, 1);
        let place = table.take_place_evict_or_refuse(peer(1), &ConnectionWatch::new()).unwrap();
        assert_eq!(
            table.take_place_evict_or_refuse(peer(1), &ConnectionWatch::new()).unwrap_err(),
            Refused::Peer
        );
        let mapped = "::ffff:10.0.0.1".parse().unwrap();
        assert_eq!(
            table.take_place_evict_or_refuse(mapped, &ConnectionWatch::new()).unwrap_err(),
            Refused::Peer,
            "the same address"
        );
        drop(place);
        assert!(table.take_place_evict_or_refuse(peer(1), &ConnectionWatch::new()).is_ok());
        assert!(
            table.rows.lock().unwrap().by_address.is_empty(),
            "an address without connections is forgotten"
        );
    }

    /// A connection in the middle of a body.
    fn reading() -> Arc<ConnectionWatch> {
        let watch = ConnectionWatch::new();
        watch.record_complete_header();
        watch
    }

    /// One whose request is being decided.
    fn busy() -> Arc<ConnectionWatch> {
        let watch = reading();
        watch.record_complete_body();
        watch
    }

    fn places(table: &Arc<OpenConnections>, last: u8, watches: &[Arc<ConnectionWatch>]) -> Vec<Place> {
        watches.iter().map(|watch| table.take_place_evict_or_refuse(peer(last), watch).unwrap()).collect()
    }

    fn gone(watches: &[Arc<ConnectionWatch>]) -> usize {
        watches.iter().filter(|watch| watch.is_to_close()).count()
    }

    /// Two addresses whose connections are never idle and never stalled, and an API server.
    #[test]
    fn who_sends_halves_in_turns_keeps_nobody_out() {
        let table = OpenConnections::new(32, 20);
        let crowd = |count: usize| (0..count).map(|_| reading()).collect::<Vec<_>>();
        let (idle, one, two) = ([idle(), idle()], crowd(16), crowd(14));
        let mut open = places(&table, 1, &idle);
        open.extend(places(&table, 2, &one));
        open.extend(places(&table, 3, &two));
        // Its own connections come and go, those of its neighbour and the connections of light users do not.
        let refused = table.take_place_evict_or_refuse(peer(2), &reading()).unwrap_err();
        assert_eq!((refused, gone(&idle), gone(&one), gone(&two)), (Refused::Full, 0, 0, 0));
        for round in 1..=4 {
            let place = table.take_place_evict_or_refuse(peer(1), &busy()).unwrap();
            assert_eq!((place.made_room, gone(&idle)), (Some(Waits::Body), 0), "round {round}");
            open.push(place);
        }
        assert_eq!((gone(&one), gone(&two)), (3, 1), "always of who has most");
        assert!(
            one.iter().chain(&two).all(|watch| watch.is_to_close() == watch.must_make_room_and_is_waiting()),
            "at once"
        );
        // Until it has its share; then its own idle ones go.
        for _ in 0..20 {
            open.extend(table.take_place_evict_or_refuse(peer(1), &busy()));
        }
        assert_eq!(table.take_place_evict_or_refuse(peer(1), &busy()).unwrap_err(), Refused::Full);
        let count = |last| table.rows.lock().unwrap().count_of_address(peer(last));
        assert_eq!((count(1), count(2), count(3), gone(&idle)), (11, 10, 11, 2));
    }

    #[test]
    fn requests_on_their_way_are_waited_for_within_a_share() {
        let table = OpenConnections::new(4, 4);
        let (calm, crowd) = ([reading(), reading()], [reading(), busy()]);
        let _open = (places(&table, 1, &calm), places(&table, 2, &crowd));
        let place = table.take_place_evict_or_refuse(peer(3), &busy());
        assert_eq!(place.unwrap().made_room, Some(Waits::Body), "a share is one of four");
        assert_eq!(gone(&calm) + gone(&crowd), 1);
        let table = OpenConnections::new(4, 4);
        let _open = (places(&table, 1, &calm), places(&table, 2, &crowd));
        assert_eq!(
            table.take_place_evict_or_refuse(peer(1), &busy()).unwrap_err(),
            Refused::Full,
            "a share is two of four"
        );
    }

    #[test]
    fn who_has_most_makes_room_and_busy_connections_stay() {
        let table = OpenConnections::new(3, 3);
        let (crowd, alone) = ([idle(), busy()], idle());
        let _places = [
            table.take_place_evict_or_refuse(peer(1), &alone).unwrap(),
            table.take_place_evict_or_refuse(peer(2), &crowd[0]).unwrap(),
            table.take_place_evict_or_refuse(peer(2), &crowd[1]).unwrap(),
        ];
        let place = table.take_place_evict_or_refuse(peer(3), &busy()).unwrap();
        assert_eq!(place.made_room, Some(Waits::Idle));
        assert!(crowd[0].is_to_close() && !alone.is_to_close());
        let _second = table.take_place_evict_or_refuse(peer(3), &busy()).unwrap();
        assert!(alone.is_to_close(), "the last idle one");
        assert_eq!(table.take_place_evict_or_refuse(peer(4), &busy()).unwrap_err(), Refused::Full);
    }

    /// An answer that its client takes no part of, and a connection that ended during its decision.
    #[test]
    fn untaken_answers_and_ended_connections_keep_nobody_out() {
        let answering = reading();
        answering.record_answer_ready();
        let ended = busy();
        ended.record_end();
        let crowd = [idle(), answering, ended];
        let table = OpenConnections::new(4, 4);
        let mut open = places(&table, 1, &crowd);
        open.extend(places(&table, 2, &[busy()]));
        for waits in [Waits::End, Waits::Idle] {
            let place = table.take_place_evict_or_refuse(peer(2), &busy()).unwrap();
            assert_eq!(place.made_room, Some(waits));
            open.push(place);
        }
        // The answer may be on its way, for an address with at most its share.
        assert_eq!(table.take_place_evict_or_refuse(peer(3), &busy()).unwrap_err(), Refused::Full);
        let table = OpenConnections::new(4, 4);
        let answering = [(); 4].map(|()| {
            let watch = reading();
            watch.record_answer_ready();
            watch
        });
        let _open = places(&table, 1, &answering);
        let place = table.take_place_evict_or_refuse(peer(2), &busy()).unwrap();
        assert_eq!((place.made_room, gone(&answering)), (Some(Waits::Answer), 1));
        // Who decides on a further request is in use.
        let deciding = busy();
        deciding.record_answer_ready();
        deciding.record_complete_header();
        deciding.record_complete_body();
        assert_eq!(deciding.awaited_from_client_and_how_long(std::time::Instant::now()), None);
    }

    #[test]
    fn the_oldest_handshake_of_who_has_most_makes_room() {
        let table = OpenConnections::new(4, 4);
        let (alone, older) = ([ConnectionWatch::new(), idle()], ConnectionWatch::new());
        std::thread::sleep(std::time::Duration::from_millis(5));
        let crowd = [older, ConnectionWatch::new()];
        let _places = [
            table.take_place_evict_or_refuse(peer(1), &alone[0]).unwrap(),
            table.take_place_evict_or_refuse(peer(2), &crowd[0]).unwrap(),
            table.take_place_evict_or_refuse(peer(2), &crowd[1]).unwrap(),
            table.take_place_evict_or_refuse(peer(3), &alone[1]).unwrap(),
        ];
        let place = table.take_place_evict_or_refuse(peer(4), &busy()).unwrap();
        assert_eq!(place.made_room, Some(Waits::Handshake));
        assert!(crowd[0].is_to_close() && !crowd[1].is_to_close(), "the older one");
        assert!(alone.iter().all(|watch| !watch.is_to_close()));
    }
}
