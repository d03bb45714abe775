//! Why a document cannot be read, and where.

use super::source_positions::Position;

/// Why a document cannot be read, without its file.
#[derive(Debug)]
pub(super) struct ReadFault {
    pub(super) at: Position,
    pub(super) message: String,
}
