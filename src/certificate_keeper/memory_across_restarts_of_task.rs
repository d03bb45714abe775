//! State that outlives the task: the leaf in use, the CAs that must stay trusted for it, and the number of emergencies.
//! Without it a restarted task would begin with an emergency write at once, or sign a leaf that no caBundle trusts yet.

use crate::certificates::{Authority, Leaf, RepeatedChanges, Signer};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The state.
#[derive(Clone, Default)]
pub(super) struct Memory {
    pub(super) leaf: Option<Leaf>,
    /// The CA that signed it.
    pub(super) signer: Option<Signer>,
    /// CAs of leaves that this process served: others may still serve such.
    pub(super) known: Vec<Authority>,
    pub(super) emergencies: RepeatedChanges,
    /// Since when the leaf that is served verifies.
    pub(super) verified: Option<Instant>,
}

/// The state, shared by successive runs of the task.
#[derive(Clone, Default)]
pub(crate) struct KeptMemory(Arc<Mutex<Memory>>);

impl KeptMemory {
    pub(super) fn load(&self) -> Memory {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn store(&self, memory: Memory) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = memory;
    }
}
