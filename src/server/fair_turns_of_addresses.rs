//! Turns that addresses share fairly: the next turn is that of the address which will have used the least time at its end. It is
//! fair queueing by virtual time (Goyal, Vin and Cheng, IEEE/ACM Transactions on Networking 5/5) for turns whose length is known only
//! at their end, and is expected to be that of the turns before. An address that asks seldom, or for short turns, comes before
//! addresses that wait already, whatever number of addresses and connections that is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Turns of which only a few go on at a time.
#[derive(Debug)]
pub(super) struct FairTurns {
    queue: Mutex<Queue>,
}

/// Who has and who waits for turns.
#[derive(Debug)]
struct Queue {
    places: usize,
    free: usize,
    /// How long the first turn of an address is expected to be (nanoseconds).
    of_strangers: u64,
    addresses: HashMap<IpAddr, Address>,
    /// The addresses that wait.
    order: BTreeSet<Rank>,
    asked: u64,
    /// What the address had used whose turn began last. Whoever has used less has not asked, and gains nothing by it.
    now: u64,
    /// The most that an address has used.
    most: u64,
    spread: u64,
    /// How many addresses are remembered before some are forgotten.
    remembered: usize,
}

/// Addresses that are remembered at least: as many as there may be connections.
const LEAST_REMEMBERED: usize = 1_024;

/// What an address will have used at the end of its next turn (nanoseconds), the number of its first question without an answer, and
/// the address.
type Rank = (u64, u64, IpAddr);

/// Time that one address has used (nanoseconds), its turns that go on (count), and its questions.
#[derive(Debug, Default)]
struct Address {
    used: u64,
    turns: usize,
    /// How long its turns are, of late.
    lasts: Option<u64>,
    /// Whether it had used less than others and has had no turn since then.
    is_newcomer: bool,
    waiting: BTreeMap<u64, oneshot::Sender<FairTurn>>,
}

impl Address {
    fn rank(&self, peer: IpAddr, of_strangers: u64) -> Option<Rank> {
        let (asked, _) = self.waiting.first_key_value()?;
        Some((self.used.saturating_add(self.lasts.unwrap_or(of_strangers)), *asked, peer))
    }

    /// A turn that begins counts as a nanosecond at once, so that those of an address that end at once are not all before others.
    fn begin_turn(&mut self) {
        self.turns += 1;
        self.used = self.used.saturating_add(1);
    }

    /// A turn has ended.
    fn end_turn(&mut self, lasted: u64) {
        self.turns = self.turns.saturating_sub(1);
        self.used = self.used.saturating_add(lasted);
        self.lasts = Some(self.lasts.map_or(lasted, |before| before - before / 8 + lasted / 8));
    }
}

/// A turn, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct FairTurn {
    turns: Arc<FairTurns>,
    peer: IpAddr,
    began: Instant,
    /// What counts, if not all the time since it began.
    counted: Option<Duration>,
}

/// A place in the queue. Whoever goes before its turn leaves the queue.
struct Place {
    turns: Arc<FairTurns>,
    peer: IpAddr,
    asked: u64,
}

impl FairTurns {
    /// `places`: turns that go on at a time (count). `of_strangers`: how long the first turn of an address is expected to be.
    pub(super) fn new(places: usize, of_strangers: Duration) -> Arc<Self> {
        let places = places.max(1);
        let queue = Queue {
            places,
            free: places,
            of_strangers: nanoseconds(of_strangers),
            addresses: HashMap::new(),
            order: BTreeSet::new(),
            asked: 0,
            now: 0,
            most: 0,
            spread: 0,
            remembered: LEAST_REMEMBERED,
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
            None => Some(self.begin(peer)),
            Some((asked, waits)) => {
                let _place = Place { turns: Arc::clone(self), peer, asked };
                waits.await.ok()
            }
        };
        tokio::task::yield_now().await;
        turn.map(|mut turn| {
            turn.began = Instant::now();
            turn
        })
    }

    fn begin(self: &Arc<Self>, peer: IpAddr) -> FairTurn {
        FairTurn { turns: Arc::clone(self), peer, began: Instant::now(), counted: None }
    }

    /// Counts a turn that has ended, and gives its place to the next that waits.
    fn end_turn_and_begin_next(self: &Arc<Self>, peer: IpAddr, lasted: Duration) {
        let next = self.queue().end_and_take_next(peer, lasted);
        // Whoever has gone at this moment gives the turn back.
        let _ = next.map(|(peer, next)| next.send(self.begin(peer)));
    }
}

impl Queue {
    /// The number of the question, and what to wait for; `None` if the turn begins at once.
    fn ask(&mut self, peer: IpAddr) -> Option<(u64, oneshot::Receiver<FairTurn>)> {
        // When nobody has or wants a turn, nobody owes time to others.
        if self.free == self.places {
            self.now = self.now.max(self.most);
        }
        self.forget_addresses_above_limit();
        let address = self.addresses.entry(peer).or_default();
        if address.waiting.is_empty() && address.used <= self.now {
            (address.used, address.is_newcomer) = (self.now, true);
        }
        if self.free > 0 {
            self.free -= 1;
            self.now = self.now.max(address.used);
            address.begin_turn();
            return None;
        }
        self.asked += 1;
        let (sender, receiver) = oneshot::channel();
        self.change(peer, |address, asked| {
            address.waiting.insert(asked, sender);
        });
        Some((self.asked, receiver))
    }

    /// Changes an address, and so perhaps its rank. The change also gets the number of the last question.
    fn change<T>(&mut self, peer: IpAddr, change: impl FnOnce(&mut Address, u64) -> T) -> Option<T> {
        let address = self.addresses.get_mut(&peer)?;
        let before = address.rank(peer, self.of_strangers);
        let changed = change(address, self.asked);
        let after = address.rank(peer, self.of_strangers);
        if before != after {
            before.map(|rank| self.order.remove(&rank));
            self.order.extend(after);
        }
        Some(changed)
    }

    /// Counts a turn that has ended. The next that waits; if none does, a place is free.
    fn end_and_take_next(
        &mut self,
        peer: IpAddr,
        lasted: Duration,
    ) -> Option<(IpAddr, oneshot::Sender<FairTurn>)> {
        let lasted = self.between_half_and_one_and_a_half(lasted);
        let active = (self.order.len() + self.places - self.free) as u64;
        let by_newcomer = self.change(peer, |address, _| {
            address.end_turn(lasted);
            (std::mem::take(&mut address.is_newcomer), address.used)
        });
        let (by_newcomer, used) = by_newcomer.unwrap_or_default();
        self.most = self.most.max(used);
        // A newcomer joins at `now`, and so comes before some that wait. Each one moves `now` on. If it did not, some might never
        // have a turn while new addresses keep coming.
        if by_newcomer {
            self.now = self.now.saturating_add(lasted / active.max(1));
        }
        let next = self.order.first().copied();
        let taken = next.and_then(|(_, _, peer)| {
            let taken = self.change(peer, |address, _| {
                let used = address.used;
                address.begin_turn();
                Some((used, address.waiting.pop_first()?))
            });
            let (used, (_, sender)) = taken.flatten()?;
            self.now = self.now.max(used);
            Some((peer, sender))
        });
        if taken.is_none() {
            self.free += 1;
        }
        taken
    }

    /// What counts for a turn that lasted so long (nanoseconds), which is on average as much. If it were exactly as much, addresses
    /// whose turns are of one length would all have used the same, and one that has used a little more would come after all of
    /// them.
    fn between_half_and_one_and_a_half(&mut self, lasted: Duration) -> u64 {
        // A linear congruential generator (Knuth, The Art of Computer Programming 2, 3.3.4).
        self.spread = self.spread.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let part = u128::from(self.spread >> 32);
        let counted = lasted.as_nanos() / 2 + ((lasted.as_nanos() * part) >> 32);
        u64::try_from(counted).unwrap_or(u64::MAX)
    }

    /// Forgets addresses that have and want no turn and have used no more than others, once there are many.
    fn forget_addresses_above_limit(&mut self) {
        if self.addresses.len() > self.remembered {
            let now = self.now;
            self.addresses
                .retain(|_, known| known.turns > 0 || !known.waiting.is_empty() || known.used > now);
            self.remembered = LEAST_REMEMBERED.max(2 * self.addresses.len());
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl FairTurn {
    /// Counts so much time for this turn, and not how long it goes on.
    pub(super) fn count(&mut self, time: Duration) {
        self.counted = Some(time);
    }
}

impl Drop for FairTurn {
    fn drop(&mut self) {
        let counted = self.counted.unwrap_or_else(|| self.began.elapsed());
        self.turns.end_turn_and_begin_next(self.peer, counted);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.turns.queue().change(self.peer, |address, _| address.waiting.remove(&self.asked));
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
        let turns = FairTurns::new(2, Duration::ZERO);
        // 250 addresses with four requests each ask before.
        let had = order(&turns, (0..4).flat_map(|_| 1..=250).chain([251]));
        let waited = had.iter().position(|address| *address == 251).unwrap();
        assert!(waited <= 252, "{waited}");
        // All of them wait for their second turns now.
        let turns = FairTurns::new(2, Duration::ZERO);
        let had = order(&turns, (1..=250).flat_map(|address| [address; 4]).chain([251]));
        let waited = had.iter().position(|address| *address == 251).unwrap();
        assert!(waited <= 252, "{waited}");
        assert_eq!(turns.queue().free, 2);
    }

    /// Some addresses take a long turn each time, and wait for the next one again. One that takes short turns waits for few of them.
    #[test]
    fn an_address_that_has_used_little_comes_first() {
        let turns = FairTurns::new(1, Duration::ZERO);
        let mut queue = turns.queue();
        let long = Duration::from_millis(25);
        assert!(queue.ask(peer(0)).is_none());
        let mut waits: Vec<_> = (1..=250).map(|last| queue.ask(peer(last)).unwrap()).collect();
        let mut begun = peer(0);
        for _ in 0..600 {
            let (next, _) = queue.end_and_take_next(begun, long).unwrap();
            waits.push(queue.ask(begun).unwrap());
            begun = next;
        }
        // The other addresses that have a turn before it, for each of its questions.
        let mut before = Vec::new();
        for _ in 0..100 {
            waits.push(queue.ask(peer(251)).unwrap());
            let mut others = 0;
            loop {
                let (next, _) = queue.end_and_take_next(begun, long).unwrap();
                waits.push(queue.ask(begun).unwrap());
                begun = next;
                if begun == peer(251) {
                    break;
                }
                others += 1;
            }
            (begun, _) = queue.end_and_take_next(begun, Duration::from_micros(100)).unwrap();
            before.push(others);
        }
        let (first, most) = (before[0], before.iter().max().copied().unwrap());
        assert!(first == 0 && most <= 5, "{before:?}");
    }

    /// Many addresses ask for long turns at once and pause until nobody waits, again and again. One whose turns were short comes first.
    #[test]
    fn an_address_with_short_turns_comes_before_a_burst() {
        let turns = FairTurns::new(1, Duration::from_millis(10));
        let mut queue = turns.queue();
        assert!(queue.ask(peer(255)).is_none());
        assert!(queue.end_and_take_next(peer(255), Duration::from_millis(1)).is_none());
        for round in 0..5 {
            assert!(queue.ask(peer(0)).is_none());
            let mut waits: Vec<_> = (1..100).map(|last| queue.ask(peer(last)).unwrap()).collect();
            waits.push(queue.ask(peer(255)).unwrap());
            let (mut begun, _) = queue.end_and_take_next(peer(0), Duration::from_millis(16)).unwrap();
            assert_eq!(begun, peer(255), "{round}");
            let mut lasted = Duration::from_millis(1);
            while let Some((next, _)) = queue.end_and_take_next(begun, lasted) {
                (begun, lasted) = (next, Duration::from_millis(16));
            }
        }
    }

    /// New addresses come all the time, each for one turn. An address that has used little waits for those that wait already.
    #[test]
    fn new_addresses_put_nobody_off_for_ever() {
        let turns = FairTurns::new(1, Duration::ZERO);
        let mut queue = turns.queue();
        let mut numbers = 1_u32..;
        let mut fresh = || IpAddr::from(numbers.next().unwrap_or_default().to_be_bytes());
        let mut begun = fresh();
        assert!(queue.ask(begun).is_none());
        let mut waits: Vec<_> = (0..50).filter_map(|_| queue.ask(fresh())).collect();
        for round in 0..100 {
            waits.extend(queue.ask(peer(1)));
            let mut others = 0;
            loop {
                let of_peer = begun == peer(1);
                let lasted = if of_peer { Duration::from_micros(100) } else { Duration::from_millis(25) };
                let (next, _) = queue.end_and_take_next(begun, lasted).unwrap();
                begun = next;
                if of_peer {
                    break;
                }
                others += 1;
                assert!(others <= 60, "round {round}");
                waits.extend(queue.ask(fresh()));
            }
        }
    }

    /// Who asks for many turns at once, or asks again while it has one, gains nothing against one that does not.
    #[test]
    fn two_addresses_have_the_same_time() {
        let turns = FairTurns::new(2, Duration::ZERO);
        let mut queue = turns.queue();
        let mut waits: Vec<_> = (0..400).filter_map(|_| queue.ask(peer(1))).collect();
        waits.extend((0..2).filter_map(|_| queue.ask(peer(2))));
        let mut begun = std::collections::VecDeque::from([peer(1), peer(1)]);
        let (mut times, millis) = ([0, 0], |last| if last == peer(1) { 3 } else { 10 });
        for _ in 0..300 {
            let ended = begun.pop_front().unwrap();
            let lasted = millis(ended);
            times[usize::from(ended == peer(2))] += lasted;
            let next = queue.end_and_take_next(ended, Duration::from_millis(lasted));
            begun.extend(next.map(|(next, _)| next));
            if ended == peer(2) {
                waits.extend(queue.ask(ended));
            }
        }
        let [one, other] = times;
        assert!(4 * one <= 5 * other && 4 * other <= 5 * one, "{times:?}");
    }

    #[test]
    fn whoever_goes_while_waiting_leaves_the_queue() {
        let turns = FairTurns::new(1, Duration::ZERO);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let first = turns.wait_for_turn(peer(1)).await;
            let mut waiting: Vec<_> =
                (2..100).map(|last| Box::pin(turns.wait_for_turn(peer(last)))).collect();
            for waits in &mut waiting {
                assert!(polled_once(waits.as_mut()).await.is_none());
            }
            assert_eq!(turns.queue().order.len(), 98);
            drop(waiting);
            assert!(turns.queue().order.is_empty());
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
        let turns = FairTurns::new(2, Duration::ZERO);
        let mut queue = turns.queue();
        assert!(queue.ask(peer(1)).is_none(), "it keeps its turn");
        for number in 0..10_000_u32 {
            let stranger = IpAddr::from(number.to_be_bytes());
            assert!(queue.ask(stranger).is_none());
            assert!(queue.end_and_take_next(stranger, Duration::from_micros(10)).is_none());
        }
        assert!(queue.addresses.len() <= LEAST_REMEMBERED + 1, "{}", queue.addresses.len());
        assert!(queue.addresses.contains_key(&peer(1)), "it has a turn");
    }
}
