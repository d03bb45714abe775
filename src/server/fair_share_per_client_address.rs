//! Budgets that are shared among the addresses of the clients: how much of a budget one address may have. Bodies up to
//! [`MAX_SMALL_BODY_BYTES`] have a part of each budget for themselves.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest small body (bytes), several times that of a training job's pod.
pub(super) const MAX_SMALL_BODY_BYTES: usize = 64 * 1024;
/// The budget of bytes is counted in pieces of so many.
pub(super) const PIECE: usize = 1024;
/// This part of the bytes is for small bodies: 8 of 32 MiB, 512 requests of 16 KiB.
const DIVISOR_FOR_SMALL_BODIES: usize = 4;
/// An address may hold this many times the bytes of a shared part that are free. The only address gets three quarters of
/// that part, the next one three quarters of the rest. Switches share buffer memory among ports in this way (dynamic
/// thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2).
const TIMES_FREE: usize = 3;
/// This part of the bytes for small bodies is reserved for addresses that hold little.
const DIVISOR_OF_RESERVE: usize = 2;
/// At most this part of the bytes for small bodies counts as little: 128 KiB of 8 MiB, enough for the pods of sixteen
/// concurrent requests.
const DIVISOR_OF_LITTLE: usize = 64;

/// A budget, in pieces: of bytes, or of concurrent requests.
#[derive(Debug)]
pub(super) struct BudgetForSmallAndLarge {
    small: Pool,
    large: Pool,
}

impl BudgetForSmallAndLarge {
    pub(super) fn of_bytes(bytes: usize) -> Arc<Self> {
        Self::new(bytes / PIECE)
    }

    pub(super) fn new(pieces: usize) -> Arc<Self> {
        let small = pieces / DIVISOR_FOR_SMALL_BODIES;
        // One piece always counts as little: of a few requests, somebody has to get the last.
        Arc::new(Self {
            small: Pool::new(small, small / DIVISOR_OF_RESERVE, (small / DIVISOR_OF_LITTLE).max(1)),
            large: Pool::new(pieces - small, 0, 1),
        })
    }

    /// Pieces in use.
    pub(super) fn used(&self) -> usize {
        self.small.taken().all + self.large.taken().all
    }

    /// Pieces that an address may still take: of the part for small bodies, and of that for large ones.
    pub(super) fn room_of_address(&self, peer: IpAddr) -> [usize; 2] {
        [self.small.room_of_address(peer), self.large.room_of_address(peer)]
    }

    /// Pieces of the part for large bodies that an address has.
    pub(super) fn taken_for_large_by_address(&self, peer: IpAddr) -> usize {
        self.large.taken().peers.get(&peer).copied().unwrap_or_default()
    }

    /// Whether an address has more than half of what the only address may have of a part.
    pub(super) fn does_address_hold_much(&self, peer: IpAddr, size: Size) -> bool {
        let pool = self.of(size);
        let own = pool.taken().peers.get(&peer).copied().unwrap_or_default();
        let most_alone = (pool.pieces - pool.reserve) * TIMES_FREE / (TIMES_FREE + 1);
        own > most_alone / 2
    }

    /// Bytes in use.
    pub(super) fn used_bytes(&self) -> usize {
        self.used() * PIECE
    }

    #[cfg(test)]
    pub(super) fn knows_nobody(&self) -> bool {
        self.small.taken().peers.is_empty() && self.large.taken().peers.is_empty()
    }

    fn of(&self, size: Size) -> &Pool {
        match size {
            Size::Small => &self.small,
            Size::Large => &self.large,
        }
    }
}

/// Which part of the budget a share is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Size {
    #[default]
    Small,
    Large,
}

/// A part of the budget.
#[derive(Debug)]
struct Pool {
    pieces: usize,
    /// Pieces for addresses that hold little.
    reserve: usize,
    /// Most pieces that count as little.
    little: usize,
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
    fn new(pieces: usize, reserve: usize, little: usize) -> Self {
        Self { pieces, reserve, little, taken: Mutex::default() }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_if_share_is_fair(&self, peer: IpAddr, more: usize) -> Result<(), NoRoom> {
        let mut taken = self.taken();
        let all = taken.all + more;
        let of_peer = taken.peers.get(&peer).copied().unwrap_or_default() + more;
        let free = self.pieces.checked_sub(all).ok_or(NoRoom)?;
        let free_for_all = free.saturating_sub(self.reserve);
        if of_peer > self.little && of_peer > free_for_all.saturating_mul(TIMES_FREE) {
            return Err(NoRoom);
        }
        taken.all = all;
        taken.peers.insert(peer, of_peer);
        Ok(())
    }

    /// The most that [`Self::take_if_share_is_fair`] would let an address take: with `own` pieces and `free` ones, it may take
    /// `more` as long as `own + more` is at most three times `free - more`.
    fn room_of_address(&self, peer: IpAddr) -> usize {
        let taken = self.taken();
        let own = taken.peers.get(&peer).copied().unwrap_or_default();
        let free = self.pieces.saturating_sub(taken.all);
        let free_for_all = free.saturating_sub(self.reserve);
        let fair = free_for_all.saturating_mul(TIMES_FREE).saturating_sub(own) / (TIMES_FREE + 1);
        fair.max(self.little.saturating_sub(own).min(free))
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

/// Pieces of a budget; they are given back when this is dropped.
#[derive(Debug)]
pub(super) struct ShareOfAddress {
    pools: Arc<BudgetForSmallAndLarge>,
    pub(super) size: Size,
    pub(super) peer: IpAddr,
    pub(super) pieces: usize,
}

impl ShareOfAddress {
    /// No piece yet, for a body of this length.
    pub(super) fn empty_for_body_length(
        pools: Arc<BudgetForSmallAndLarge>,
        peer: IpAddr,
        length: usize,
    ) -> Self {
        let size = if length > MAX_SMALL_BODY_BYTES { Size::Large } else { Size::Small };
        Self { pools, size, peer, pieces: 0 }
    }

    /// One piece, for a body of this length.
    pub(super) fn one_piece_for_body_length(
        pools: &Arc<BudgetForSmallAndLarge>,
        peer: IpAddr,
        length: usize,
    ) -> Result<Self, NoRoom> {
        let mut share = Self::empty_for_body_length(Arc::clone(pools), peer, length);
        share.set_number_of_pieces(1)?;
        Ok(share)
    }

    /// Changes the number of pieces. A small body takes from the part for all where its own has no room.
    pub(super) fn set_number_of_pieces(&mut self, pieces: usize) -> Result<(), NoRoom> {
        let pool = self.pools.of(self.size);
        if pieces <= self.pieces {
            pool.give_back(self.peer, self.pieces - pieces);
        } else if pool.take_if_share_is_fair(self.peer, pieces - self.pieces).is_err() {
            return if self.size == Size::Small { self.move_to_part_for_large(pieces) } else { Err(NoRoom) };
        }
        self.pieces = pieces;
        Ok(())
    }

    pub(super) fn move_to_part_for_large(&mut self, pieces: usize) -> Result<(), NoRoom> {
        self.pools.large.take_if_share_is_fair(self.peer, pieces)?;
        self.pools.of(self.size).give_back(self.peer, self.pieces);
        (self.size, self.pieces) = (Size::Large, pieces);
        Ok(())
    }
}

impl Drop for ShareOfAddress {
    fn drop(&mut self) {
        let _ = self.set_number_of_pieces(0);
    }
}
