//! Budgets of all requests together: concurrent requests, and bytes of bodies and answers. Requests with small bodies have a
//! share of each for themselves, so that a sender of large ones, or the API server that passes them on, can still send them.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::bytes_that_wait_for_clients::BytesThatWaitForClients;
use super::default_limits_and_deadlines::Limits;
use super::fair_share_per_client_address::{
    BudgetForSmallAndLarge, MAX_SMALL_BODY_BYTES, ShareOfAddress, Size,
};
use super::fair_share_per_namespace::{Amount, ShareOfNamespace, SharesOfNamespaces};
use super::namespace_of_body::{has_long_name, hash_of_namespace_if_complete};
use super::turns_of_decisions_and_handshakes::Turns;
use std::net::IpAddr;
use std::sync::Arc;

/// What is left.
pub(crate) struct Budgets {
    requests: Arc<BudgetForSmallAndLarge>,
    bytes: Arc<BudgetForSmallAndLarge>,
    namespaces: Arc<SharesOfNamespaces>,
    /// The bodies that are not complete, and the answers that are not taken.
    pub(super) waiting: Arc<BytesThatWaitForClients>,
    /// Whose turn it is.
    pub(super) turns: Turns,
}

/// Why a large body is refused after its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusedByFirstBytes {
    /// Its namespace holds too much of what its address may hold.
    NamespaceHoldsTooMuch,
    /// The name of its object takes nearly all of these bytes.
    NameTooLong,
}

impl Budgets {
    pub(crate) fn new(limits: &Limits) -> Self {
        let requests = BudgetForSmallAndLarge::new(limits.requests);
        let bytes = BudgetForSmallAndLarge::of_bytes(limits.body_budget);
        Self {
            namespaces: SharesOfNamespaces::new(Arc::clone(&requests), Arc::clone(&bytes)),
            requests,
            bytes,
            waiting: Arc::default(),
            turns: Turns::new(limits.large_decisions),
        }
    }

    /// Counts one more concurrent request of an address, with a body of this length; `None` at the limit. A request that
    /// waits for its turn counts too, so an address must not get all places.
    pub(super) fn count_request_or_refuse(&self, peer: IpAddr, length: usize) -> Option<ShareOfAddress> {
        ShareOfAddress::one_piece_for_body_length(&self.requests, peer, length).ok()
    }

    /// Takes the share of a namespace for a request that waits for a decision; `None` if it holds too much of what its
    /// address may hold. Small bodies of a namespace that holds much of the part for them move to the part for large ones.
    pub(super) fn take_share_of_namespace_or_refuse(
        &self,
        held: &mut BytesWithinBudget,
        namespace: u64,
    ) -> Option<ShareOfNamespace> {
        let (peer, request) = (held.peer(), Amount { requests: 1, ..Amount::default() });
        if held.has_share_of_namespace() {
            return self.namespaces.take_share_or_refuse(peer, namespace, request);
        }
        let bytes = held.bytes().len();
        if held.is_in_part_for_small() {
            let small = Amount { small: bytes, ..request };
            let share = self.namespaces.take_share_or_refuse(peer, namespace, small);
            if share.is_some() || held.move_to_part_for_large().is_err() {
                return share;
            }
        }
        self.namespaces.take_share_or_refuse(peer, namespace, Amount { large: bytes, ..request })
    }

    /// Takes the share of a namespace for a large body of which the first bytes are read. A body whose first bytes have no
    /// namespace, or whose length no header states, takes its share when it is read: to look for the namespace in each part of
    /// a body would take time by the square of its length.
    ///
    /// # Errors
    /// [`RefusedByFirstBytes`].
    pub(super) fn take_share_of_large_body(
        &self,
        held: &mut BytesWithinBudget,
    ) -> Result<(), RefusedByFirstBytes> {
        let Some(namespace) = hash_of_namespace_if_complete(held.bytes()) else {
            // It would be read to its end without a share: a user may give a pod a name of megabytes, and an API server calls
            // webhooks before it checks the name.
            return match has_long_name(held.bytes()) {
                true => Err(RefusedByFirstBytes::NameTooLong),
                false => Ok(()),
            };
        };
        let Some(large) = held.stated_length() else { return Ok(()) };
        let amount = Amount { large, ..Amount::default() };
        let share = self.namespaces.take_share_or_refuse(held.peer(), namespace, amount);
        held.keep_share_of_namespace(share.ok_or(RefusedByFirstBytes::NamespaceHoldsTooMuch)?);
        Ok(())
    }

    /// Asks stalled bodies and answers to make room for more bytes of a body; `false` if none is stalled. For an address that holds
    /// much, only its own are asked: they, and not those of others, leave it no room.
    pub(super) fn ask_stalled_bytes_to_make_room_for(&self, held: &BytesWithinBudget, more: usize) -> bool {
        let peer = held.peer();
        let ask = |size: Size| {
            let of = self.bytes.does_address_hold_much(peer, size).then_some(peer);
            self.waiting.ask_stalled_ones_to_make_room(size, of)
        };
        // A body whose header states that it is large is in the part for large ones from the beginning.
        let is_small = held.is_in_part_for_small() && held.bytes().len() + more <= MAX_SMALL_BODY_BYTES;
        is_small && ask(Size::Small) || ask(Size::Large)
    }

    /// An empty body of an address. The length in its header reserves no memory.
    pub(super) fn empty_body_of_address(&self, peer: IpAddr, promised: Option<usize>) -> BytesWithinBudget {
        BytesWithinBudget::new(Arc::clone(&self.bytes), peer, promised)
    }

    /// Requests and bytes in use.
    pub(super) fn requests_and_bytes_in_use(&self) -> (usize, usize) {
        (self.requests.used(), self.bytes.used_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(limits: Limits) -> Budgets {
        Budgets::new(&limits)
    }

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// Places that an address gets, if it wants all.
    fn places(budgets: &Budgets, last: u8, length: usize) -> Vec<ShareOfAddress> {
        std::iter::from_fn(|| budgets.count_request_or_refuse(peer(last), length)).collect()
    }

    #[test]
    fn small_requests_have_places_of_their_own() {
        let budgets = budgets(Limits { requests: 512, ..Limits::default() });
        let large = places(&budgets, 1, MAX_SMALL_BODY_BYTES + 1);
        assert_eq!(large.len(), 288, "three quarters of those for large bodies");
        let small = places(&budgets, 1, MAX_SMALL_BODY_BYTES);
        assert_eq!((small.len(), budgets.requests_and_bytes_in_use().0), (48, 336), "of the same address");
        drop(large);
        assert!(
            budgets.count_request_or_refuse(peer(1), MAX_SMALL_BODY_BYTES + 1).is_some()
                && budgets.count_request_or_refuse(peer(1), MAX_SMALL_BODY_BYTES).is_some()
        );
    }

    #[test]
    fn one_address_leaves_places_to_others() {
        let budgets = budgets(Limits { requests: 512, ..Limits::default() });
        let mut held: Vec<Vec<ShareOfAddress>> = vec![places(&budgets, 1, MAX_SMALL_BODY_BYTES)];
        assert_eq!(held[0].len(), 336, "small bodies also take places of large ones");
        for last in 2..20 {
            held.push(places(&budgets, last, MAX_SMALL_BODY_BYTES));
            assert!(held.last().unwrap().len() >= 2, "{last}");
        }
        drop(held);
        assert_eq!(budgets.requests_and_bytes_in_use().0, 0);
    }

    #[test]
    fn few_places_are_all_used() {
        for (requests, most) in [(0, 0), (1, 1), (2, 1), (4, 3), (8, 5)] {
            let budgets = budgets(Limits { requests, ..Limits::default() });
            let of_one = places(&budgets, 1, MAX_SMALL_BODY_BYTES);
            assert_eq!(of_one.len(), most, "{requests}");
            let others: Vec<_> = (2..20).map(|last| places(&budgets, last, MAX_SMALL_BODY_BYTES)).collect();
            assert_eq!(budgets.requests_and_bytes_in_use().0, requests);
            drop(others);
        }
    }

    /// A body of a namespace, of which so many bytes are read.
    fn body_of(budgets: &Budgets, namespace: &str, length: usize, read: usize) -> BytesWithinBudget {
        let mut held = budgets.empty_body_of_address(peer(1), Some(length));
        let mut body = format!("{{\"namespace\":\"{namespace}\"").into_bytes();
        body.resize(read, b' ');
        held.push_if_budget_has_room(&body).unwrap();
        held
    }

    #[test]
    fn an_address_that_holds_much_leaves_bodies_of_others_alone() {
        let budgets = budgets(Limits { body_budget: 32 << 20, ..Limits::default() });
        let stalled = |last: u8, length: usize| {
            let mut held = budgets.empty_body_of_address(peer(last), Some(length));
            held.push_if_budget_has_room(&vec![b' '; length / 2]).unwrap();
            let mut body = budgets.waiting.add(peer(last), Arc::default());
            body.record_bytes(length / 2, held.share_of_budget());
            (held, body)
        };
        let _others = [stalled(2, 200_000), stalled(2, 20_000)];
        std::thread::sleep(std::time::Duration::from_millis(510));
        let ask = |held: &BytesWithinBudget| budgets.ask_stalled_bytes_to_make_room_for(held, 1_000);
        let mut own = budgets.empty_body_of_address(peer(1), Some(20 << 20));
        assert!(own.push_if_budget_has_room(&vec![b' '; 12 << 20]).is_ok());
        let more = budgets.empty_body_of_address(peer(1), Some(1 << 20));
        assert!(!ask(&more), "of 18 MiB that it may have, it has 12");
        drop(own);
        assert!(ask(&more), "a large one");
        assert!(!ask(&more), "a small one is not in the same part");
        assert!(ask(&budgets.empty_body_of_address(peer(1), Some(1_000))));
    }

    #[test]
    fn large_bodies_of_a_namespace_count_while_they_are_read() {
        let budgets = budgets(Limits { body_budget: 32 << 20, ..Limits::default() });
        let begin = |namespace: &str| {
            let mut held = body_of(&budgets, namespace, 3 << 20, MAX_SMALL_BODY_BYTES + 1);
            budgets.take_share_of_large_body(&mut held).ok().map(|()| held)
        };
        let mut one: Vec<_> = std::iter::from_fn(|| begin("one")).collect();
        assert_eq!(one.len(), 4, "12 MiB");
        let other = begin("other");
        assert!(other.is_some(), "another namespace");
        // The decision counts the request, and not the bytes again.
        let number = hash_of_namespace_if_complete(one[0].bytes()).unwrap();
        assert!(budgets.take_share_of_namespace_or_refuse(&mut one[0], number).is_some());
        drop(other);
        one.pop();
        assert!(begin("one").is_some(), "its share is given back");
    }

    #[test]
    fn small_bodies_of_a_namespace_leave_the_part_for_small_bodies_to_others() {
        let budgets = budgets(Limits { body_budget: 32 << 20, ..Limits::default() });
        let mut held: Vec<_> =
            (0..60).map(|_| body_of(&budgets, "one", MAX_SMALL_BODY_BYTES, MAX_SMALL_BODY_BYTES)).collect();
        let shares: Vec<_> =
            held.iter_mut().filter_map(|held| budgets.take_share_of_namespace_or_refuse(held, 1)).collect();
        let small = held.iter().filter(|held| held.is_in_part_for_small()).count();
        assert_eq!((shares.len(), small), (60, 36), "2.25 MiB are small, and none is refused");
    }

    /// Requests of a namespace that are taken at several API servers in turn, until each refuses one.
    fn all_of_namespace(
        budgets: &Budgets,
        namespace: &str,
        addresses: std::ops::RangeInclusive<u8>,
        length: usize,
    ) -> Vec<(BytesWithinBudget, ShareOfAddress, ShareOfNamespace)> {
        let mut taken = Vec::new();
        let number = namespace.len() as u64;
        let mut take = |last: u8| {
            let mut held = budgets.empty_body_of_address(peer(last), Some(length));
            held.push_if_budget_has_room(&vec![b' '; length]).ok()?;
            let request = budgets.count_request_or_refuse(peer(last), length)?;
            let share = budgets.take_share_of_namespace_or_refuse(&mut held, number)?;
            taken.push((held, request, share));
            Some(())
        };
        while addresses.clone().filter_map(&mut take).count() > 0 {}
        taken
    }

    #[test]
    fn a_namespace_leaves_room_to_others_at_each_api_server() {
        // Requests, small bytes, and large bytes are the first to run out.
        for (addresses, places) in [(1, [63, 63, 7]), (2, [52, 52, 5]), (3, [42, 42, 5])] {
            for (length, places) in [1_000, 60_000, 500_000].into_iter().zip(places) {
                let budgets = budgets(Limits { requests: 512, body_budget: 32 << 20, ..Limits::default() });
                let held = all_of_namespace(&budgets, "one", 1..=addresses, length);
                let other = all_of_namespace(&budgets, "other", 1..=addresses, length).len();
                assert_eq!(other, places, "{addresses} {length}, beside {}", held.len());
            }
        }
    }

    #[test]
    fn a_namespace_may_always_have_one_body_and_is_forgotten_after_its_last() {
        let budgets = budgets(Limits { requests: 512, body_budget: 32 << 20, ..Limits::default() });
        let held = all_of_namespace(&budgets, "one", 1..=1, 500_000);
        let mut largest = body_of(&budgets, "other", 8 << 20, MAX_SMALL_BODY_BYTES + 1);
        assert_eq!(budgets.take_share_of_large_body(&mut largest), Ok(()));
        let mut second = body_of(&budgets, "other", 8 << 20, MAX_SMALL_BODY_BYTES + 1);
        assert_eq!(
            budgets.take_share_of_large_body(&mut second),
            Err(RefusedByFirstBytes::NamespaceHoldsTooMuch)
        );
        assert!(!budgets.namespaces.knows_nobody());
        drop((held, largest, second));
        assert!(budgets.namespaces.knows_nobody());
    }

    #[test]
    fn other_addresses_leave_room_to_each_namespace_of_an_api_server() {
        let budgets = budgets(Limits { requests: 512, body_budget: 32 << 20, ..Limits::default() });
        let mut held = all_of_namespace(&budgets, "one", 1..=1, 1_000);
        // The oldest are answered, and as many come again as may.
        for _ in 0..20 {
            held.extend(all_of_namespace(&budgets, "one", 1..=3, 1_000));
            held.drain(..held.len() / 4);
        }
        held.extend(all_of_namespace(&budgets, "one", 1..=3, 1_000));
        let other = all_of_namespace(&budgets, "other", 1..=1, 1_000).len();
        assert_eq!((held.len(), other), (354, 30));
    }

    #[test]
    fn bytes_that_are_only_stated_take_nothing_from_other_addresses() {
        let budgets = budgets(Limits { requests: 512, body_budget: 32 << 20, ..Limits::default() });
        let _stalled: Vec<_> = (10..50)
            .map(|last| {
                let mut held = budgets.empty_body_of_address(peer(last), Some(8 << 20));
                let mut begun = br#"{"namespace":"other""#.to_vec();
                begun.resize(MAX_SMALL_BODY_BYTES + 1, b' ');
                held.push_if_budget_has_room(&begun).unwrap();
                assert_eq!(budgets.take_share_of_large_body(&mut held), Ok(()));
                held
            })
            .collect();
        let small = all_of_namespace(&budgets, "one", 1..=1, 1_000).len();
        let large = all_of_namespace(&budgets, "other", 1..=1, 500_000).len();
        assert_eq!((small, large), (252, 24));
    }
}
