//! Budgets of all requests together: concurrent requests, bytes of bodies and answers, and concurrent decisions on large
//! bodies. The bytes are shared among the addresses of the clients.

use super::limits::Limits;
use hyper::body::Bytes;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Concurrent decisions on large bodies; the other bodies wait. Each takes a thread, and milliseconds.
const LARGE: usize = 4;
/// Memory of all decisions on large bodies together (bytes), and so the most of one. A body that is decided takes up to
/// forty times its length.
pub(super) const DECODED: usize = 64 << 20;
/// The budget of bytes is counted in pieces of so many.
const PIECE: usize = 1024;
/// An address may hold this many times the bytes of the shared part that are free. The only address gets three quarters of
/// that part, the next one three quarters of the rest. Switches share buffer memory among ports in this way (dynamic
/// thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2).
const TIMES_FREE: usize = 3;
/// This part of the bytes is reserved for addresses that hold little.
const RESERVE: usize = 8;
/// At most this part of the bytes counts as little: 128 KiB of 32 MiB, enough for the pods of sixteen concurrent requests.
const LITTLE: usize = 256;

/// Room for bytes to come, beyond those that are there: a body of a pod is allocated once.
const FIRST: usize = 8 * 1024;
/// The same for a large body, as a part of its present size: so the copied bytes stay linear in the received bytes.
const GROWTH: usize = 4;

/// What is left.
pub(crate) struct Budgets {
    requests: Semaphore,
    most_requests: usize,
    bytes: Arc<Pool>,
    large: Semaphore,
    decoded: Semaphore,
}

/// A turn to decide a large body, with the memory for it.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    _turn: SemaphorePermit<'a>,
    _memory: SemaphorePermit<'a>,
}

impl Budgets {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            requests: Semaphore::new(limits.requests),
            most_requests: limits.requests,
            bytes: Arc::new(Pool { pieces: limits.body_budget / PIECE, taken: Mutex::default() }),
            large: Semaphore::new(LARGE),
            decoded: Semaphore::new(DECODED / PIECE),
        }
    }

    /// Counts one more concurrent request; `None` at the limit.
    pub(super) fn request(&self) -> Option<SemaphorePermit<'_>> {
        self.requests.try_acquire().ok()
    }

    /// Waits for a turn to decide a large body, which will take about so much memory. `None` if that is more than all
    /// decisions together may take.
    pub(super) async fn large(&self, decoded: usize) -> Option<Turn<'_>> {
        let pieces = u32::try_from(decoded.div_ceil(PIECE)).ok().filter(|_| decoded <= DECODED)?;
        let turn = self.large.acquire().await.ok()?;
        let memory = self.decoded.acquire_many(pieces).await.ok()?;
        Some(Turn { _turn: turn, _memory: memory })
    }

    /// An empty body of an address. The length in its header reserves no memory.
    pub(super) fn body(&self, peer: IpAddr, promised: Option<usize>) -> Held {
        let share = Share { pool: Arc::clone(&self.bytes), peer, pieces: 0 };
        Held { bytes: Vec::new(), promised, share }
    }

    /// Requests and bytes in use.
    pub(super) fn used(&self) -> (usize, usize) {
        (self.most_requests.saturating_sub(self.requests.available_permits()), self.bytes.taken().all * PIECE)
    }
}

/// The budget of bytes.
#[derive(Debug)]
struct Pool {
    pieces: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    peers: HashMap<IpAddr, usize>,
}

/// No room for more bytes of this address.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Pool {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, peer: IpAddr, more: usize) -> Result<(), NoRoom> {
        let mut taken = self.taken();
        let all = taken.all + more;
        let of_peer = taken.peers.get(&peer).copied().unwrap_or_default() + more;
        let free = self.pieces.checked_sub(all).ok_or(NoRoom)?;
        let free_for_all = free.saturating_sub(self.pieces / RESERVE);
        if of_peer > self.pieces / LITTLE && of_peer > free_for_all.saturating_mul(TIMES_FREE) {
            return Err(NoRoom);
        }
        taken.all = all;
        taken.peers.insert(peer, of_peer);
        Ok(())
    }

    fn give_back(&self, peer: IpAddr, pieces: usize) {
        let mut taken = self.taken();
        taken.all = taken.all.saturating_sub(pieces);
        let left = taken.peers.get(&peer).copied().unwrap_or_default().saturating_sub(pieces);
        // An address that holds nothing is forgotten.
        if left == 0 {
            taken.peers.remove(&peer);
        } else {
            taken.peers.insert(peer, left);
        }
    }
}

/// Pieces of the budget; they are given back when this is dropped.
#[derive(Debug)]
struct Share {
    pool: Arc<Pool>,
    peer: IpAddr,
    pieces: usize,
}

impl Share {
    fn resize(&mut self, pieces: usize) -> Result<(), NoRoom> {
        if pieces > self.pieces {
            self.pool.take(self.peer, pieces - self.pieces)?;
        } else if pieces < self.pieces {
            self.pool.give_back(self.peer, self.pieces - pieces);
        }
        self.pieces = pieces;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let _ = self.resize(0);
    }
}

/// Bytes with their share of the budget, which is given back when they are dropped.
#[derive(Debug)]
pub(super) struct Held {
    bytes: Vec<u8>,
    /// The length that a header states.
    promised: Option<usize>,
    share: Share,
}

impl Held {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes if the budget has room for them. Allocated capacity counts, not length. The capacity grows by a part of
    /// itself; a vector by its own rule would double it beyond what is counted.
    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), NoRoom> {
        let needed = self.bytes.len() + data.len();
        if needed > self.bytes.capacity() {
            let to_come = self.promised.map_or(usize::MAX, |promised| promised.saturating_sub(needed));
            let mut ahead = (needed / GROWTH).max(FIRST).min(to_come);
            // Near the end of the budget half of it will do, and half of that.
            while self.share.resize((needed + ahead).div_ceil(PIECE)).is_err() {
                ahead = if ahead == 0 { return Err(NoRoom) } else { ahead / 2 };
            }
            self.bytes.reserve_exact(needed + ahead - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Puts an answer in place of a body; its share becomes as large as the answer.
    pub(super) fn replace(&mut self, mut bytes: Vec<u8>) -> Result<(), NoRoom> {
        self.bytes = Vec::new();
        bytes.shrink_to_fit();
        self.share.resize(bytes.capacity().div_ceil(PIECE))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Drops the bytes and gives their share back.
    pub(super) fn clear(&mut self) {
        let _ = self.replace(Vec::new());
    }

    /// The bytes as hyper takes them. The share is given back when the last of them is written.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(pieces: usize) -> Budgets {
        Budgets::new(&Limits { body_budget: pieces * PIECE, ..Limits::default() })
    }

    fn body(budgets: &Budgets, last: u8) -> Held {
        budgets.body(IpAddr::from([10, 0, 0, last]), None)
    }

    #[test]
    fn shares_follow_what_is_held() {
        let budgets = budgets(8);
        let mut held = budgets.body(IpAddr::from([10, 0, 0, 1]), Some(2 * PIECE));
        for _ in 0..2 * PIECE {
            held.push(b"x").unwrap();
        }
        assert_eq!(budgets.used().1, 2 * PIECE, "parts are not rounded up one by one");
        assert!(held.push(&[0; 5 * PIECE]).is_err());
        assert_eq!(
            (held.bytes().len(), budgets.used().1),
            (2 * PIECE, 2 * PIECE),
            "nothing is taken in part"
        );
        held.replace(vec![1; PIECE]).unwrap();
        assert_eq!(budgets.used().1, PIECE, "an answer that is smaller gives back");
        let mut other = body(&budgets, 1);
        other.push(&[0; 4 * PIECE]).unwrap();
        assert!(held.replace(vec![1; 3 * PIECE]).is_err(), "an answer counts as a body does");
        let bytes = held.into_bytes();
        assert_eq!(budgets.used().1, 5 * PIECE);
        drop(bytes);
        other.clear();
        assert_eq!(budgets.used(), (0, 0));
        assert!(budgets.bytes.taken().peers.is_empty(), "an address that holds nothing is forgotten");
    }

    /// However it comes: byte by byte or in records, promised or not, to its end or not.
    #[test]
    fn what_is_allocated_is_counted() {
        const MOST: usize = 4 << 20;
        for (promised, parts) in [(None, 16 << 10), (Some(MOST), 16 << 10), (Some(MOST), 1000), (None, 7)] {
            let budgets = budgets(32 * 1024);
            let mut held = budgets.body(IpAddr::from([10, 0, 0, 1]), promised);
            assert_eq!((held.bytes.capacity(), budgets.used().1), (0, 0));
            let (mut grown, mut before) = (0, 0);
            while held.bytes.len() < MOST / 2 {
                held.push(&vec![b'x'; parts]).unwrap();
                let (there, counted) = (held.bytes.capacity(), budgets.used().1);
                assert!(counted >= there && counted < there + PIECE, "{counted} for {there}");
                assert!(there <= held.bytes.len() / 4 * 5 + parts + FIRST, "{there}");
                grown += usize::from(there != before);
                before = there;
            }
            assert!(grown < 30, "copied {grown} times");
            held.replace({
                let mut answer = Vec::with_capacity(100 * PIECE);
                answer.push(b'x');
                answer
            })
            .unwrap();
            assert_eq!((held.bytes.capacity(), budgets.used().1), (1, PIECE), "an answer");
        }
    }

    /// Pieces that an address gets when it wants all.
    fn fill(held: &mut Held) -> usize {
        while held.push(&[0; PIECE]).is_ok() {}
        held.bytes().len() / PIECE
    }

    #[test]
    fn however_many_want_all_something_is_left() {
        let budgets = budgets(32 * 1024);
        let mut held: Vec<Held> = (0..24).map(|last| body(&budgets, last)).collect();
        assert_eq!(fill(&mut held[0]), 21 * 1024, "one gets three quarters of seven eighths");
        assert_eq!(fill(&mut held[1]), 21 * 1024 / 4, "the next as much of the rest");
        for other in &mut held[2..] {
            assert!(fill(other) >= 128);
        }
        let mut pods = body(&budgets, 100);
        assert!(pods.push(&[0; 128 * PIECE]).is_ok(), "pods of another address");
        let mut more = body(&budgets, 0);
        assert!(more.push(&[0; PIECE]).is_err(), "an address that has its part");
        drop(held);
        assert!(more.push(&[0; 64 * PIECE]).is_ok(), "there is room again");
    }
}
