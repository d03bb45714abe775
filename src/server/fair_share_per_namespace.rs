//! The requests of one namespace among those of one address that wait for a decision, or are decided, on other threads than
//! the one that read them. An API server is one address for all tenants, so one of them must not hold all its places.

use super::default_limits_and_deadlines::Limits;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A namespace of an address may hold this many times what is free of the requests and bytes of the address. The only one
/// gets three quarters, the next one three quarters of the rest.
const TIMES_FREE: usize = 3;

/// Requests (count), and their bodies (bytes).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RequestsAndBytes {
    requests: usize,
    bytes: usize,
}

impl RequestsAndBytes {
    fn plus(self, other: Self) -> Self {
        Self { requests: self.requests + other.requests, bytes: self.bytes + other.bytes }
    }

    fn minus(self, other: Self) -> Self {
        let (requests, bytes) =
            (self.requests.saturating_sub(other.requests), self.bytes.saturating_sub(other.bytes));
        Self { requests, bytes }
    }

    /// Whether it is at most three times what another amount leaves free of a third one.
    fn is_fair_beside(self, all: Self, most: Self) -> bool {
        let fits = |own: usize, all: usize, most: usize| {
            most.checked_sub(all).is_some_and(|free| own <= free.saturating_mul(TIMES_FREE))
        };
        fits(self.requests, all.requests, most.requests) && fits(self.bytes, all.bytes, most.bytes)
    }
}

/// What each namespace of each address holds.
#[derive(Debug)]
pub(super) struct SharesOfNamespaces {
    /// What one address may hold.
    most: RequestsAndBytes,
    held: Mutex<HashMap<IpAddr, HashMap<u64, RequestsAndBytes>>>,
}

impl SharesOfNamespaces {
    /// Half of all requests and bytes for one address.
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        let most = RequestsAndBytes { requests: limits.requests / 2, bytes: limits.body_budget / 2 };
        Arc::new(Self { most, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, HashMap<u64, RequestsAndBytes>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share for a request with a body of this length; `None` if its namespace holds too much. A request alone is always
    /// taken.
    pub(super) fn take_share_or_refuse(
        self: &Arc<Self>,
        peer: IpAddr,
        namespace: u64,
        length: usize,
    ) -> Option<ShareOfNamespace> {
        let more = RequestsAndBytes { requests: 1, bytes: length };
        let mut held = self.held();
        let of_address = held.entry(peer).or_default();
        let all = of_address.values().copied().fold(more, RequestsAndBytes::plus);
        let own = of_address.get(&namespace).copied().unwrap_or_default().plus(more);
        if own.requests > 1 && !own.is_fair_beside(all, self.most) {
            return None;
        }
        of_address.insert(namespace, own);
        Some(ShareOfNamespace { shares: Arc::clone(self), peer, namespace, taken: more })
    }

    /// Requests of a namespace of an address that hold a share.
    pub(super) fn requests_held(&self, peer: IpAddr, namespace: u64) -> usize {
        let held = self.held();
        held.get(&peer).and_then(|of_address| of_address.get(&namespace)).map_or(0, |own| own.requests)
    }
}

/// A share, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct ShareOfNamespace {
    shares: Arc<SharesOfNamespaces>,
    peer: IpAddr,
    namespace: u64,
    taken: RequestsAndBytes,
}

impl Drop for ShareOfNamespace {
    fn drop(&mut self) {
        let mut held = self.shares.held();
        let Some(of_address) = held.get_mut(&self.peer) else { return };
        let left = of_address.get(&self.namespace).copied().unwrap_or_default().minus(self.taken);
        if left.requests == 0 {
            of_address.remove(&self.namespace);
        } else {
            of_address.insert(self.namespace, left);
        }
        if of_address.is_empty() {
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
        let shares =
            SharesOfNamespaces::new(&Limits { requests: 512, body_budget: 32 << 20, ..Limits::default() });
        let all = |namespace: u64, length: usize| -> Vec<ShareOfNamespace> {
            std::iter::from_fn(|| shares.take_share_or_refuse(peer(1), namespace, length)).collect()
        };
        let (one, other) = (all(1, 1000), all(2, 1000));
        assert_eq!((one.len(), other.len()), (192, 48), "three quarters, and three quarters of the rest");
        assert_eq!([1, 2, 3].map(|namespace| shares.requests_held(peer(1), namespace)), [192, 48, 0]);
        assert!(shares.take_share_or_refuse(peer(2), 1, 1000).is_some(), "another address");
        drop((one, other));
        let (one, other) = (all(1, 500_000), all(2, 500_000));
        assert_eq!((one.len(), other.len()), (25, 6), "by their bytes");
        drop((one, other));
        assert_eq!(all(3, 30 << 20).len(), 1, "one is always taken");
        assert!(shares.held().is_empty());
    }
}
