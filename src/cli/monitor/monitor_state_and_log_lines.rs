//! What the monitor remembers between scrapes, and its log lines.

use super::nccl_log_files::FollowedLogs;
use crate::monitor::{Ras, RasAnswer, Sample, ScrapeReadings, Source, Traffic, Used, text, transport_of};
use crate::pod_agent::{Counters, Root};
use crate::preflight::facts_json_for_monitor::Facts;
use crate::rdma::Unreadable;
use crate::report::json_without_runner_commands::json_text;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two log lines about a fallback.
const PAUSE: Duration = Duration::from_secs(600);
/// Most files of which the reason is logged, each once.
const MAX_LOGGED_FILES: usize = 64;

/// What the monitor remembers.
pub(super) struct MonitorState {
    facts: Option<Facts>,
    /// Transport that the profile expects.
    expected: Option<String>,
    /// The file with facts that could not be read, with the reason.
    unreadable: Option<(String, Unreadable)>,
    folder: Option<PathBuf>,
    asks_ras: bool,
    start: Instant,
    inner: RefCell<Inner>,
}

struct Inner {
    counters: Counters,
    log: FollowedLogs,
    traffic: Traffic,
    /// `None` before the first answer.
    ras: Option<Ras>,
    /// Whether it was logged that the log of NCCL started again.
    logged_restart: bool,
    /// When a fallback was last logged.
    reported: Option<Instant>,
    /// Files of which the reason was logged.
    logged: BTreeSet<String>,
}

impl MonitorState {
    pub(super) fn new(root: &Path, facts: Option<Facts>, folder: Option<PathBuf>, asks_ras: bool) -> Self {
        let devices = facts.as_ref().and_then(|facts| facts.devices.as_ref());
        let names = devices.map(|devices| devices.iter().map(|device| device.name.clone()).collect());
        let counters = Counters::new(Root::new(root), names);
        let inner = Inner {
            counters,
            log: FollowedLogs::default(),
            traffic: Traffic::default(),
            ras: None,
            logged_restart: false,
            reported: None,
            logged: BTreeSet::new(),
        };
        let expected = facts.as_ref().and_then(|facts| facts.transport.clone());
        Self {
            facts,
            expected,
            unreadable: None,
            folder,
            asks_ras,
            start: Instant::now(),
            inner: RefCell::new(inner),
        }
    }

    /// With the transport that the profile expects. Without it, the facts name the transport.
    pub(super) fn expecting(self, transport: Option<String>) -> Self {
        Self { expected: transport.or(self.expected), ..self }
    }

    /// With a file of facts that could not be read: it is counted at each scrape.
    pub(super) fn with_unreadable_facts(self, unreadable: Option<(String, Unreadable)>) -> Self {
        Self { unreadable, ..self }
    }

    /// The text of a scrape.
    pub(super) fn take_sample_log_problems_and_render(&self) -> String {
        let mut inner = self.inner.borrow_mut();
        let mut readings = inner.counters.read();
        readings.unreadable.extend(self.unreadable.clone());
        inner.traffic.add_sample_and_conclude(Sample::sum_of_ports_and_interfaces(
            &readings.ports,
            &readings.interfaces,
            self.start.elapsed(),
        ));
        readings.rates = inner.traffic.rates;
        let by_log = self.folder.as_ref().and_then(|folder| {
            inner.log.read_growth_or_start_again(folder, &mut readings.unreadable);
            transport_of(&inner.log.log)
        });
        readings.expected.clone_from(&self.expected);
        readings.transport =
            Used::from_log_else_bytes(by_log, inner.traffic.transport, self.expected.as_deref());
        readings.ras = inner.ras.clone().filter(|_| self.asks_ras);
        inner.log_changed_problems(&readings);
        readings.facts.clone_from(&self.facts);
        text(&readings)
    }

    /// Takes an answer of RAS. The reason why there is none is logged when an answer was there before, and at the start.
    pub(super) fn record_ras_answer_and_log_silence(&self, answer: Result<RasAnswer, String>) {
        let ras = &mut self.inner.borrow_mut().ras;
        if let Err(reason) = &answer
            && ras.as_ref().is_none_or(|ras| ras.answer.is_some())
        {
            write_log_line(&json!({"event": "ras-silent", "message": reason}));
        }
        ras.get_or_insert_default().replace_answer_and_count_stuck(answer.ok());
    }
}

impl Inner {
    fn log_changed_problems(&mut self, readings: &ScrapeReadings) {
        for (file, reason) in &readings.unreadable {
            if self.logged.len() < MAX_LOGGED_FILES && self.logged.insert(file.clone()) {
                write_log_line(&json!({"event": "unreadable", "file": file, "message": reason.to_string()}));
            }
        }
        if self.log.restarted && !self.logged_restart {
            self.logged_restart = true;
            let message =
                "A log of NCCL was truncated, replaced or deleted; the monitor reads the folder again";
            write_log_line(&json!({"event": "log-restarted", "message": message}));
        }
        let expected = readings.expected.as_deref();
        let Some(used) = readings.transport.filter(|used| used.is_fallback(expected)) else { return };
        if self.reported.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        self.reported = Some(Instant::now());
        let message = match (used.source, readings.rates) {
            (Source::Bytes, Some(rates)) => format!(
                "The interfaces of the pod receive {:.0} MB/s and send {:.0} MB/s, and its RDMA devices are idle. \
                 NCCL seems to send over TCP between nodes",
                rates.received / 1e6,
                rates.sent / 1e6
            ),
            _ => "NCCL sends over TCP between nodes; fabric-admission verify-log shows why".to_owned(),
        };
        write_log_line(&json!({"event": "tcp-fallback", "source": used.source.name(), "message": message}));
    }
}

/// Writes a log line. A log that cannot be written must not stop the metrics.
fn write_log_line(value: &serde_json::Value) {
    let _ = json_text(value).and_then(|line| writeln!(io::stderr(), "{line}"));
}
