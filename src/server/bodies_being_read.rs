//! Bodies that are not complete, of all addresses. A client may send a part of a body and then nothing more, so that its bytes
//! stay in memory until the time for bodies is over. If memory runs out, such a body of the address that holds most of them
//! makes room for an address that holds less.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How much is made room for at once (bytes).
const ROOM: usize = 256 * 1024;
/// Most bodies that make room at once (count).
const MOST_AT_ONCE: usize = 16;
/// A body that is incomplete for this long may have to make room. All of a body from an API server arrives within milliseconds.
const MIN_AGE: Duration = Duration::from_millis(500);
/// The address that makes room holds at least this many times as much as the other one: of equal addresses, none gives way to
/// another.
const TIMES_AS_MUCH: usize = 2;

/// The bodies.
#[derive(Debug, Default)]
pub(super) struct BodiesBeingRead(Mutex<Bodies>);

#[derive(Debug, Default)]
struct Bodies {
    next: u64,
    /// By number: the oldest one comes first.
    all: BTreeMap<u64, Body>,
    /// Bytes by address.
    bytes: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Body {
    peer: IpAddr,
    since: Instant,
    bytes: usize,
    make_room: Arc<Notify>,
}

/// One of them. When it is dropped, the body is complete, or is read no more.
#[derive(Debug)]
pub(super) struct BodyBeingRead {
    all: Arc<BodiesBeingRead>,
    number: u64,
    make_room: Arc<Notify>,
}

impl BodiesBeingRead {
    fn bodies(&self) -> MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body of an address, with no bytes so far.
    pub(super) fn add_body_of_address(self: &Arc<Self>, peer: IpAddr) -> BodyBeingRead {
        let mut bodies = self.bodies();
        let number = bodies.next;
        bodies.next += 1;
        let make_room = Arc::new(Notify::new());
        bodies.all.insert(
            number,
            Body { peer, since: Instant::now(), bytes: 0, make_room: Arc::clone(&make_room) },
        );
        BodyBeingRead { all: Arc::clone(self), number, make_room }
    }

    /// Asks old bodies of the address that holds most to make room for one of another address, which holds so many bytes besides
    /// that one; `false` if no other address holds much more.
    pub(super) fn ask_to_make_room_for(&self, peer: IpAddr, besides: usize) -> bool {
        self.ask_at(Instant::now(), peer, besides)
    }

    fn ask_at(&self, now: Instant, peer: IpAddr, besides: usize) -> bool {
        let mut bodies = self.bodies();
        let mut room = 0;
        for _ in 0..MOST_AT_ONCE {
            let held = |peer: &IpAddr| bodies.bytes.get(peer).copied().unwrap_or_default();
            let old = bodies.all.iter().take_while(|(_, body)| now.duration_since(body.since) >= MIN_AGE);
            let others = old.filter(|(_, body)| body.peer != peer && body.bytes > 0);
            let of_most = others.max_by_key(|(number, body)| (held(&body.peer), Reverse(**number)));
            let Some((number, body)) = of_most else { break };
            let number = *number;
            if held(&body.peer) < besides.saturating_mul(TIMES_AS_MUCH) {
                break;
            }
            room += bodies.remove(number);
            if room >= ROOM {
                break;
            }
        }
        room > 0
    }
}

impl Bodies {
    /// Forgets a body, and asks it to make room. Its bytes.
    fn remove(&mut self, number: u64) -> usize {
        let Some(body) = self.all.remove(&number) else { return 0 };
        body.make_room.notify_one();
        self.count(body.peer, body.bytes, 0);
        body.bytes
    }

    fn count(&mut self, peer: IpAddr, before: usize, now: usize) {
        let bytes = self.bytes.entry(peer).or_default();
        *bytes = bytes.saturating_sub(before).saturating_add(now);
        if *bytes == 0 {
            self.bytes.remove(&peer);
        }
    }
}

impl BodyBeingRead {
    /// Records how many bytes are there.
    pub(super) fn record_bytes(&self, bytes: usize) {
        let mut bodies = self.all.bodies();
        let Some(body) = bodies.all.get_mut(&self.number) else { return };
        let (peer, before) = (body.peer, std::mem::replace(&mut body.bytes, bytes));
        bodies.count(peer, before, bytes);
    }

    /// Completes when the body has to make room.
    pub(super) async fn wait_until_asked_to_make_room(&self) {
        self.make_room.notified().await;
    }
}

impl Drop for BodyBeingRead {
    fn drop(&mut self) {
        self.all.bodies().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn body(all: &Arc<BodiesBeingRead>, last: u8, bytes: usize) -> BodyBeingRead {
        let body = all.add_body_of_address(peer(last));
        body.record_bytes(bytes);
        body
    }

    fn is_asked(body: &BodyBeingRead) -> bool {
        pin!(body.wait_until_asked_to_make_room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn the_oldest_bodies_of_who_holds_most_make_room() {
        let all: Arc<BodiesBeingRead> = Arc::default();
        let most: Vec<_> = (0..4).map(|_| body(&all, 1, 200 * 1024)).collect();
        let less = body(&all, 2, 300 * 1024);
        assert!(!all.ask_to_make_room_for(peer(3), 0), "all of them are new");
        let later = Instant::now() + MIN_AGE;
        assert!(all.ask_at(later, peer(3), 0));
        assert_eq!(most.iter().map(is_asked).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(!is_asked(&less));
        // Those that are left are asked next, of the addresses in turn.
        assert!(all.ask_at(later, peer(3), 0));
        assert_eq!((is_asked(&most[2]), is_asked(&less), is_asked(&most[3])), (true, true, false));
    }

    #[test]
    fn nobody_makes_room_for_who_holds_as_much() {
        let all: Arc<BodiesBeingRead> = Arc::default();
        let (one, other) = (body(&all, 1, 100), body(&all, 2, 10));
        let later = Instant::now() + MIN_AGE;
        assert!(!all.ask_at(later, peer(2), 51));
        assert!(!all.ask_at(later, peer(1), 6), "the own body does not make room");
        assert!(all.ask_at(later, peer(2), 50));
        assert!(is_asked(&one) && !is_asked(&other));
        drop((one, other));
        assert!(all.bodies().all.is_empty() && all.bodies().bytes.is_empty());
        assert!(!all.ask_at(later, peer(3), 0));
    }
}
