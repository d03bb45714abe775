//! Runs the background tasks of the server, and watches them: one that panics or ends while the server serves is logged,
//! counted and shown by `/readyz`, and starts again after a pause.
//!
//! Readiness does not depend on them. A server that no longer reloads a file still decides by what it knows, and without
//! any server the API server refuses every pod. Its answers report facts that are old (FAB813), and a certificate that
//! nobody renews ends readiness by its dates. Only the listener is essential: if it ends, the
//! process ends, so that the kubelet starts another one.

use super::{State, Stop};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Pause before the first restart. It doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A task that has run for this long is healthy: the next failure counts as its first.
const HEALTHY: Duration = Duration::from_secs(60);
/// How long the end of the server waits for tasks that end by themselves.
const STOP: Duration = Duration::from_secs(3);
const BUG: &str = "This is a bug; please report it with the log";

/// A background task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// Name in log lines, in the metric and in `/readyz`.
    name: String,
    /// What does not happen while the task is down.
    effect: &'static str,
    /// Pause before the first restart; `None` for a task that cannot be started again.
    pause: Option<Duration>,
}

impl Task {
    pub(super) fn new(name: impl Into<String>, effect: &'static str) -> Self {
        Self { name: name.into(), effect, pause: Some(FIRST_PAUSE) }
    }
    /// The first restart comes after this pause.
    pub(super) fn with_first_pause(self, pause: Duration) -> Self {
        Self { pause: Some(pause), ..self }
    }
    /// It is not started again.
    pub(super) fn without_restart(self) -> Self {
        Self { pause: None, ..self }
    }
}

/// Why the server ended although nobody stopped it.
#[derive(Debug, thiserror::Error)]
#[error("task {name:?} {how}, and the server cannot run without this task. {BUG}")]
pub struct TaskError {
    name: &'static str,
    how: &'static str,
}

/// Runs all background tasks. Dropped, it aborts them.
pub(super) struct Supervisor {
    context: Context,
    /// Aborted when the server stops.
    aborted: JoinSet<()>,
    /// They see that the server stops, and end by themselves.
    ending: Vec<(String, JoinHandle<()>)>,
}

#[derive(Clone)]
struct Context {
    state: Arc<State>,
    stop: watch::Receiver<Stop>,
    healthy: Duration,
    patience: Duration,
}

/// Starts a task. One type for all tasks: for each type, the binary would have a loop of restarts and tokio's code of a task,
/// of 20 kB together.
type StartTask = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

fn boxed<F>(start: impl Fn() -> F + Send + 'static) -> StartTask
where
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move || Box::pin(start()))
}

impl Supervisor {
    pub(super) fn new(state: Arc<State>, stop: watch::Receiver<Stop>) -> Self {
        let context = Context { state, stop, healthy: HEALTHY, patience: STOP };
        Self { context, aborted: JoinSet::new(), ending: Vec::new() }
    }

    /// Starts a task on this runtime.
    pub(super) fn start_on_this_runtime<F>(&mut self, task: Task, start: impl Fn() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.start_on(Handle::current(), task, start);
    }

    /// Starts a task on another runtime.
    pub(super) fn start_on<F>(&mut self, runtime: Handle, task: Task, start: impl Fn() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.aborted.spawn(self.context.clone().run_and_restart(task, runtime, boxed(start)));
    }

    /// Starts a task that ends by itself when the server stops, because it has something to give back.
    pub(super) fn start_task_that_ends_itself<F>(
        &mut self,
        task: Task,
        start: impl Fn() -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = task.name.clone();
        let run = self.context.clone().run_and_restart(task, Handle::current(), boxed(start));
        let kept = tokio::spawn(run);
        self.ending.push((name, kept));
    }

    /// Runs the task without which the server cannot serve, until the server stops.
    pub(super) async fn run_essential_task(
        &self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), TaskError> {
        let mut running = JoinSet::new();
        running.spawn(task);
        let how = match running.join_next().await {
            Some(Err(error)) if error.is_panic() => "panicked",
            _ if self.context.is_server_stopping() => return Ok(()),
            _ => "ended",
        };
        tracing::error!(task = name, how, "essential task failed; the server stops");
        Err(TaskError { name, how })
    }

    /// Ends all tasks. The names of those that did not end by themselves in time and were aborted.
    pub(super) async fn wait_then_abort_all_tasks(mut self) -> Vec<String> {
        let deadline = Instant::now() + self.context.patience;
        let mut late = Vec::new();
        for (name, mut kept) in self.ending.drain(..) {
            if timeout_at(deadline, &mut kept).await.is_err() {
                kept.abort();
                tracing::warn!(task = %name, "task did not stop in time; aborting it");
                late.push(name);
            }
        }
        // Only now: a task that gives something back may need the others.
        self.aborted.shutdown().await;
        late
    }
}

impl Context {
    fn is_server_stopping(&self) -> bool {
        *self.stop.borrow() != Stop::No
    }

    /// Keeps a task running until the server stops.
    async fn run_and_restart(self, task: Task, runtime: Handle, start: StartTask) {
        let name = task.name.as_str();
        self.state.metrics.show_task_without_failures(name);
        let first = task.pause.unwrap_or_default();
        let (mut failures, mut pause) = (0_u32, first);
        loop {
            // A set aborts what it holds when it is dropped; a handle would not.
            let mut running = JoinSet::new();
            running.spawn_on(start(), &runtime);
            let mut end = pin!(running.join_next());
            let end = match timeout(self.healthy, &mut end).await {
                Ok(end) => end,
                Err(_) => {
                    self.state.failed.clear(name);
                    (failures, pause) = (0, first);
                    end.await
                }
            };
            let how = match end {
                Some(Err(error)) if error.is_panic() => "panicked",
                _ if self.is_server_stopping() => return,
                _ => "ended",
            };
            failures = failures.saturating_add(1);
            self.state.metrics.count_task_failure(name);
            tracing::error!(task = name, how, failures, effect = task.effect, "background task failed");
            if self.is_server_stopping() {
                return;
            }
            let effect = task.effect;
            if task.pause.is_none() {
                return self
                    .state
                    .failed
                    .set(name, format!("task {name:?} {how}: {effect}. Restart the pod"));
            }
            let seconds = pause.as_secs_f64();
            let line = format!(
                "task {name:?} {how} (failure {failures} in a row): {effect}; the server restarts the task within \
                 {seconds} s. {BUG}"
            );
            self.state.failed.set(name, line);
            sleep(pause).await;
            self.state.failed.set(
                name,
                format!("task {name:?} {how} (failure {failures} in a row) and was restarted. {BUG}"),
            );
            pause = longer(pause);
        }
    }
}

fn longer(pause: Duration) -> Duration {
    (pause * 2).min(LONGEST_PAUSE.max(pause))
}

/// Runs work that blocks, and panics as it does: then the task that asked for it is the one that failed.
pub(super) async fn run_blocking_and_pass_on_panic<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => Some(value),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends.
            Err(_) => None,
        },
    }
}

#[cfg(test)]
mod tests;
