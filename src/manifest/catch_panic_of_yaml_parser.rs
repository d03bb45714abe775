//! Catches a panic of the YAML parser, which becomes an input error, and keeps it off stderr.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static INSTALLED: Once = Once::new();

/// Installs a panic hook that is silent about panics which this module catches, and passes every other panic to the
/// previous hook. Call it once, early in `main`.
pub fn install_quiet_panic_hook() {
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
}

/// Whether a panic of this thread is one that the reader of YAML turns into an input error.
#[must_use]
pub fn will_panic_become_input_error() -> bool {
    QUIET.get()
}

/// Runs `work`; `None` when it panicked.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_flag_restored() {
        install_quiet_panic_hook();
        assert_eq!(catch(|| 1), Some(1));
        assert_eq!(catch(|| -> u8 { panic!("not shown") }), None);
        assert!(!QUIET.get());
    }
}
