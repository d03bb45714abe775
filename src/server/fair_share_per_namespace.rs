//! The requests of one namespace among those of one address: those that wait for a decision or are decided, and large ones that
//! are read. An API server is one address for all tenants, so one of them must
//! not hold all its places.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A namespace of an address may hold this many times what is free of the requests and bytes of the address. The only one
/// gets three quarters, the next one three quarters of the rest.
const TIMES_FREE: usize = 3;

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

    /// What each of several addresses may hold, where the only one may hold this. One address gets three quarters of the
    /// whole, and of two each gets three sevenths: three times what both leave free.
    fn of_one_among(self, addresses: usize) -> Self {
        let shrink = |one: usize, times: usize| one.saturating_mul(TIMES_FREE + 1) / times;
        let times = (TIMES_FREE * addresses + 1).max(1);
        Self {
            requests: shrink(self.requests, times),
            small: shrink(self.small, times),
            large: shrink(self.large, times),
        }
    }

    fn with(self, other: Self, each: fn(usize, usize) -> usize) -> Self {
        Self {
            requests: each(self.requests, other.requests),
            small: each(self.small, other.small),
            large: each(self.large, other.large),
        }
    }
}

/// Whether a namespace may take more of something: it will hold at most three times what all together leave free. The first
/// that it takes is always fair, and so is nothing.
fn is_fair(own: usize, all: usize, more: usize, most: usize) -> bool {
    let free = most.checked_sub(all.saturating_add(more));
    own == 0
        || more == 0
        || free.is_some_and(|free| own.saturating_add(more) <= free.saturating_mul(TIMES_FREE))
}

/// What an address holds, as a whole and by namespace.
#[derive(Debug, Default)]
struct HeldByAddress {
    all: Amount,
    namespaces: HashMap<u64, Amount>,
}

/// An address that holds less than this part (1/16) of what one may hold leaves enough to others.
const DIVISOR_OF_LIGHT_ADDRESS: usize = 16;

/// What each namespace of each address holds.
#[derive(Debug)]
pub(super) struct SharesOfNamespaces {
    /// What the only address may hold.
    most: Amount,
    held: Mutex<HashMap<IpAddr, HeldByAddress>>,
}

impl SharesOfNamespaces {
    /// `most`: what the only address may hold.
    pub(super) fn new(most: Amount) -> Arc<Self> {
        Arc::new(Self { most, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, HeldByAddress>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an address holds so much that less is left for the others.
    fn is_heavy(&self, all: Amount) -> bool {
        let heavy = |all: usize, most: usize| all.saturating_mul(DIVISOR_OF_LIGHT_ADDRESS) > most;
        heavy(all.requests, self.most.requests)
            || heavy(all.small, self.most.small)
            || heavy(all.large, self.most.large)
    }

    /// Takes a share; `None` if the namespace would hold too much.
    pub(super) fn take_share_or_refuse(
        self: &Arc<Self>,
        peer: IpAddr,
        namespace: u64,
        more: Amount,
    ) -> Option<ShareOfNamespace> {
        let mut held = self.held();
        // A cluster with three API servers is three addresses for each tenant, and each of them may hold less.
        let others = held.iter().filter(|(other, of)| **other != peer && self.is_heavy(of.all)).count();
        let most = self.most.of_one_among(others + 1);
        let of_address = held.entry(peer).or_default();
        let all = of_address.all;
        let own = of_address.namespaces.get(&namespace).copied().unwrap_or_default();
        let fair = is_fair(own.requests, all.requests, more.requests, most.requests)
            && is_fair(own.small, all.small, more.small, most.small)
            && is_fair(own.large, all.large, more.large, most.large);
        fair.then(|| {
            of_address.all = all.plus(more);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn one_namespace_leaves_requests_and_bytes_to_others() {
        let most = Amount { requests: 256, small: 3 << 20, large: 16 << 20 };
        let shares = SharesOfNamespaces::new(most);
        let small = Amount { requests: 1, small: 1000, large: 0 };
        let all = |namespace: u64, more: Amount| -> Vec<ShareOfNamespace> {
            std::iter::from_fn(|| shares.take_share_or_refuse(peer(1), namespace, more)).collect()
        };
        let (one, other) = (all(1, small), all(2, small));
        assert_eq!((one.len(), other.len()), (192, 48), "three quarters, and three quarters of the rest");
        assert!(shares.take_share_or_refuse(peer(2), 1, small).is_some(), "another address");
        drop((one, other));
        for (more, expected) in [
            (Amount { large: 500_000, ..Amount::default() }, (25, 6)),
            (Amount { small: 50_000, ..Amount::default() }, (47, 11)),
        ] {
            let (one, other) = (all(1, more), all(2, more));
            assert_eq!((one.len(), other.len()), expected, "by their bytes");
        }
        let (large, small) = (all(1, Amount { large: 500_000, ..Amount::default() }), all(1, small));
        assert_eq!(small.len(), 192, "large bodies leave the room for small ones");
        drop((large, small));
        assert_eq!(all(3, Amount { large: 30 << 20, ..Amount::default() }).len(), 1, "one is always taken");
        assert!(shares.held().is_empty());
    }
}
