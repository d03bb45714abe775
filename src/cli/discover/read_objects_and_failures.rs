//! What was read, and whether all of it could be.

use crate::discover::Sources;

/// The objects of a cluster.
pub(super) struct ReadObjects {
    pub(super) sources: Sources,
    /// Whether a part could not be read: a file, an object, or a kind without permission.
    pub(super) unreadable: bool,
    /// Whether a list failed.
    pub(super) failed: bool,
}
