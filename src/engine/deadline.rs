//! The time limit of one decision. The core has no clock: the caller hands in the question whether the time is over, and
//! the decision asks it between templates, objects and rules.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The time limit of one decision. A decision that it cut short is incomplete and must not be used.
pub struct Deadline<'a> {
    over: Option<&'a (dyn Fn() -> bool + Sync)>,
    cut: AtomicBool,
}

/// No time limit: for small objects, and for the command line.
pub static NEVER: Deadline<'static> = Deadline { over: None, cut: AtomicBool::new(false) };

impl<'a> Deadline<'a> {
    /// A time limit that is over when the answer is true.
    #[must_use]
    pub fn when(over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { over: Some(over), cut: AtomicBool::new(false) }
    }

    /// Whether to stop here. Once it is over it stays over, so that an incomplete decision is known as such at the end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let Some(over) = self.over else { return false };
        if !self.cut.load(Ordering::Relaxed) && over() {
            self.cut.store(true, Ordering::Relaxed);
        }
        self.cut.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("limited", &self.over.is_some()).field("cut", &self.cut).finish()
    }
}
