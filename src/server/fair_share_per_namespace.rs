//! The requests of one namespace among those of one address: those that wait for a decision or are decided, and large ones
//! that are read. An API server is one address for all tenants, so one of them must not take all that its address may have.

use super::fair_share_per_client_address::{BudgetForSmallAndLarge, PIECE};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A namespace of an address may hold this many times what its address may still take. The only one gets three quarters, the
/// next one three quarters of the rest. With several API servers, each address may take less, and so may a namespace.
const TIMES_ROOM: usize = 3;

/// Requests (count), and bodies (bytes) in the part of the budget for small ones and in that for large ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) requests: usize,
    pub(super) small: usize,
    pub(super) large: usize,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        self.with(other, usize::saturating_add)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, usize::saturating_sub)
    }

    fn with(self, other: Self, each: fn(usize, usize) -> usize) -> Self {
        Self {
            requests: each(self.requests, other.requests),
            small: each(self.small, other.small),
            large: each(self.large, other.large),
        }
    }
}

/// Whether a namespace may take more of something, of which its address may still take so much. The first that it takes is
/// always fair, and so is nothing.
fn is_fair(own: usize, more: usize, room: usize) -> bool {
    own == 0 || more == 0 || own.saturating_add(more) <= room.saturating_mul(TIMES_ROOM)
}

/// What an address holds, as a whole and by namespace.
#[derive(Debug, Default)]
struct HeldByAddress {
    all: Amount,
    namespaces: HashMap<u64, Amount>,
}

/// What each namespace of each address holds.
#[derive(Debug)]
pub(super) struct SharesOfNamespaces {
    requests: Arc<BudgetForSmallAndLarge>,
    bytes: Arc<BudgetForSmallAndLarge>,
    held: Mutex<HashMap<IpAddr, HeldByAddress>>,
}

impl SharesOfNamespaces {
    pub(super) fn new(
        requests: Arc<BudgetForSmallAndLarge>,
        bytes: Arc<BudgetForSmallAndLarge>,
    ) -> Arc<Self> {
        Arc::new(Self { requests, bytes, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, HeldByAddress>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn knows_nobody(&self) -> bool {
        self.held().is_empty()
    }

    /// What an address may still take, if its large bodies come to hold so many bytes: those that only a header states have
    /// taken nothing from the budget yet.
    fn room_of_address(&self, peer: IpAddr, large: usize) -> Amount {
        let [small_bytes, large_bytes] = self.bytes.room_of_address(peer).map(|pieces| pieces * PIECE);
        let stated = large.saturating_sub(self.bytes.taken_for_large_by_address(peer) * PIECE);
        Amount {
            requests: self.requests.room_of_address(peer).iter().sum(),
            small: small_bytes,
            large: large_bytes.saturating_sub(stated),
        }
    }

    /// Takes a share of what the address has taken for a request, or will take; `None` if the namespace would hold too much.
    pub(super) fn take_share_or_refuse(
        self: &Arc<Self>,
        peer: IpAddr,
        namespace: u64,
        more: Amount,
    ) -> Option<ShareOfNamespace> {
        let mut held = self.held();
        let of_address = held.entry(peer).or_default();
        let all = of_address.all.plus(more);
        let own = of_address.namespaces.get(&namespace).copied().unwrap_or_default();
        let room = self.room_of_address(peer, all.large);
        let fair = is_fair(own.requests, more.requests, room.requests)
            && is_fair(own.small, more.small, room.small)
            && is_fair(own.large, more.large, room.large);
        fair.then(|| {
            of_address.all = all;
            of_address.namespaces.insert(namespace, own.plus(more));
            ShareOfNamespace { shares: Arc::clone(self), peer, namespace, taken: more }
        })
    }
}

/// A share, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct ShareOfNamespace {
    shares: Arc<SharesOfNamespaces>,
    peer: IpAddr,
    namespace: u64,
    taken: Amount,
}

impl Drop for ShareOfNamespace {
    fn drop(&mut self) {
        let mut held = self.shares.held();
        let Some(of_address) = held.get_mut(&self.peer) else { return };
        of_address.all = of_address.all.minus(self.taken);
        let left = of_address.namespaces.get(&self.namespace).copied().unwrap_or_default().minus(self.taken);
        if left == Amount::default() {
            of_address.namespaces.remove(&self.namespace);
        } else {
            of_address.namespaces.insert(self.namespace, left);
        }
        if of_address.namespaces.is_empty() {
            held.remove(&self.peer);
        }
    }
}
