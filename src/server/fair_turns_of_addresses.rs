//! Turns that addresses share fairly: start-time fair queueing (Goyal, Vin and Cheng, IEEE/ACM Transactions on Networking 5/5).
//! An address that asks seldom comes before addresses that wait already, whatever number of addresses and connections that is.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Turns of which only a few go on at a time.
#[derive(Debug)]
pub(super) struct FairTurns {
    queue: Mutex<Queue>,
}

/// Who has waited for turns.
#[derive(Debug)]
struct Queue {
    free: usize,
    /// Those that wait, by when they may begin. The number is that of the question.
    waiting: BTreeMap<(u64, u64), oneshot::Sender<FairTurn>>,
    asked: u64,
    /// When the last turn may have begun, counted in turns of an address.
    now: u64,
    /// When each address has had all turns for which it asked.
    ends: HashMap<IpAddr, u64>,
    /// How many addresses are kept until those that have ended are forgotten.
    kept: usize,
}

/// Fewest addresses for which it is worth while to look for those that have ended.
const FEW_ADDRESSES: usize = 64;

/// A turn, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct FairTurn {
    turns: Arc<FairTurns>,
}

/// A place in the queue. Whoever goes before its turn leaves the queue.
struct Place {
    turns: Arc<FairTurns>,
    key: (u64, u64),
}

impl FairTurns {
    /// `places`: turns that go on at a time (count).
    pub(super) fn new(places: usize) -> Arc<Self> {
        let queue = Queue {
            free: places.max(1),
            waiting: BTreeMap::new(),
            asked: 0,
            now: 0,
            ends: HashMap::new(),
            kept: FEW_ADDRESSES,
        };
        Arc::new(Self { queue: Mutex::new(queue) })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn of an address, and lets all others that are ready ask for theirs before it begins.
    pub(super) async fn wait_for_turn(self: &Arc<Self>, peer: IpAddr) -> Option<FairTurn> {
        let asked = self.queue().ask(peer);
        let turn = match asked {
            None => Some(FairTurn { turns: Arc::clone(self) }),
            Some((key, waits)) => {
                let _place = Place { turns: Arc::clone(self), key };
                waits.await.ok()
            }
        };
        tokio::task::yield_now().await;
        turn
    }

    /// Gives a place to the next that waits.
    fn give_place(self: &Arc<Self>) {
        let next = self.queue().next_or_free();
        // Whoever has gone at this moment gives the turn back.
        let _ = next.map(|next| next.send(FairTurn { turns: Arc::clone(self) }));
    }
}

impl Queue {
    /// The place in the queue, and what to wait for; `None` if the turn begins at once.
    fn ask(&mut self, peer: IpAddr) -> Option<((u64, u64), oneshot::Receiver<FairTurn>)> {
        let begins = self.ends.get(&peer).copied().unwrap_or_default().max(self.now);
        self.ends.insert(peer, begins + 1);
        self.forget_addresses_that_have_ended();
        if self.free > 0 {
            self.free -= 1;
            self.now = begins;
            return None;
        }
        self.asked += 1;
        let (sender, receiver) = oneshot::channel();
        let key = (begins, self.asked);
        self.waiting.insert(key, sender);
        Some((key, receiver))
    }

    /// The next that waits. If none does, a place is free.
    fn next_or_free(&mut self) -> Option<oneshot::Sender<FairTurn>> {
        let Some(((begins, _), next)) = self.waiting.pop_first() else {
            self.free += 1;
            return None;
        };
        self.now = self.now.max(begins);
        Some(next)
    }

    fn forget_addresses_that_have_ended(&mut self) {
        if self.ends.len() > self.kept {
            let now = self.now;
            self.ends.retain(|_, end| *end > now);
            self.kept = FEW_ADDRESSES.max(2 * self.ends.len());
        }
    }
}

impl Drop for FairTurn {
    fn drop(&mut self) {
        self.turns.give_place();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.turns.queue().waiting.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// All ask in this order; the addresses in the order in which they have had their turns.
    fn order(turns: &Arc<FairTurns>, addresses: impl IntoIterator<Item = u8>) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let had = Arc::new(Mutex::new(Vec::new()));
        runtime.block_on(async {
            let mut all = tokio::task::JoinSet::new();
            for address in addresses {
                let (turns, had) = (Arc::clone(turns), Arc::clone(&had));
                all.spawn(async move {
                    let turn = turns.wait_for_turn(peer(address)).await;
                    had.lock().unwrap().push(address);
                    drop(turn);
                });
            }
            all.join_all().await;
        });
        let had = had.lock().unwrap();
        had.clone()
    }

    #[test]
    fn an_address_that_asks_seldom_comes_first() {
        let turns = FairTurns::new(2);
        // 250 addresses with four requests each ask before.
        let had = order(&turns, (0..4).flat_map(|_| 1..=250).chain([251]));
        let waited = had.iter().position(|address| *address == 251).unwrap();
        assert!(waited <= 252, "{waited}");
        // All of them wait for their second turns now.
        let turns = FairTurns::new(2);
        let had = order(&turns, (1..=250).flat_map(|address| [address; 4]).chain([251]));
        let waited = had.iter().position(|address| *address == 251).unwrap();
        assert!(waited <= 252, "{waited}");
        assert_eq!(turns.queue().free, 2);
    }

    #[test]
    fn an_address_without_requests_goes_before_those_that_wait() {
        let turns = FairTurns::new(1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let ask = |last: u8| {
                let (_, waits) = turns.queue().ask(peer(last)).unwrap();
                waits
            };
            let first = turns.wait_for_turn(peer(1)).await;
            let mut waiting: Vec<_> =
                (0..1_000).map(|at| (at, ask(u8::try_from(at % 250).unwrap()))).collect();
            drop(first);
            // Each address has had some turns.
            let mut had = 0;
            while had < 600 {
                waiting.retain_mut(|(_, waits)| waits.try_recv().map(drop).is_err());
                had = 1_000 - waiting.len();
            }
            let mut newcomer = ask(251);
            let before = waiting.len();
            while newcomer.try_recv().is_err() {
                waiting.retain_mut(|(_, waits)| waits.try_recv().map(drop).is_err());
            }
            assert!(before - waiting.len() <= 250, "{before} {}", waiting.len());
        });
    }

    #[test]
    fn whoever_goes_while_waiting_leaves_the_queue() {
        let turns = FairTurns::new(1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let first = turns.wait_for_turn(peer(1)).await;
            let mut waiting: Vec<_> =
                (2..100).map(|last| Box::pin(turns.wait_for_turn(peer(last)))).collect();
            for waits in &mut waiting {
                assert!(polled_once(waits.as_mut()).await.is_none());
            }
            assert_eq!(turns.queue().waiting.len(), 98);
            drop(waiting);
            assert!(turns.queue().waiting.is_empty());
            drop(first);
            assert_eq!(turns.queue().free, 1);
            // A turn that was given, and not taken.
            let first = turns.wait_for_turn(peer(1)).await;
            let mut given = Box::pin(turns.wait_for_turn(peer(2)));
            assert!(polled_once(given.as_mut()).await.is_none());
            drop(first);
            assert_eq!(turns.queue().free, 0);
            drop(given);
            assert_eq!(turns.queue().free, 1);
        });
    }

    /// What a future gives when it is polled once.
    async fn polled_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        std::future::poll_fn(|context| match future.as_mut().poll(context) {
            std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }

    #[test]
    fn addresses_are_forgotten() {
        let turns = FairTurns::new(4);
        for round in 0..200_u8 {
            order(&turns, [round, round, 255]);
        }
        assert!(turns.queue().ends.len() <= FEW_ADDRESSES + 1, "{}", turns.queue().ends.len());
    }
}
