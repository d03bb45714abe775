//! The facts for a request, and who gets its answer.

use crate::snapshot::{Audience, Snapshot};

/// The facts, and who gets the answer.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotForAudience<'a> {
    /// All facts.
    pub snapshot: &'a Snapshot,
    /// Who sent the request, and gets an answer that depends only on facts for them.
    pub audience: Audience,
}

impl SnapshotForAudience<'_> {
    /// What may count for a pod or workload of a namespace.
    pub(super) fn seen_from_namespace(self, namespace: &str) -> Snapshot {
        self.snapshot.seen_from(namespace, self.audience)
    }
}
