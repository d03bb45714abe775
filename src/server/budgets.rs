//! What all requests together may take: how many there are, the bytes of their bodies and answers, and how many large
//! ones are decided at a time.

use super::limits::Limits;
use hyper::body::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};

/// Large bodies that are decided at a time; the others wait. Each takes a thread, and milliseconds.
const LARGE: usize = 4;
/// The budget of bytes is counted in pieces of so many.
const PIECE: usize = 1024;

/// What is left.
pub(crate) struct Budgets {
    requests: Semaphore,
    most_requests: usize,
    bytes: Arc<Semaphore>,
    most_pieces: usize,
    large: Semaphore,
}

impl Budgets {
    pub(crate) fn new(limits: &Limits) -> Self {
        let most_pieces = limits.body_budget / PIECE;
        Self {
            requests: Semaphore::new(limits.requests),
            most_requests: limits.requests,
            bytes: Arc::new(Semaphore::new(most_pieces)),
            most_pieces,
            large: Semaphore::new(LARGE),
        }
    }

    /// A request more, where there may be one.
    pub(super) fn request(&self) -> Option<SemaphorePermit<'_>> {
        self.requests.try_acquire().ok()
    }

    /// Waits for a turn to decide a large body.
    pub(super) async fn large(&self) -> Option<SemaphorePermit<'_>> {
        self.large.acquire().await.ok()
    }

    /// Requests and bytes in use.
    pub(super) fn used(&self) -> (usize, usize) {
        (
            self.most_requests.saturating_sub(self.requests.available_permits()),
            self.most_pieces.saturating_sub(self.bytes.available_permits()) * PIECE,
        )
    }
}

/// Bytes with their share of the budget, which is given back when they are dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: Vec<u8>,
    share: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// Room for a first part, without a share.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), share: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes more bytes in, where the budget has room for them.
    pub(super) fn push(&mut self, budgets: &Budgets, data: &[u8]) -> Result<(), TryAcquireError> {
        self.share_of(budgets, self.bytes.len() + data.len())?;
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Puts an answer in place of a body; its share becomes as large as the answer.
    pub(super) fn replace(&mut self, budgets: &Budgets, bytes: Vec<u8>) -> Result<(), TryAcquireError> {
        self.bytes = Vec::new();
        self.share_of(budgets, bytes.len())?;
        self.bytes = bytes;
        Ok(())
    }

    /// The bytes as hyper takes them. The share is given back when the last of them is written.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }

    /// Makes the share that of so many bytes. Counted over all of them: rounding up each part would let a few bytes
    /// take a whole piece.
    fn share_of(&mut self, budgets: &Budgets, bytes: usize) -> Result<(), TryAcquireError> {
        let wanted = bytes.div_ceil(PIECE);
        let has = self.share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted <= has {
            drop(self.share.as_mut().and_then(|share| share.split(has - wanted)));
            return Ok(());
        }
        let more = u32::try_from(wanted - has).unwrap_or(u32::MAX);
        let more = Arc::clone(&budgets.bytes).try_acquire_many_owned(more)?;
        match &mut self.share {
            Some(share) => share.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_what_is_held() {
        let budgets = Budgets::new(&Limits { body_budget: 4 * PIECE, ..Limits::default() });
        let mut held = Held::with_capacity(0);
        for _ in 0..2 * PIECE {
            held.push(&budgets, b"x").unwrap();
        }
        assert_eq!(budgets.used().1, 2 * PIECE, "parts are not rounded up one by one");
        assert!(held.push(&budgets, &[0; 3 * PIECE]).is_err());
        assert_eq!(
            (held.bytes().len(), budgets.used().1),
            (2 * PIECE, 2 * PIECE),
            "nothing is taken in part"
        );
        held.replace(&budgets, vec![1; PIECE]).unwrap();
        assert_eq!(budgets.used().1, PIECE, "an answer that is smaller gives back");
        let mut other = Held::with_capacity(0);
        other.push(&budgets, &[0; 2 * PIECE]).unwrap();
        assert!(held.replace(&budgets, vec![1; 3 * PIECE]).is_err(), "an answer counts as a body does");
        let bytes = held.into_bytes();
        assert_eq!(budgets.used().1, 3 * PIECE);
        drop(bytes);
        drop(other);
        assert_eq!(budgets.used(), (0, 0));
    }
}
