//! Bodies that are not complete, of all addresses. A client may send a part of a body and then nothing more, so that its bytes
//! stay in memory until the time for bodies is over. If memory runs out, such a body makes room for another one.

use super::fair_share_per_client_address::Size;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How much is made room for at once (bytes).
const ROOM: usize = 64 * 1024;
/// A body is stalled if less than [`PROGRESS`] of it arrives in this time. A body of an API server arrives much faster.
const STALLED_AFTER: Duration = Duration::from_millis(500);
/// What counts as progress (bytes).
const PROGRESS: usize = 32 * 1024;

/// The bodies.
#[derive(Debug, Default)]
pub(super) struct BodiesBeingRead(Mutex<Bodies>);

#[derive(Debug, Default)]
struct Bodies {
    next: u64,
    all: HashMap<u64, Body>,
}

#[derive(Debug)]
struct Body {
    peer: IpAddr,
    /// When it last made progress, and how many bytes were there.
    progress: (Instant, usize),
    /// Its share of the budget (bytes), and of which part.
    share: (usize, Size),
    make_room: Arc<Notify>,
}

/// One of them. When it is dropped, the body is complete, or is read no more.
#[derive(Debug)]
pub(super) struct BodyBeingRead {
    all: Arc<BodiesBeingRead>,
    number: u64,
    peer: IpAddr,
    make_room: Arc<Notify>,
}

impl BodiesBeingRead {
    fn bodies(&self) -> MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body, with no bytes so far.
    pub(super) fn add_body(self: &Arc<Self>, peer: IpAddr) -> BodyBeingRead {
        let mut bodies = self.bodies();
        let number = bodies.next;
        bodies.next += 1;
        let make_room = Arc::new(Notify::new());
        let body = Body {
            peer,
            progress: (Instant::now(), 0),
            share: (0, Size::Small),
            make_room: Arc::clone(&make_room),
        };
        bodies.all.insert(number, body);
        BodyBeingRead { all: Arc::clone(self), number, peer, make_room }
    }

    /// Asks the bodies that have stalled for the longest time to make room in a part of the budget, of one address or of all;
    /// `false` if none has.
    pub(super) fn ask_stalled_bodies_to_make_room(&self, size: Size, of: Option<IpAddr>) -> bool {
        self.ask_at(Instant::now(), size, of)
    }

    fn ask_at(&self, now: Instant, size: Size, of: Option<IpAddr>) -> bool {
        let mut bodies = self.bodies();
        let is_stalled = |body: &Body| now.duration_since(body.progress.0) >= STALLED_AFTER;
        let is_asked = |body: &Body| body.share.1 == size && of.is_none_or(|peer| peer == body.peer);
        let stalled = bodies.all.iter().filter(|(_, body)| is_stalled(body) && is_asked(body));
        let mut stalled: Vec<(Instant, u64)> =
            stalled.map(|(number, body)| (body.progress.0, *number)).collect();
        stalled.sort_unstable();
        let mut room = 0;
        for (_, number) in stalled {
            if room >= ROOM {
                break;
            }
            let Some(body) = bodies.all.remove(&number) else { continue };
            body.make_room.notify_one();
            room += body.share.0;
        }
        room > 0
    }
}

impl BodyBeingRead {
    /// Records how many bytes are there, and the share of the budget (bytes). A body that was asked to make room, and then got
    /// more bytes, counts as new.
    pub(super) fn record_bytes(&mut self, bytes: usize, share: (usize, Size)) {
        if !self.all.bodies().all.contains_key(&self.number) {
            *self = self.all.add_body(self.peer);
        }
        if let Some(body) = self.all.bodies().all.get_mut(&self.number) {
            body.share = share;
            if bytes >= body.progress.1 + PROGRESS {
                body.progress = (Instant::now(), bytes);
            }
        }
    }

    /// Completes when the body has to make room.
    pub(super) async fn wait_until_asked_to_make_room(&self) {
        self.make_room.notified().await;
    }
}

impl Drop for BodyBeingRead {
    fn drop(&mut self) {
        self.all.bodies().all.remove(&self.number);
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

    fn body(all: &Arc<BodiesBeingRead>, bytes: usize, size: Size) -> BodyBeingRead {
        let mut body = all.add_body(peer(1));
        body.record_bytes(bytes, (bytes, size));
        body
    }

    fn is_asked(body: &BodyBeingRead) -> bool {
        pin!(body.wait_until_asked_to_make_room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn those_that_stalled_for_the_longest_time_make_room() {
        let all: Arc<BodiesBeingRead> = Arc::default();
        let stalled: Vec<_> = (0..3).map(|_| body(&all, ROOM / 2, Size::Large)).collect();
        assert!(!all.ask_stalled_bodies_to_make_room(Size::Large, None), "all of them are new");
        let later = Instant::now() + STALLED_AFTER;
        assert!(!all.ask_at(later, Size::Small, None), "of the other part");
        assert!(!all.ask_at(later, Size::Large, Some(peer(2))), "of another address");
        assert!(all.ask_at(later, Size::Large, Some(peer(1))));
        assert_eq!(stalled.iter().map(is_asked).collect::<Vec<_>>(), [true, true, false]);
        assert!(all.ask_at(later, Size::Large, None));
        assert!(is_asked(&stalled[2]));
        assert!(!all.ask_at(later, Size::Large, None), "nobody is left");
        drop(stalled);
        assert!(all.bodies().all.is_empty());
    }

    #[test]
    fn a_body_that_makes_progress_makes_no_room() {
        let all: Arc<BodiesBeingRead> = Arc::default();
        let (mut slow, mut fast) = (body(&all, 1000, Size::Small), body(&all, 1000, Size::Small));
        let began = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        slow.record_bytes(PROGRESS - 1, (PROGRESS, Size::Small));
        fast.record_bytes(PROGRESS, (PROGRESS, Size::Small));
        assert!(all.ask_at(began + STALLED_AFTER, Size::Small, None));
        assert!(is_asked(&slow) && !is_asked(&fast));
        assert!(all.ask_at(Instant::now() + STALLED_AFTER, Size::Small, None));
        fast.record_bytes(PROGRESS + 1, (PROGRESS, Size::Small));
        assert!(!is_asked(&fast), "more bytes came in between");
        assert_eq!(all.bodies().all.len(), 1);
    }
}
