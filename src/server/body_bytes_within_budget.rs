//! The bytes of bodies and answers, with the share of the budget that they have ([`super::fair_share_per_client_address`]).

use super::estimate_memory_of_decision::DecisionMemoryEstimate;
use super::fair_share_per_client_address::{
    BudgetForSmallAndLarge, MAX_SMALL_BODY_BYTES, NoRoom, PIECE, ShareOfAddress, Size,
};
use super::fair_share_per_namespace::ShareOfNamespace;
use super::unread_answers::ShareOfAnswer;
use hyper::body::Bytes;
use std::net::IpAddr;
use std::sync::Arc;

/// Room for bytes to come, beyond those that are there: a body of a pod is allocated once.
const MIN_ROOM_FOR_MORE: usize = 8 * 1024;
/// The same for a large body, as a part of its present size: so the copied bytes stay linear in the received bytes.
const GROWTH_DIVISOR: usize = 4;

/// Bytes with their share of the budget, which is given back when they are dropped.
#[derive(Debug)]
pub(super) struct BytesWithinBudget {
    bytes: Vec<u8>,
    /// The length that a header states; the largest number if none does.
    promised: usize,
    share: ShareOfAddress,
    /// Of a large body.
    of_namespace: Option<Box<ShareOfNamespace>>,
    weight: DecisionMemoryEstimate,
}

impl BytesWithinBudget {
    pub(super) fn new(pools: Arc<BudgetForSmallAndLarge>, peer: IpAddr, promised: Option<usize>) -> Self {
        let share = ShareOfAddress::empty_for_body_length(pools, peer, promised.unwrap_or_default());
        let weight = DecisionMemoryEstimate::default();
        let promised = promised.unwrap_or(usize::MAX);
        Self { bytes: Vec::new(), promised, share, of_namespace: None, weight }
    }

    /// The length that a header states (bytes).
    pub(super) fn stated_length(&self) -> Option<usize> {
        (self.promised != usize::MAX).then_some(self.promised)
    }

    pub(super) fn is_in_part_for_small(&self) -> bool {
        self.share.size == Size::Small
    }

    pub(super) fn move_to_part_for_large(&mut self) -> Result<(), NoRoom> {
        self.share.move_to_part_for_large(self.share.pieces)
    }

    pub(super) fn has_share_of_namespace(&self) -> bool {
        self.of_namespace.is_some()
    }

    /// Keeps a share until the body is dropped.
    pub(super) fn keep_share_of_namespace(&mut self, share: ShareOfNamespace) {
        self.of_namespace = Some(Box::new(share));
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The share of the budget (bytes), and of which part.
    pub(super) fn share_of_budget(&self) -> (usize, Size) {
        (self.share.pieces * PIECE, self.share.size)
    }

    /// Address of the client.
    pub(super) fn peer(&self) -> IpAddr {
        self.share.peer
    }

    /// Memory that the decision on the body takes, as far as a large one is known (bytes).
    pub(super) fn estimated_memory_of_decision(&self) -> usize {
        self.weight.memory_of_decision()
    }

    /// Which limit a large body exceeds, as an answer for its sender.
    pub(super) fn exceeded_limit(&self) -> Option<String> {
        self.weight.exceeded_limit()
    }

    /// Adds bytes if the budget has room for them. Allocated capacity counts, not length. The capacity grows by a part of
    /// itself; a vector by its own rule would double it beyond what is counted.
    pub(super) fn push_if_budget_has_room(&mut self, data: &[u8]) -> Result<(), NoRoom> {
        let needed = self.bytes.len() + data.len();
        if needed > MAX_SMALL_BODY_BYTES && self.share.size == Size::Small {
            self.move_to_part_for_large()?;
        }
        if needed > self.bytes.capacity() {
            let to_come = self.promised.saturating_sub(needed);
            let mut ahead = (needed / GROWTH_DIVISOR).max(MIN_ROOM_FOR_MORE).min(to_come);
            // Near the end of the budget half of it will do, and half of that.
            while self.share.set_number_of_pieces((needed + ahead).div_ceil(PIECE)).is_err() {
                ahead = if ahead == 0 { return Err(NoRoom) } else { ahead / 2 };
            }
            self.bytes.reserve_exact(needed + ahead - self.bytes.len());
        }
        self.bytes.extend_from_slice(data);
        // Piece by piece as it arrives: 8 MiB at once would hold up other connections.
        if needed > MAX_SMALL_BODY_BYTES {
            self.weight
                .weigh_next_part_of_body(self.bytes.get(self.weight.weighed_bytes()..).unwrap_or_default());
        }
        Ok(())
    }

    /// Puts an answer in place of a body; its share becomes as large as the answer.
    pub(super) fn replace_by_answer(&mut self, mut bytes: Vec<u8>) -> Result<(), NoRoom> {
        (self.bytes, self.of_namespace) = (Vec::new(), None);
        bytes.shrink_to_fit();
        self.share.set_number_of_pieces(bytes.capacity().div_ceil(PIECE))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Changes bytes in their place.
    pub(super) fn change_bytes_in_place(&mut self, change: impl FnOnce(&mut [u8])) {
        change(&mut self.bytes);
    }

    /// The bytes as hyper takes them, and what they have of the budget. The share is given back when TLS has
    /// taken the last of them.
    pub(super) fn into_bytes(self) -> (Bytes, ShareOfAnswer) {
        let held = Arc::new(());
        let share = ShareOfAnswer { share: self.share_of_budget(), held: Arc::downgrade(&held) };
        (Bytes::from_owner(Answer { bytes: self, _held: held }), share)
    }
}

/// An answer, until TLS has taken its last byte.
struct Answer {
    bytes: BytesWithinBudget,
    _held: Arc<()>,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(pools: &Arc<BudgetForSmallAndLarge>, last: u8) -> BytesWithinBudget {
        BytesWithinBudget::new(Arc::clone(pools), IpAddr::from([10, 0, 0, last]), None)
    }

    #[test]
    fn shares_follow_what_is_held() {
        let pools = BudgetForSmallAndLarge::of_bytes(32 * PIECE);
        let mut held =
            BytesWithinBudget::new(Arc::clone(&pools), IpAddr::from([10, 0, 0, 1]), Some(2 * PIECE));
        for _ in 0..2 * PIECE {
            held.push_if_budget_has_room(b"x").unwrap();
        }
        assert_eq!(pools.used_bytes(), 2 * PIECE, "parts are not rounded up one by one");
        assert!(held.push_if_budget_has_room(&[0; 20 * PIECE]).is_err());
        assert_eq!(
            (held.bytes().len(), pools.used_bytes()),
            (2 * PIECE, 2 * PIECE),
            "nothing is taken in part"
        );
        held.replace_by_answer(vec![1; PIECE]).unwrap();
        assert_eq!(pools.used_bytes(), PIECE, "an answer that is smaller gives back");
        let mut other =
            BytesWithinBudget::new(Arc::clone(&pools), IpAddr::from([10, 0, 0, 1]), Some(16 * PIECE));
        other.push_if_budget_has_room(&[0; 16 * PIECE]).unwrap();
        assert!(held.replace_by_answer(vec![1; 12 * PIECE]).is_err(), "an answer counts as a body does");
        let (bytes, share) = held.into_bytes();
        assert_eq!(share.held.strong_count(), 1);
        assert_eq!(pools.used_bytes(), 17 * PIECE);
        drop(bytes);
        assert_eq!(share.held.strong_count(), 0);
        drop(other);
        assert_eq!(pools.used_bytes(), 0);
        assert!(pools.knows_nobody(), "an address that holds nothing is forgotten");
    }

    /// However it comes: byte by byte or in records, promised or not, to its end or not.
    #[test]
    fn what_is_allocated_is_counted() {
        const MOST: usize = 4 << 20;
        for (promised, parts) in [(None, 16 << 10), (Some(MOST), 16 << 10), (Some(MOST), 1000), (None, 7)] {
            let pools = BudgetForSmallAndLarge::of_bytes(32 << 20);
            let mut held = BytesWithinBudget::new(Arc::clone(&pools), IpAddr::from([10, 0, 0, 1]), promised);
            assert_eq!((held.bytes.capacity(), pools.used_bytes()), (0, 0));
            let (mut grown, mut before) = (0, 0);
            while held.bytes.len() < MOST / 2 {
                held.push_if_budget_has_room(&vec![b'x'; parts]).unwrap();
                let (there, counted) = (held.bytes.capacity(), pools.used_bytes());
                assert!(counted >= there && counted < there + PIECE, "{counted} for {there}");
                assert!(there <= held.bytes.len() / 4 * 5 + parts + MIN_ROOM_FOR_MORE, "{there}");
                grown += usize::from(there != before);
                before = there;
            }
            assert!(grown < 30, "copied {grown} times");
            held.replace_by_answer({
                let mut answer = Vec::with_capacity(100 * PIECE);
                answer.push(b'x');
                answer
            })
            .unwrap();
            assert_eq!((held.bytes.capacity(), pools.used_bytes()), (1, PIECE), "an answer");
        }
    }

    /// Pieces that an address gets when it wants all.
    fn fill(held: &mut BytesWithinBudget) -> usize {
        while held.push_if_budget_has_room(&[0; PIECE]).is_ok() {}
        held.bytes().len() / PIECE
    }

    #[test]
    fn however_many_want_all_something_is_left() {
        let pools = BudgetForSmallAndLarge::of_bytes(32 << 20);
        let mut held: Vec<BytesWithinBudget> = (0..24).map(|last| body(&pools, last)).collect();
        assert_eq!(fill(&mut held[0]), 18 * 1024, "one gets three quarters of the part for large bodies");
        assert_eq!(fill(&mut held[1]), 18 * 1024 / 4, "the next as much of the rest");
        for other in &mut held[2..] {
            assert!(fill(other) >= 64, "a small body");
        }
        let mut pods = body(&pools, 100);
        assert!(pods.push_if_budget_has_room(&[0; 64 * PIECE]).is_ok(), "pods of another address");
        // One that has its part of the large ones has one of the small ones too: 3 of 8 MiB.
        let mut small: Vec<BytesWithinBudget> = (0..48).map(|_| body(&pools, 0)).collect();
        let got =
            small.iter_mut().filter_map(|small| small.push_if_budget_has_room(&[0; 60 * PIECE]).ok()).count();
        assert!((20..48).contains(&got), "{got} small bodies");
        let mut large = body(&pools, 0);
        assert!(large.push_if_budget_has_room(&[0; 65 * PIECE]).is_err(), "a large one");
        drop((held, small, pods));
        assert_eq!(pools.used_bytes(), 0);
        assert!(large.push_if_budget_has_room(&[0; 65 * PIECE]).is_ok(), "there is room again");
    }

    #[test]
    fn an_answer_is_of_the_size_of_its_body() {
        let pools = BudgetForSmallAndLarge::of_bytes(16 << 20);
        let mut large =
            BytesWithinBudget::new(Arc::clone(&pools), IpAddr::from([10, 0, 0, 1]), Some(9 << 20));
        large.push_if_budget_has_room(&vec![0; 9 << 20]).unwrap();
        let mut small = body(&pools, 1);
        small.push_if_budget_has_room(b"pod").unwrap();
        assert!(small.replace_by_answer(vec![0; 512 * PIECE]).is_ok(), "of a small body");
        let other = BytesWithinBudget::new(
            Arc::clone(&pools),
            IpAddr::from([10, 0, 0, 1]),
            Some(MAX_SMALL_BODY_BYTES + 1),
        );
        assert_eq!((other.share.size, small.share.size), (Size::Large, Size::Small));
    }
}
