//! How often `discover` compares nodes with other objects. Thousands of nodes beside thousands of policies would take minutes.

use std::cell::Cell;

/// Most comparisons (count). Two thousand nodes with eight resources, and a policy for each node and resource, need about a third of
/// them. All of them take some seconds.
const MAX_COMPARISONS: usize = 100_000_000;

/// The comparisons that are left. Once none is, the work goes on with what is found until then, and the result is not used.
#[derive(Debug)]
pub(super) struct Comparisons {
    left: Cell<usize>,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self { left: Cell::new(MAX_COMPARISONS) }
    }
}

impl Comparisons {
    /// Counts comparisons before they are made; `false` if they are too many.
    pub(super) fn count(&self, comparisons: usize) -> bool {
        let left = self.left.get().checked_sub(comparisons);
        self.left.set(left.unwrap_or_default());
        left.is_some_and(|left| left > 0)
    }

    /// # Errors
    /// A text if there were too many.
    pub(super) fn require_within_limit(&self) -> Result<(), String> {
        if self.left.get() > 0 {
            return Ok(());
        }
        Err(format!(
            "the objects need more than {MAX_COMPARISONS} comparisons of nodes with other objects; give discover fewer objects, such as one node of each kind"
        ))
    }
}
