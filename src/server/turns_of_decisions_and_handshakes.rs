//! Whose turn it is to decide, or to go on with a request or a handshake: each address, and each namespace of it, has queues of
//! its own, so that a sender of many requests lets others go first.

use super::fair_turns_of_addresses::{FairTurn, FairTurns};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory of all decisions on large bodies together (bytes), and so the most of one. A body that is decided takes up to
/// forty times its length.
pub(super) const MAX_MEMORY_OF_ALL_DECISIONS: usize = 64 << 20;
/// What one address may have of it (bytes), beside a body that needs more than [`MAX_MEMORY_BESIDE_OTHERS`].
const MAX_MEMORY_OF_ONE_ADDRESS: usize = 48 << 20;
/// A body that needs more than this (bytes) waits until no other such body is decided, and holds neither a thread nor memory
/// until then: other bodies wait for one of them at most, whatever number of addresses sends them.
const MAX_MEMORY_BESIDE_OTHERS: usize = MAX_MEMORY_OF_ALL_DECISIONS / 2;
/// The memory of decisions is counted in pieces of so many bytes.
const PIECE: usize = 1024;

/// About as long as decisions take at most. The first one of an address is expected to take as long, so that new addresses come
/// after one whose decisions are short.
const LONGEST_DECISION: Duration = Duration::from_millis(50);
/// The same on a thread for small bodies.
const LONGEST_ON_SMALL_THREAD: Duration = Duration::from_millis(5);

/// Requests that begin at a time, for each thread. To begin takes microseconds. Other connections that read bodies may make a
/// round of the threads long, and not more requests than these begin in one round.
const REQUESTS_PER_THREAD: usize = 16;

/// Who decides, and who waits for it.
pub(super) struct Turns {
    /// Threads for decisions, which addresses share.
    large: Arc<FairTurns>,
    small: Arc<FairTurns>,
    memory: Arc<Semaphore>,
    peers: Mutex<HashMap<IpAddr, Weak<DecisionSlots>>>,
    /// Where bodies of one address and namespace wait for a place in the queue of their address.
    queues: Mutex<HashMap<KeyOfQueue, Weak<Semaphore>>>,
    /// What one address may have.
    of_one: SlotsAndMemory,
    /// Of handshakes, which have a thread of their own.
    handshakes: Arc<FairTurns>,
    /// On the threads that read bodies, as many requests that begin, and decisions, go on at a time as keep these threads busy.
    /// So one round of these threads is short, however many connections could go on.
    requests: Arc<FairTurns>,
    brief_decisions: Arc<FairTurns>,
    /// Of refused bodies, of which the rest is read.
    refused: Arc<FairTurns>,
    /// Of bodies that need more than [`MAX_MEMORY_BESIDE_OTHERS`], one is decided at a time, whosever it is.
    huge: Arc<FairTurns>,
}

/// Threads for large and for small bodies, and memory for large ones (bytes).
#[derive(Debug, Clone, Copy)]
struct SlotsAndMemory {
    large: usize,
    small: usize,
    memory: usize,
}

/// Where a body waits to be decided: for the thread that read it, or for one of the threads for small or for large bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TurnOf {
    BodyOnReadingThread,
    SmallBody,
    LargeBody,
}

/// An address, one of its namespaces, and what waits.
type KeyOfQueue = (IpAddr, u64, TurnOf);

/// Room for the decisions of one address.
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
    async fn take(&self, pieces: Option<u32>) -> Option<(OwnedSemaphorePermit, Memory)> {
        let threads = if pieces.is_some() { &self.large } else { &self.small };
        let thread = Arc::clone(threads).acquire_owned().await.ok()?;
        Some((thread, take_memory(&self.memory, pieces).await?))
    }
}

/// Pieces of memory, for a large body.
type Memory = Option<OwnedSemaphorePermit>;

async fn take_memory(memory: &Arc<Semaphore>, pieces: Option<u32>) -> Option<Memory> {
    Some(match pieces {
        Some(pieces) => Some(Arc::clone(memory).acquire_many_owned(pieces).await.ok()?),
        None => None,
    })
}

/// A turn to decide on a thread, with the memory for it.
#[derive(Debug)]
pub(super) struct Turn {
    _huge: Option<FairTurn>,
    _of_address: Option<(Arc<DecisionSlots>, OwnedSemaphorePermit, Memory)>,
    thread: FairTurn,
    _memory: Memory,
    _place: OwnedSemaphorePermit,
}

impl Turn {
    /// Counts the CPU time of the decision. The turn may go on for longer, because it waits for memory, or because other programs
    /// have the cores.
    pub(super) fn count_cpu_time(&mut self, time: Duration) {
        self.thread.count(time);
    }
}

impl Turns {
    /// `threads`: for large bodies (count).
    pub(super) fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        Self {
            // One address leaves a thread of each size to others. For small bodies that is one more: a cluster has one API
            // server or three, and its pods come from there.
            large: FairTurns::new(threads, LONGEST_DECISION),
            small: FairTurns::new(threads + 1, LONGEST_ON_SMALL_THREAD),
            memory: Arc::new(Semaphore::new(MAX_MEMORY_OF_ALL_DECISIONS / PIECE)),
            peers: Mutex::default(),
            queues: Mutex::default(),
            of_one: SlotsAndMemory {
                large: threads.saturating_sub(1).max(1),
                small: threads,
                memory: MAX_MEMORY_OF_ONE_ADDRESS,
            },
            handshakes: FairTurns::new(1, Duration::ZERO),
            requests: FairTurns::new(REQUESTS_PER_THREAD * threads, Duration::ZERO),
            brief_decisions: FairTurns::new(2 * threads, Duration::ZERO),
            refused: FairTurns::new(threads, Duration::ZERO),
            huge: FairTurns::new(1, LONGEST_DECISION),
        }
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
        let memory = (pieces(self.of_one.memory)?, pieces(MAX_MEMORY_OF_ALL_DECISIONS)?);
        let queue = self.find_or_add_queue(peer, namespace, TurnOf::LargeBody);
        self.wait_for_turn_in_both_budgets(peer, queue, Some(memory)).await
    }

    /// Waits for a turn to decide a small body. These threads are not those of large bodies, which may take fifty times as
    /// long.
    pub(super) async fn wait_for_turn_of_small_body(&self, peer: IpAddr, namespace: u64) -> Option<Turn> {
        let queue = self.find_or_add_queue(peer, namespace, TurnOf::SmallBody);
        self.wait_for_turn_in_both_budgets(peer, queue, None).await
    }

    /// An API server is one address for all tenants, so of each namespace only as many bodies as are decided at once stand
    /// in the queue of the address.
    async fn wait_for_turn_in_both_budgets(
        &self,
        peer: IpAddr,
        queue_of_namespace: Arc<Semaphore>,
        memory: Option<(u32, u32)>,
    ) -> Option<Turn> {
        let place = queue_of_namespace.acquire_owned().await.ok()?;
        let (of_one, of_all) = memory.unzip();
        let is_huge = of_all.is_some_and(|pieces| pieces as usize * PIECE > MAX_MEMORY_BESIDE_OTHERS);
        // First the turn among those of the same address: whoever waits for it takes nothing from others.
        let (huge, of_address) = if is_huge {
            (Some(self.huge.wait_for_turn(peer).await?), None)
        } else {
            let share = self.find_or_add_slots_of_address(peer);
            let (thread, memory) = share.take(of_one).await?;
            (None, Some((share, thread, memory)))
        };
        let threads = if of_all.is_some() { &self.large } else { &self.small };
        let thread = threads.wait_for_turn(peer).await?;
        let memory = take_memory(&self.memory, of_all).await?;
        Some(Turn { _huge: huge, _of_address: of_address, thread, _memory: memory, _place: place })
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

    /// Waits for a turn to decide on the thread that read the body. Of each namespace, only a few bodies wait for the turn of
    /// their address.
    pub(super) async fn wait_for_turn_on_reading_thread(
        &self,
        peer: IpAddr,
        namespace: u64,
    ) -> Option<(OwnedSemaphorePermit, FairTurn)> {
        let place = self.find_or_add_queue(peer, namespace, TurnOf::BodyOnReadingThread);
        let place = place.acquire_owned().await.ok()?;
        Some((place, self.brief_decisions.wait_for_turn(peer).await?))
    }

    /// Waits for a turn to begin with a request of an address: to read its body, or to answer without one.
    pub(super) async fn wait_for_turn_of_request(&self, peer: IpAddr) -> Option<FairTurn> {
        self.requests.wait_for_turn(peer).await
    }

    /// Waits for a turn to read a part of the rest of a refused body.
    pub(super) async fn wait_for_turn_of_refused_body(&self, peer: IpAddr) -> Option<FairTurn> {
        self.refused.wait_for_turn(peer).await
    }

    /// Waits for a turn to answer a message of a handshake, which takes as long as several decisions.
    pub(super) async fn wait_for_turn_of_handshake(&self, peer: IpAddr) -> Option<FairTurn> {
        self.handshakes.wait_for_turn(peer).await
    }

    /// The queue of a namespace of an address.
    fn find_or_add_queue(&self, peer: IpAddr, namespace: u64, of: TurnOf) -> Arc<Semaphore> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        // At most as many as there are requests.
        queues.retain(|_, queue| queue.strong_count() > 0);
        let known = queues.get(&(peer, namespace, of)).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let places = match of {
                TurnOf::BodyOnReadingThread | TurnOf::SmallBody => self.of_one.small,
                TurnOf::LargeBody => self.of_one.large,
            };
            let queue = Arc::new(Semaphore::new(places));
            queues.insert((peer, namespace, of), Arc::downgrade(&queue));
            queue
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn small_bodies_of_one_address_leave_a_thread_to_others() {
        let turns = Turns::new(2);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let turn = |last: u8| {
            let soon = std::time::Duration::from_millis(20);
            runtime.block_on(async {
                tokio::time::timeout(soon, turns.wait_for_turn_of_small_body(peer(last), 0)).await
            })
        };
        let mut one: Vec<_> = std::iter::from_fn(|| turn(1).ok()).collect();
        assert_eq!(one.len(), 2, "as many as there are cores");
        let other = turn(2);
        assert!(other.is_ok(), "one is left for others");
        one.clear();
        assert!(turn(1).is_ok() && turn(1).is_ok(), "they are free again");
    }

    /// How many of 50 that wait already come before a body of another namespace.
    fn how_many_come_before_another_namespace(of: TurnOf) -> usize {
        let turns = Arc::new(Turns::new(2));
        let order = Arc::new(Mutex::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut decisions = tokio::task::JoinSet::new();
            // They begin in this order, so that of namespace 2 comes last.
            for namespace in (0..50).map(|_| 1).chain([2]) {
                let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
                decisions.spawn(async move {
                    let (brief, turn) = match of {
                        TurnOf::BodyOnReadingThread => {
                            (turns.wait_for_turn_on_reading_thread(peer(1), namespace).await, None)
                        }
                        TurnOf::SmallBody => {
                            (None, turns.wait_for_turn_of_small_body(peer(1), namespace).await)
                        }
                        TurnOf::LargeBody => {
                            (None, turns.wait_for_turn_of_large_body(peer(1), namespace, 1 << 20).await)
                        }
                    };
                    // On a thread that reads, a decision does not let others go on.
                    if of != TurnOf::BodyOnReadingThread {
                        tokio::task::yield_now().await;
                    }
                    order.lock().unwrap().push(namespace);
                    drop((brief, turn));
                });
            }
            decisions.join_all().await;
        });
        assert!(turns.queues.lock().unwrap().len() <= 2);
        let order = order.lock().unwrap();
        assert_eq!(order.len(), 51);
        order.iter().position(|namespace| *namespace == 2).unwrap()
    }

    /// The requests of a tenant with many slow decisions come from the same API server as everybody's.
    #[test]
    fn a_sender_does_not_wait_for_all_of_another() {
        for of in [TurnOf::BodyOnReadingThread, TurnOf::SmallBody, TurnOf::LargeBody] {
            let waited = how_many_come_before_another_namespace(of);
            assert!(waited <= 4, "{of:?}: {waited} of the other came first");
        }
    }

    /// However many addresses open connections, a request on an open one is ready after few handshakes.
    #[test]
    fn handshakes_of_many_addresses_let_other_work_go_on() {
        let turns = Arc::new(Turns::new(2));
        let going_on = Arc::new(Mutex::new((0, 0)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut handshakes = tokio::task::JoinSet::new();
            for last in 0..250 {
                let (turns, going_on) = (Arc::clone(&turns), Arc::clone(&going_on));
                handshakes.spawn(async move {
                    let turn = turns.wait_for_turn_of_handshake(peer(last)).await;
                    going_on.lock().unwrap().0 += 1;
                    drop(turn);
                });
            }
            while going_on.lock().unwrap().0 < 250 {
                let before = going_on.lock().unwrap().0;
                tokio::task::yield_now().await;
                let mut going_on = going_on.lock().unwrap();
                going_on.1 = going_on.1.max(going_on.0 - before);
            }
            handshakes.join_all().await;
        });
        let (all, in_one_round) = *going_on.lock().unwrap();
        assert_eq!(all, 250);
        assert!(in_one_round <= 4, "{in_one_round} in one round");
    }

    /// Many addresses send bodies that need nearly all the memory, and others send small ones.
    #[test]
    fn bodies_that_need_most_of_the_memory_let_all_others_go_before_the_next() {
        let turns = Arc::new(Turns::new(2));
        let order = Arc::new(Mutex::new(Vec::new()));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut decisions = tokio::task::JoinSet::new();
            let huge = (1..9).flat_map(|last| [(last, 60), (last, 60)]);
            for (last, mib) in huge.chain((11..20).map(|last| (last, 1))) {
                let (turns, order) = (Arc::clone(&turns), Arc::clone(&order));
                decisions.spawn(async move {
                    let turn = turns.wait_for_turn_of_large_body(peer(last), mib, (mib as usize) << 20).await;
                    tokio::task::yield_now().await;
                    // An address is known by the length of its turns.
                    std::thread::sleep(Duration::from_millis(mib / 4));
                    order.lock().unwrap().push(mib);
                    drop(turn);
                });
            }
            decisions.join_all().await;
        });
        let order = order.lock().unwrap();
        let last_of_others = order.iter().rposition(|mib| *mib == 1).unwrap();
        let huge_before = order[..last_of_others].iter().filter(|mib| **mib == 60).count();
        assert_eq!(order.len(), 25);
        assert!(huge_before <= 1, "{order:?}");
    }

    #[test]
    fn one_address_leaves_a_thread_and_memory_to_others() {
        let turns = Turns::new(3);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let turn = |last: u8, mib: usize| {
            let soon = std::time::Duration::from_millis(20);
            let turn = async {
                tokio::time::timeout(soon, turns.wait_for_turn_of_large_body(peer(last), 0, mib << 20)).await
            };
            runtime.block_on(turn)
        };
        assert!(turn(1, 65).unwrap().is_none(), "more than all may take");
        let (first, second) = (turn(1, 8).unwrap(), turn(1, 8).unwrap());
        assert!(turn(1, 1).is_err(), "a third thread is for others");
        let other = turn(2, 8).unwrap();
        drop((first, second));
        let large = turn(1, 30).unwrap();
        assert!(turn(1, 20).is_err(), "its memory is used");
        let more = turn(3, 20).unwrap();
        drop((large, other, more));
        let huge = turn(1, 40).unwrap();
        assert!(turn(2, 33).is_err(), "one of them at a time");
        drop(huge);
        assert!(turn(1, 64).unwrap().is_some(), "all of it");
        assert!(turns.peers.lock().unwrap().len() < 4);
    }
}
