//! What a task that is started again must know of the one that died: which leaf is served, which CAs others must go on
//! trusting for it, and how many emergencies there were. Without it the next would begin with an unbraked emergency, or
//! sign a leaf that no caBundle knows yet.

use crate::certificates::{Authority, Drift, Leaf, Signer};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What is handed over.
#[derive(Clone, Default)]
pub(super) struct Memory {
    pub(super) leaf: Option<Leaf>,
    /// The CA that signed it.
    pub(super) signer: Option<Signer>,
    /// CAs of leaves that this process served: others may still serve such.
    pub(super) known: Vec<Authority>,
    pub(super) emergencies: Drift,
    /// Since when the leaf that is served verifies.
    pub(super) verified: Option<Instant>,
}

/// Where it outlives a task.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Memory>>);

impl Kept {
    pub(super) fn load(&self) -> Memory {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn store(&self, memory: Memory) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }
}
