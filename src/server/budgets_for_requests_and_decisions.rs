//! Budgets of all requests together: concurrent requests, bytes of bodies and answers, and concurrent decisions on large
//! bodies. Requests with small bodies have a share of each for themselves, so that a sender of large ones, or the API
//! server that passes them on, can still send them.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::default_limits_and_deadlines::Limits;
use super::fair_share_per_client_address::{BudgetForSmallAndLarge, ShareOfAddress};
use super::fair_share_per_namespace::{Amount, ShareOfNamespace, SharesOfNamespaces};
use super::namespace_of_body::hash_of_namespace_if_complete;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of all decisions on large bodies together (bytes), and so the most of one. A body that is decided takes up to
/// forty times its length.
pub(super) const MAX_MEMORY_OF_ALL_DECISIONS: usize = 64 << 20;
/// What one address may have of it (bytes). A body that needs more is decided while its address decides no other.
const MAX_MEMORY_OF_ONE_ADDRESS: usize = 48 << 20;
/// The memory of decisions is counted in pieces of so many bytes.
const PIECE: usize = 1024;

/// What is left.
pub(crate) struct Budgets {
    requests: Arc<BudgetForSmallAndLarge>,
    bytes: Arc<BudgetForSmallAndLarge>,
    deciding: Arc<DecisionSlots>,
    peers: Mutex<HashMap<IpAddr, Weak<DecisionSlots>>>,
    namespaces: Arc<SharesOfNamespaces>,
    /// Where bodies of one address and namespace wait for a place in the queue of their address, and for the threads that read
    /// bodies, that queue.
    queues: Mutex<HashMap<KeyOfQueue, Weak<Semaphore>>>,
    /// What one address may have.
    of_one: SlotsAndMemory,
}

/// Threads for large and for small bodies, and memory for large ones (bytes).
#[derive(Debug, Clone, Copy)]
struct SlotsAndMemory {
    large: usize,
    small: usize,
    memory: usize,
}

/// On which threads a body is decided: those that read bodies, those for small ones, or those for large ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Threads {
    Reading,
    Small,
    Large,
}

/// An address, one of its namespaces or the address as a whole, and the threads for which bodies wait.
type KeyOfQueue = (IpAddr, Option<u64>, Threads);

/// A turn to decide on the thread that read a body.
#[derive(Debug)]
pub(super) struct BriefTurn {
    _permits: [OwnedSemaphorePermit; 2],
}

/// Room for decisions: of all addresses, or of one.
#[derive(Debug)]
struct DecisionSlots {
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
    memory: Arc<Semaphore>,
}

impl DecisionSlots {
    fn new(SlotsAndMemory { large, small, memory }: SlotsAndMemory) -> Arc<Self> {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Arc::new(Self { large: semaphore(large), small: semaphore(small), memory: semaphore(memory / PIECE) })
    }

    /// A thread for a body; with memory, for a large one.
    async fn take(&self, pieces: Option<u32>) -> Option<Permits> {
        let threads = if pieces.is_some() { &self.large } else { &self.small };
        let thread = Arc::clone(threads).acquire_owned().await.ok()?;
        let memory = match pieces {
            Some(pieces) => Some(Arc::clone(&self.memory).acquire_many_owned(pieces).await.ok()?),
            None => None,
        };
        Some((thread, memory))
    }
}

type Permits = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

/// A turn to decide on a thread, with the memory for it.
#[derive(Debug)]
pub(super) struct Turn {
    _permits: [Permits; 2],
    _peer: Arc<DecisionSlots>,
    _place: OwnedSemaphorePermit,
}

impl Budgets {
    pub(crate) fn new(limits: &Limits) -> Self {
        let threads = limits.large_decisions.max(1);
        Self {
            requests: BudgetForSmallAndLarge::new(limits.requests),
            bytes: BudgetForSmallAndLarge::of_bytes(limits.body_budget),
            // One address leaves a thread of each size to others. For small bodies that is one more: a cluster has one API
            // server or three, and its pods come from there.
            deciding: DecisionSlots::new(SlotsAndMemory {
                large: threads,
                small: threads + 1,
                memory: MAX_MEMORY_OF_ALL_DECISIONS,
            }),
            peers: Mutex::default(),
            // Of requests and bytes half. An address may hold three quarters of half of the part for small bodies.
            namespaces: SharesOfNamespaces::new(Amount {
                requests: limits.requests / 2,
                small: limits.body_budget * 3 / 32,
                large: limits.body_budget / 2,
            }),
            queues: Mutex::default(),
            of_one: SlotsAndMemory {
                large: threads.saturating_sub(1).max(1),
                small: threads,
                memory: MAX_MEMORY_OF_ONE_ADDRESS,
            },
        }
    }

    /// Counts one more concurrent request of an address, with a body of this length; `None` at the limit. A request that
    /// waits for its turn counts too, so an address must not get all places.
    pub(super) fn count_request_or_refuse(&self, peer: IpAddr, length: usize) -> Option<ShareOfAddress> {
        ShareOfAddress::one_piece_for_body_length(&self.requests, peer, length).ok()
    }

    /// Takes the share of a namespace for a request that other threads will decide; `None` if it holds too much of what its
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

    /// Takes the share of a namespace for a large body of which the first bytes are read; `false` if the namespace holds too
    /// much. A body whose first bytes have no namespace, or whose length no header states, takes its share when it is read: to
    /// look for the namespace in each part of a body would take time by the square of its length.
    pub(super) fn take_share_of_large_body_or_refuse(&self, held: &mut BytesWithinBudget) -> bool {
        let known = held.stated_length().zip(hash_of_namespace_if_complete(held.bytes()));
        let Some((large, namespace)) = known else { return true };
        let share = self.namespaces.take_share_or_refuse(
            held.peer(),
            namespace,
            Amount { large, ..Amount::default() },
        );
        share.is_some_and(|share| {
            held.keep_share_of_namespace(share);
            true
        })
    }

    /// Waits for a turn to decide a large body, which will take about so much memory. `None` if that is more than all
    /// decisions together may take.
    pub(super) async fn wait_for_turn_of_large_body(
        &self,
        peer: IpAddr,
        namespace: u64,
        decoded: usize,
    ) -> Option<Turn> {
        let pieces = |most: usize| {
            u32::try_from(decoded.min(most).div_ceil(PIECE))
                .ok()
                .filter(|_| decoded <= MAX_MEMORY_OF_ALL_DECISIONS)
        };
        let (of_one, of_all) = (pieces(self.of_one.memory)?, pieces(MAX_MEMORY_OF_ALL_DECISIONS)?);
        let queue = self.find_or_add_queue(peer, Some(namespace), Threads::Large);
        self.wait_for_turn_in_both_budgets(peer, queue, Some(of_one), Some(of_all)).await
    }

    /// Waits for a turn to decide a small body. These threads are not those of large bodies, which may take fifty times as
    /// long.
    pub(super) async fn wait_for_turn_of_small_body(&self, peer: IpAddr, namespace: u64) -> Option<Turn> {
        let queue = self.find_or_add_queue(peer, Some(namespace), Threads::Small);
        self.wait_for_turn_in_both_budgets(peer, queue, None, None).await
    }

    /// An API server is one address for all tenants, so of each namespace only as many bodies as are decided at once stand
    /// in the queue of the address.
    async fn wait_for_turn_in_both_budgets(
        &self,
        peer: IpAddr,
        queue_of_namespace: Arc<Semaphore>,
        of_one: Option<u32>,
        of_all: Option<u32>,
    ) -> Option<Turn> {
        let place = queue_of_namespace.acquire_owned().await.ok()?;
        let share = self.find_or_add_slots_of_address(peer);
        // First the turn among those of the same address: whoever waits for it takes nothing from others.
        let permits = [share.take(of_one).await?, self.deciding.take(of_all).await?];
        Some(Turn { _permits: permits, _peer: share, _place: place })
    }

    fn find_or_add_slots_of_address(&self, peer: IpAddr) -> Arc<DecisionSlots> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        // At most as many as there are requests.
        peers.retain(|_, share| share.strong_count() > 0);
        let known = peers.get(&peer).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let share = DecisionSlots::new(self.of_one);
            peers.insert(peer, Arc::downgrade(&share));
            share
        })
    }

    /// Waits for a turn to decide on the thread that read the body. These threads serve connections in the order in which they
    /// are ready, so of each namespace, and of each address, only a few may be.
    pub(super) async fn wait_for_turn_on_reading_thread(
        &self,
        peer: IpAddr,
        namespace: u64,
    ) -> Option<BriefTurn> {
        let of_namespace = self.find_or_add_queue(peer, Some(namespace), Threads::Reading);
        let place = of_namespace.acquire_owned().await.ok()?;
        let of_address = self.find_or_add_queue(peer, None, Threads::Reading);
        Some(BriefTurn { _permits: [place, of_address.acquire_owned().await.ok()?] })
    }

    /// The queue of a namespace of an address, or of the address.
    fn find_or_add_queue(&self, peer: IpAddr, namespace: Option<u64>, threads: Threads) -> Arc<Semaphore> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        // At most as many as there are requests.
        queues.retain(|_, queue| queue.strong_count() > 0);
        let known = queues.get(&(peer, namespace, threads)).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let places = match (threads, namespace) {
                // One is decided, and one is ready.
                (Threads::Reading, None) => 2 * self.of_one.small,
                (Threads::Reading | Threads::Small, _) => self.of_one.small,
                (Threads::Large, _) => self.of_one.large,
            };
            let queue = Arc::new(Semaphore::new(places));
            queues.insert((peer, namespace, threads), Arc::downgrade(&queue));
            queue
        })
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
    use super::super::fair_share_per_client_address::MAX_SMALL_BODY_BYTES;
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

    #[test]
    fn small_bodies_of_one_address_leave_a_thread_to_others() {
        let budgets = budgets(Limits { large_decisions: 2, ..Limits::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let turn = |last: u8| {
            let soon = std::time::Duration::from_millis(20);
            runtime.block_on(async {
                tokio::time::timeout(soon, budgets.wait_for_turn_of_small_body(peer(last), 0)).await
            })
        };
        let mut one: Vec<_> = std::iter::from_fn(|| turn(1).ok()).collect();
        assert_eq!(one.len(), 2, "as many as there are cores");
        let other = turn(2);
        assert!(other.is_ok(), "one is left for others");
        one.clear();
        assert!(turn(1).is_ok() && turn(1).is_ok(), "they are free again");
    }

    /// How many bodies of another namespace come first, of 50 that wait already.
    fn bodies_of_other_namespace_before(threads: Threads) -> usize {
        let budgets = Arc::new(budgets(Limits { large_decisions: 2, ..Limits::default() }));
        let order = Arc::new(Mutex::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut decisions = tokio::task::JoinSet::new();
            // They begin in this order, so the one of namespace 2 comes last.
            for namespace in (0..50).map(|_| 1).chain([2]) {
                let (budgets, order) = (Arc::clone(&budgets), Arc::clone(&order));
                decisions.spawn(async move {
                    let brief = match threads {
                        Threads::Reading => budgets.wait_for_turn_on_reading_thread(peer(1), namespace).await,
                        _ => None,
                    };
                    let turn = match threads {
                        Threads::Reading => None,
                        Threads::Small => budgets.wait_for_turn_of_small_body(peer(1), namespace).await,
                        Threads::Large => {
                            budgets.wait_for_turn_of_large_body(peer(1), namespace, 1 << 20).await
                        }
                    };
                    // The decision.
                    tokio::task::yield_now().await;
                    order.lock().unwrap().push(namespace);
                    drop((brief, turn));
                });
            }
            decisions.join_all().await;
        });
        assert!(budgets.queues.lock().unwrap().len() <= 2);
        let order = order.lock().unwrap();
        assert_eq!(order.len(), 51);
        order.iter().position(|namespace| *namespace == 2).unwrap()
    }

    /// The requests of a tenant with many slow decisions come from the same API server as everybody's.
    #[test]
    fn a_namespace_does_not_wait_for_all_bodies_of_another() {
        for threads in [Threads::Reading, Threads::Small, Threads::Large] {
            let waited = bodies_of_other_namespace_before(threads);
            assert!(waited <= 4, "{threads:?}: {waited} bodies of the other namespace came first");
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
    fn large_bodies_of_a_namespace_count_while_they_are_read() {
        let budgets = budgets(Limits { body_budget: 32 << 20, ..Limits::default() });
        let begin = |namespace: &str| {
            let mut held = body_of(&budgets, namespace, 3 << 20, MAX_SMALL_BODY_BYTES + 1);
            budgets.take_share_of_large_body_or_refuse(&mut held).then_some(held)
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

    #[test]
    fn one_address_leaves_a_thread_and_memory_to_others() {
        let budgets = budgets(Limits { large_decisions: 3, ..Limits::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let turn = |last: u8, mib: usize| {
            let soon = std::time::Duration::from_millis(20);
            let turn = async {
                tokio::time::timeout(soon, budgets.wait_for_turn_of_large_body(peer(last), 0, mib << 20))
                    .await
            };
            runtime.block_on(turn)
        };
        assert!(turn(1, 65).unwrap().is_none(), "more than all may take");
        let (first, second) = (turn(1, 8).unwrap(), turn(1, 8).unwrap());
        assert!(turn(1, 1).is_err(), "a third thread is for others");
        let other = turn(2, 8).unwrap();
        drop((first, second));
        let large = turn(1, 40).unwrap();
        assert!(turn(1, 10).is_err(), "its memory is used");
        let more = turn(3, 10).unwrap();
        drop((large, other, more));
        assert!(turn(1, 64).unwrap().is_some(), "all of it, while it decides no other");
        assert!(budgets.peers.lock().unwrap().len() < 4);
    }
}
