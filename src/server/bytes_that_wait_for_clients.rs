//! Bodies that are not complete, and answers that are not taken, of all addresses. A client may send a part of a body and then
//! nothing more, or take no answer, so that the bytes stay in memory until the time for bodies or answers is over. If memory
//! runs out, such bytes make room for a body.

use super::fair_share_per_client_address::Size;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How much is made room for at once (bytes).
const ROOM: usize = 64 * 1024;
/// Bytes are stalled if fewer than [`PROGRESS`] arrive or are taken in this time. An API server is much faster.
const STALLED_AFTER: Duration = Duration::from_millis(500);
/// What counts as progress (bytes).
const PROGRESS: usize = 32 * 1024;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct BytesThatWaitForClients(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    all: HashMap<u64, Row>,
}

#[derive(Debug)]
struct Row {
    peer: IpAddr,
    /// When they last made progress, and how many bytes were there.
    progress: (Instant, usize),
    /// Their share of the budget (bytes), and of which part.
    share: (usize, Size),
    make_room: Arc<Notify>,
}

/// Those of one body or answer. When this is dropped, they wait no more.
#[derive(Debug)]
pub(super) struct WaitingBytes {
    all: Arc<BytesThatWaitForClients>,
    number: u64,
    peer: IpAddr,
    /// As they were recorded last.
    bytes: usize,
    make_room: Arc<Notify>,
}

impl BytesThatWaitForClients {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body or an answer of an address, with no bytes so far. It makes room when it is notified.
    pub(super) fn add(self: &Arc<Self>, peer: IpAddr, make_room: Arc<Notify>) -> WaitingBytes {
        let mut table = self.table();
        let number = table.next;
        table.next += 1;
        let row = Row {
            peer,
            progress: (Instant::now(), 0),
            share: (0, Size::Small),
            make_room: Arc::clone(&make_room),
        };
        table.all.insert(number, row);
        WaitingBytes { all: Arc::clone(self), number, peer, bytes: 0, make_room }
    }

    /// Asks those that have stalled for the longest time to make room in a part of the budget, of one address or of all;
    /// `false` if none has.
    pub(super) fn ask_stalled_ones_to_make_room(&self, size: Size, of: Option<IpAddr>) -> bool {
        self.ask_at(Instant::now(), size, of)
    }

    /// The same, as at a point in time.
    pub(super) fn ask_at(&self, now: Instant, size: Size, of: Option<IpAddr>) -> bool {
        let mut table = self.table();
        let is_stalled = |row: &Row| now.duration_since(row.progress.0) >= STALLED_AFTER;
        let is_asked = |row: &Row| row.share.1 == size && of.is_none_or(|peer| peer == row.peer);
        let stalled = table.all.iter().filter(|(_, row)| is_stalled(row) && is_asked(row));
        let mut stalled: Vec<(Instant, u64)> =
            stalled.map(|(number, row)| (row.progress.0, *number)).collect();
        stalled.sort_unstable();
        let mut room = 0;
        for (_, number) in stalled {
            if room >= ROOM {
                break;
            }
            let Some(row) = table.all.remove(&number) else { continue };
            row.make_room.notify_one();
            room += row.share.0;
        }
        room > 0
    }
}

impl WaitingBytes {
    /// Whether they were asked to make room, and no byte has arrived or been taken since.
    pub(super) fn are_asked_to_make_room(&self) -> bool {
        !self.all.table().all.contains_key(&self.number)
    }

    /// Records how many bytes have arrived or are taken, and the share of the budget (bytes). Those that were asked to make
    /// room, and then became more, count as new.
    pub(super) fn record_bytes(&mut self, bytes: usize, share: (usize, Size)) {
        let are_more = bytes > self.bytes;
        self.bytes = bytes;
        if self.are_asked_to_make_room() {
            if !are_more {
                return;
            }
            // The question is over, whether it was heard or not.
            let _ = pin!(self.make_room.notified()).poll(&mut Context::from_waker(Waker::noop()));
            *self = self.all.add(self.peer, Arc::clone(&self.make_room));
            self.bytes = bytes;
        }
        if let Some(row) = self.all.table().all.get_mut(&self.number) {
            row.share = share;
            if bytes >= row.progress.1 + PROGRESS {
                row.progress = (Instant::now(), bytes);
            }
        }
    }

    /// Completes when they have to make room.
    pub(super) async fn wait_until_asked_to_make_room(&self) {
        self.make_room.notified().await;
    }
}

impl Drop for WaitingBytes {
    fn drop(&mut self) {
        self.all.table().all.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn body(all: &Arc<BytesThatWaitForClients>, bytes: usize, size: Size) -> WaitingBytes {
        let mut body = all.add(peer(1), Arc::default());
        body.record_bytes(bytes, (bytes, size));
        body
    }

    fn is_asked(body: &WaitingBytes) -> bool {
        pin!(body.wait_until_asked_to_make_room()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn those_that_stalled_for_the_longest_time_make_room() {
        let all: Arc<BytesThatWaitForClients> = Arc::default();
        let stalled: Vec<_> = (0..3).map(|_| body(&all, ROOM / 2, Size::Large)).collect();
        assert!(!all.ask_stalled_ones_to_make_room(Size::Large, None), "all of them are new");
        let later = Instant::now() + STALLED_AFTER;
        assert!(!all.ask_at(later, Size::Small, None), "of the other part");
        assert!(!all.ask_at(later, Size::Large, Some(peer(2))), "of another address");
        assert!(all.ask_at(later, Size::Large, Some(peer(1))));
        assert_eq!(stalled.iter().map(is_asked).collect::<Vec<_>>(), [true, true, false]);
        assert!(all.ask_at(later, Size::Large, None));
        assert!(is_asked(&stalled[2]));
        assert!(!all.ask_at(later, Size::Large, None), "nobody is left");
        drop(stalled);
        assert!(all.table().all.is_empty());
    }

    #[test]
    fn a_body_that_makes_progress_makes_no_room() {
        let all: Arc<BytesThatWaitForClients> = Arc::default();
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
        assert_eq!(all.table().all.len(), 1);
    }
}
