//! Signals to stop.

use super::State;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex, watch};

/// Command to the accept loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Serve.
    No,
    /// Accept no more connections, and let open ones end.
    Drain,
    /// End at once.
    Now,
}

/// The handlers of SIGTERM and SIGINT. They outlive the task that waits for them: a signal between its end and its
/// restart is not lost.
#[derive(Clone)]
pub(super) struct Signals(Arc<Mutex<(Signal, Signal)>>);

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        let both = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self(Arc::new(Mutex::new(both))))
    }

    /// Waits for the next signal.
    async fn next(&self) {
        let mut both = self.0.lock().await;
        let (terminate, interrupt) = &mut *both;
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    }
}

/// Waits for signals. The first makes the server a lame duck: it is not ready and every answer closes its connection, but
/// it still accepts connections, because endpoints are updated late. Then it drains. A second signal ends it at once.
pub(super) async fn stop_server_on_signals(
    signals: Signals,
    state: Arc<State>,
    lame_duck: Duration,
    stop: Arc<watch::Sender<Stop>>,
) {
    // After a restart of this task the first signal may have arrived already.
    if !state.draining.load(Ordering::Acquire) {
        signals.next().await;
        state.ready.store(false, Ordering::Release);
        state.draining.store(true, Ordering::Release);
        tracing::info!(
            lame_duck_seconds = lame_duck.as_secs_f64(),
            "stop signal received; /readyz now reports not ready"
        );
    }
    tokio::select! {
        () = tokio::time::sleep(lame_duck) => {
            let _ = stop.send(Stop::Drain);
            signals.next().await;
        }
        () = signals.next() => {}
    }
    let _ = stop.send(Stop::Now);
}
