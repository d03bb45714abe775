//! Signals to stop.

use super::State;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch as channel;

/// Command to the accept loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Serve.
    No,
    /// Take no more connections and let those that are there end.
    Drain,
    /// End at once.
    Now,
}

/// Watches for SIGTERM and SIGINT. The first makes us a lame duck: not ready, every answer closes its
/// connection, but connections are still taken, since endpoints lag behind; then draining starts. A second
/// signal ends at once.
pub(super) fn stop_signal(state: Arc<State>, lame_duck: Duration) -> io::Result<channel::Receiver<Stop>> {
    use std::sync::atomic::Ordering;
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = channel::channel(Stop::No);
    tokio::spawn(async move {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        state.ready.store(false, Ordering::Release);
        state.draining.store(true, Ordering::Release);
        tracing::info!(lame_duck_seconds = lame_duck.as_secs_f64(), "stopping: no longer ready");
        tokio::select! {
            () = tokio::time::sleep(lame_duck) => {
                let _ = sender.send(Stop::Drain);
                tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
                let _ = sender.send(Stop::Now);
            }
            _ = terminate.recv() => { let _ = sender.send(Stop::Now); }
            _ = interrupt.recv() => { let _ = sender.send(Stop::Now); }
        }
    });
    Ok(receiver)
}
