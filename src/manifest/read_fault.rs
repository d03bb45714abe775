//! Why a document cannot be read, and where.

use super::source_positions::Position;

/// Why a document cannot be read, without its file.
#[derive(Debug)]
pub(super) struct ReadFault {
    pub(super) at: Position,
    pub(super) message: String,
    /// Whether kubectl may read the document all the same: it is beyond a limit that kubectl does not have, or only our
    /// parser fails.
    pub(super) kubectl_may_read: bool,
}

impl ReadFault {
    /// Of a document that kubectl refuses too.
    pub(super) fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), kubectl_may_read: false }
    }

    /// Of a document that kubectl may read.
    pub(super) fn of_our_limit(at: Position, message: impl Into<String>) -> Self {
        Self { kubectl_may_read: true, ..Self::new(at, message) }
    }
}
