//! Logs: JSON lines on stderr, level from `FABRIC_ADMISSION_LOG` (default `info`). Objects and values of variables are
//! never logged.
//!
//! Logging never waits for stderr. A separate thread writes the lines; a line beyond the limit of waiting bytes is dropped
//! and counted. Each kind of line has a limit per second too (`telemetry/log_rate_limit.rs`). tracing-appender has such a thread as
//! well, but it bounds lines instead of bytes, does not count failed writes, prints to stdout when it cannot end, and brings
//! three crates.

use super::log_rate_limit::{LEFT_OUT, Rate, UNREPORTED};
use prometheus_client::metrics::counter::Counter;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The client library logs unreadable answers in full; one may be a Secret.
const DEFAULT: &str = "info,kube_client=error";
/// Most bytes of lines that wait for stderr: some thousand lines.
const MAX_WAITING: usize = 1 << 20;
/// Longest wait at the end of the process for earlier lines.
const FLUSH: Duration = Duration::from_secs(1);

/// How often lines that were left out are reported.
const REPORT: Duration = Duration::from_secs(10);

/// Most lines that are written after the end was asked for.
const AT_END: usize = 10;

static DROPPED: LazyLock<Counter> = LazyLock::new(Counter::default);
static ENDED: LazyLock<Arc<Notify>> = LazyLock::new(Arc::default);

/// Log lines that stderr did not take, or not in time (count).
#[must_use]
pub fn counter_of_dropped_lines() -> Counter {
    DROPPED.clone()
}

/// Log lines beyond the limit of their kind (count).
#[must_use]
pub fn counter_of_left_out_lines() -> Counter {
    LEFT_OUT.clone()
}

/// Waits until the thread that writes log lines has ended: from then on all are dropped.
pub async fn wait_until_log_thread_ends() {
    ENDED.notified().await;
}

/// Installs the log writer. Lines are written until the returned value is dropped; keep it to the end of the process. A
/// second call changes nothing.
///
/// # Errors
/// When the system gives no thread to write with.
pub fn install_log_writer_and_panic_hook() -> io::Result<LogThread> {
    let wanted = std::env::var("FABRIC_ADMISSION_LOG").ok();
    let unreported = UNREPORTED.clone();
    let rate = Rate::new(unreported.clone(), counter_of_left_out_lines());
    let (lines, writing) =
        start_log_thread(io::stderr(), counter_of_dropped_lines(), Arc::clone(&ENDED), move || {
            unreported.log_count_and_reset()
        })?;
    let json = tracing_subscriber::fmt::layer()
        .json()
        // Otherwise it reports a failed line by `eprintln!`, which waits for stderr, and panics where that is closed.
        .log_internal_errors(false)
        .with_writer(move || lines.clone());
    let _ = tracing_subscriber::registry().with(filter(wanted.as_deref())).with(rate).with(json).try_init();
    log_panics();
    Ok(writing)
}

/// Reads which lines are logged: a level, or `target=level` with commas between. A text that is neither counts as absent.
fn filter(wanted: Option<&str>) -> Targets {
    let wanted = wanted.filter(|text| !text.trim().is_empty()).and_then(|text| text.parse().ok());
    wanted.or_else(|| DEFAULT.parse().ok()).unwrap_or_default()
}

/// Logs panics, as a worker that panics would wait for stderr otherwise.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if !crate::manifest::will_panic_become_input_error() {
            let text = panic.payload().downcast_ref::<&str>().copied();
            let said = text.or_else(|| panic.payload().downcast_ref::<String>().map(String::as_str));
            tracing::error!(place = panic.location().map(ToString::to_string), said, "a thread panicked");
        }
    }));
}

/// What the writing thread is sent.
enum Message {
    Line(Vec<u8>),
    End,
}

/// Takes lines without waiting.
#[derive(Clone)]
struct Lines {
    sender: Sender<Message>,
    /// Bytes that were sent and are not written.
    waiting: Arc<AtomicUsize>,
    dropped: Counter,
}

/// The thread that writes. Dropped, it ends once what was logged before is written, or after a second.
pub struct LogThread {
    lines: Lines,
    ended: Receiver<()>,
}

/// Notifies when it is dropped, by a panic too.
struct OnEnd(Arc<Notify>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn start_log_thread(
    mut to: impl Write + Send + 'static,
    dropped: Counter,
    notified: Arc<Notify>,
    report: impl Fn() + Send + 'static,
) -> io::Result<(Lines, LogThread)> {
    let (sender, receiver) = channel();
    let (end, ended) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let lines = Lines { sender, waiting: Arc::clone(&waiting), dropped: dropped.clone() };
    let work = move || {
        let _on_end = OnEnd(notified);
        // Bound after it, so dropped before it by a panic: whoever is notified finds that lines are dropped and counted.
        let receiver = receiver;
        let mut reported = Instant::now();
        loop {
            match receiver.recv_timeout(REPORT) {
                Ok(Message::Line(line)) => {
                    // A full disk or a closed pipe: a later line may succeed.
                    if to.write_all(&line).is_err() {
                        dropped.inc();
                    }
                    waiting.fetch_sub(line.len(), Ordering::Relaxed);
                }
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if reported.elapsed() >= REPORT {
                report();
                reported = Instant::now();
            }
        }
        report();
        for message in receiver.try_iter().take(AT_END) {
            if let Message::Line(line) = message {
                let _ = to.write_all(&line);
            }
        }
        let _ = to.flush();
        // In this order: a line that comes after the end is dropped and counted.
        drop(receiver);
        drop(end);
    };
    std::thread::Builder::new().name("log".to_owned()).spawn(work)?;
    Ok((lines.clone(), LogThread { lines, ended }))
}

impl Write for Lines {
    /// The subscriber writes a line in one call.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let before = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        if before.saturating_add(line.len()) > MAX_WAITING
            || self.sender.send(Message::Line(line.to_vec())).is_err()
        {
            self.waiting.fetch_sub(line.len(), Ordering::Relaxed);
            self.dropped.inc();
        }
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogThread {
    /// Writes a line among those of the logs.
    pub fn write_line(&self, text: &impl Display) {
        let _ = self.lines.clone().write_all(format!("{text}\n").as_bytes());
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        // An error means that the thread has ended already.
        if self.lines.sender.send(Message::End).is_ok() {
            let _ = self.ended.recv_timeout(FLUSH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::SyncSender;

    /// Takes a line only when the test does.
    struct Slow(SyncSender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_level_or_targets_choose_the_lines() {
        use tracing::Level;
        for wanted in [None, Some(""), Some("fabric_admission=loud")] {
            let lines = filter(wanted);
            assert!(lines.would_enable("fabric_admission::server", &Level::INFO), "{wanted:?}");
            assert!(!lines.would_enable("fabric_admission::server", &Level::DEBUG), "{wanted:?}");
            assert!(!lines.would_enable("kube_client::client", &Level::WARN), "{wanted:?}");
        }
        assert!(filter(Some("debug")).would_enable("kube_client", &Level::DEBUG));
        let one = filter(Some("warn,fabric_admission=trace"));
        assert!(one.would_enable("fabric_admission::cluster", &Level::TRACE));
        assert!(!one.would_enable("kube_client", &Level::INFO));
    }

    #[test]
    fn a_blocked_writer_blocks_nobody_and_drops_are_counted() {
        let (to, taken) = std::sync::mpsc::sync_channel(0);
        let dropped = Counter::default();
        let (mut lines, writing) =
            start_log_thread(Slow(to), dropped.clone(), Arc::default(), || {}).unwrap();
        let line = vec![b'x'; 64 << 10];
        let sent = u64::try_from(MAX_WAITING / line.len()).unwrap() + 5;
        // Nothing takes a line here: a writer that waits would never come out of this loop.
        for _ in 0..sent {
            lines.write_all(&line).unwrap();
        }
        assert_eq!(dropped.get(), 5);
        for _ in 0..sent - 5 {
            assert_eq!(taken.recv_timeout(Duration::from_secs(10)).unwrap(), line);
        }
        lines.write_all(b"last").unwrap();
        let reader = std::thread::spawn(move || taken.recv_timeout(Duration::from_secs(10)));
        drop(writing);
        assert_eq!((reader.join().unwrap().unwrap(), dropped.get()), (b"last".to_vec(), 5));
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted() {
        let (to, taken) = std::sync::mpsc::sync_channel(0);
        drop(taken);
        let dropped = Counter::default();
        let (mut lines, writing) =
            start_log_thread(Slow(to), dropped.clone(), Arc::default(), || {}).unwrap();
        lines.write_all(b"lost").unwrap();
        drop(writing);
        assert_eq!(dropped.get(), 1);
        // The thread has ended.
        lines.write_all(b"late").unwrap();
        assert_eq!(dropped.get(), 2);
    }

    #[test]
    fn the_end_of_the_thread_is_seen() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                panic!("a bug")
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (dropped, ended) = (Counter::default(), Arc::new(Notify::new()));
        let (mut lines, _writing) =
            start_log_thread(Broken, dropped.clone(), Arc::clone(&ended), || {}).unwrap();
        lines.write_all(b"line").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let seen = async { tokio::time::timeout(Duration::from_secs(10), ended.notified()).await };
        assert!(runtime.block_on(seen).is_ok());
        lines.write_all(b"late").unwrap();
        assert_eq!(dropped.get(), 1);
    }
}
