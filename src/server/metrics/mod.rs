//! Metrics, in Prometheus' names: `fabric_admission_…`, seconds, bounded label sets.

mod bounded_names;
mod counter_grid;
mod decision_counts;
mod duration_buckets;
mod profile_changes;
#[cfg(test)]
mod tests;

use crate::review::Verdict;
use crate::review::decide_webhook_request::{Answer, WebhookEntry};
use crate::snapshot::Snapshot;
use crate::telemetry::metric_table as table;
use crate::{certificate_keeper, cluster};
use decision_counts::Decisions;
pub use decision_counts::{RESULTS, RequestResult};
pub(super) use decision_counts::{entry_name, mode_name};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The webhook endpoints.
const ENTRIES: [&str; 6] = ["mutate", "enforce", "audit", "workloads", "networks", "objects"];

/// Every metric of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    decisions: Decisions,
    durations: [(&'static str, Histogram); ENTRIES.len()],
    facts_age: Family<KindLabel, Gauge<f64, AtomicU64>>,
    certificate_days: Gauge<f64, AtomicU64>,
    /// When the files of facts were last valid.
    facts_checked: Mutex<Option<Instant>>,
    connections: Gauge,
    accept_errors: Counter,
    handshakes: Family<HandshakeLabel, Counter>,
    panics: Counter,
    task_failures: Family<TaskLabel, Counter>,
    shed: Family<ShedLabel, Counter>,
    in_flight: Gauge,
    held: Gauge,
    facts_reloads: Family<ReloadLabel, Counter>,
    client_ca_reloads: Family<ReloadLabel, Counter>,
    watches: Arc<cluster::Metrics>,
    certificates: Arc<certificate_keeper::Metrics>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EntryLabel {
    entry: &'static str,
}

/// How a TLS handshake ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Handshake {
    /// It succeeded.
    Ok,
    /// An error of the client, or of the received bytes.
    Failed,
    /// The client was too slow, or other connections needed its place.
    Timeout,
    /// The client has no certificate, or the wrong one.
    Refused,
}

impl EncodeLabelValue for Handshake {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Refused => "client_refused",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HandshakeLabel {
    result: Handshake,
}

/// Why the server closes a connection or refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shed {
    /// The connection limit, and no connection can be closed.
    Connections,
    /// The connection limit of one address.
    PeerConnections,
    /// An idle connection that makes room for another.
    Idle,
    /// An unfinished handshake that makes room for another connection.
    UnfinishedHandshake,
    /// The limit of concurrent requests.
    Requests,
    /// The limit of held bytes.
    Memory,
    /// A client too slow with its handshake.
    SlowHandshake,
    /// A client too slow with a header, or one within a header that makes room for another.
    SlowHeader,
    /// A client too slow with a body, or one within a body that makes room for another.
    SlowBody,
    /// A client too slow in taking its answer.
    SlowAnswer,
    /// A client that sends too many TLS records without data.
    EmptyRecords,
    /// A body that is too long, or too much once it is decoded.
    TooLarge,
}

impl Shed {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Connections,
        Self::PeerConnections,
        Self::Idle,
        Self::UnfinishedHandshake,
        Self::Requests,
        Self::Memory,
        Self::SlowHandshake,
        Self::SlowHeader,
        Self::SlowBody,
        Self::SlowAnswer,
        Self::EmptyRecords,
        Self::TooLarge,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::PeerConnections => "peer_connections",
            Self::Idle => "idle",
            Self::UnfinishedHandshake => "unfinished_handshake",
            Self::Requests => "requests",
            Self::Memory => "memory",
            Self::SlowHandshake => "slow_handshake",
            Self::SlowHeader => "slow_header",
            Self::SlowBody => "slow_body",
            Self::SlowAnswer => "slow_answer",
            Self::EmptyRecords => "empty_records",
            Self::TooLarge => "too_large",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ShedLabel {
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabel {
    task: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabel {
    result: &'static str,
}

impl Metrics {
    /// Registers everything.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix(table::PREFIX);
        let decisions = Decisions::new(&mut registry);
        let duration = Family::<EntryLabel, Histogram>::new_with_constructor(|| {
            Histogram::new(duration_buckets::BUCKETS)
        });
        table::REQUEST_DURATION.register(&mut registry, duration.clone());
        let durations = ENTRIES.map(|entry| (entry, duration.get_or_create(&EntryLabel { entry }).clone()));
        let facts_age = Family::<KindLabel, Gauge<f64, AtomicU64>>::default();
        table::FACTS_AGE.register(&mut registry, facts_age.clone());
        let certificate_days = Gauge::<f64, AtomicU64>::default();
        table::CERTIFICATE_DAYS.register(&mut registry, certificate_days.clone());
        let connections = Gauge::default();
        table::CONNECTIONS.register(&mut registry, connections.clone());
        let accept_errors = Counter::default();
        table::ACCEPT_ERRORS.register(&mut registry, accept_errors.clone());
        let handshakes = Family::<HandshakeLabel, Counter>::default();
        table::HANDSHAKES.register(&mut registry, handshakes.clone());
        let panics = Counter::default();
        table::PANICS.register(&mut registry, panics.clone());
        let task_failures = Family::<TaskLabel, Counter>::default();
        table::TASK_FAILURES.register(&mut registry, task_failures.clone());
        let shed = Family::<ShedLabel, Counter>::default();
        table::SHED.register(&mut registry, shed.clone());
        // Each reason exists from the start, so that its first event is a rise.
        for reason in Shed::ALL {
            drop(shed.get_or_create(&ShedLabel { reason: reason.name() }));
        }
        let in_flight = Gauge::default();
        table::IN_FLIGHT.register(&mut registry, in_flight.clone());
        let held = Gauge::default();
        table::HELD.register(&mut registry, held.clone());
        let facts_reloads = Family::<ReloadLabel, Counter>::default();
        table::FACTS_RELOADS.register(&mut registry, facts_reloads.clone());
        let client_ca_reloads = Family::<ReloadLabel, Counter>::default();
        table::CLIENT_CA_RELOADS.register(&mut registry, client_ca_reloads.clone());
        table::LOG_LINES_DROPPED.register(&mut registry, crate::telemetry::counter_of_dropped_lines());
        table::LOG_LINES_LEFT_OUT.register(&mut registry, crate::telemetry::counter_of_left_out_lines());
        let build = Family::<BuildLabels, Gauge>::default();
        build.get_or_create(&BuildLabels { version: env!("CARGO_PKG_VERSION") }).set(1);
        table::BUILD_INFO.register(&mut registry, build);
        let watches = Arc::<cluster::Metrics>::default();
        watches.register(&mut registry);
        let certificates = Arc::<certificate_keeper::Metrics>::default();
        certificates.register(&mut registry);
        Self {
            registry,
            decisions,
            durations,
            facts_age,
            certificate_days,
            facts_checked: Mutex::default(),
            connections,
            accept_errors,
            handshakes,
            panics,
            task_failures,
            shed,
            in_flight,
            held,
            facts_reloads,
            client_ca_reloads,
            watches,
            certificates,
        }
    }

    /// Counts an answered request.
    pub fn count_request_and_duration(&self, entry: WebhookEntry, result: RequestResult, took: Duration) {
        self.decisions.count_request_result(entry, result);
        let name = entry_name(entry);
        if let Some((_, duration)) = self.durations.iter().find(|(entry, _)| *entry == name) {
            duration.observe(took.as_secs_f64());
        }
    }
    /// Counts a request that got a decision.
    pub(super) fn count_decision_and_request(
        &self,
        answer: &Answer,
        verdict: Verdict,
        snapshot: &Snapshot,
        took: Duration,
    ) {
        self.decisions.count_findings_profiles_and_changes(answer, verdict, snapshot);
        self.count_request_and_duration(answer.entry, RequestResult::Decided(verdict), took);
    }
    /// Notes the names of new facts, which have counters from now on, and which profiles have changed.
    pub(super) fn record_names_and_changed_profiles(&self, snapshot: &Snapshot) {
        self.decisions.show_names_with_zeros(snapshot);
        self.decisions.profile_changes.record_changed_profiles(snapshot);
    }
    /// Notes the names of facts that are not complete yet.
    pub(super) fn show_names_with_zeros(&self, snapshot: &Snapshot) {
        self.decisions.show_names_with_zeros(snapshot);
    }
    /// Counts a request that was not decided in time.
    pub fn count_late_request(&self, entry: WebhookEntry, took: Duration) {
        self.count_request_and_duration(entry, RequestResult::Late, took);
    }
    /// Notes that the files of facts were read and are valid.
    pub(super) fn record_that_fact_files_are_valid(&self) {
        *self.facts_checked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
    /// Notes the ages of facts, and the end of the certificate, for a scrape.
    pub(super) fn set_fact_ages_and_certificate_days(
        &self,
        ages: impl Iterator<Item = (&'static str, Duration)>,
        days: Option<f64>,
    ) {
        let files = *self.facts_checked.lock().unwrap_or_else(PoisonError::into_inner);
        let files = files.map(|at| ("files", at.elapsed()));
        for (kind, age) in ages.chain(files) {
            self.facts_age.get_or_create_owned(&KindLabel { kind }).set(age.as_secs_f64());
        }
        self.certificate_days.set(days.unwrap_or(f64::NAN));
    }
    /// Counts a connection in.
    pub fn count_opened_connection(&self) {
        self.connections.inc();
    }
    /// Counts a connection out.
    pub fn count_closed_connection(&self) {
        self.connections.dec();
    }
    /// Counts a failed accept.
    pub fn count_accept_error(&self) {
        self.accept_errors.inc();
    }
    /// Counts a handshake.
    pub fn count_handshake(&self, result: Handshake) {
        self.handshakes.get_or_create(&HandshakeLabel { result }).inc();
    }
    /// Counts a closed connection or refused request.
    pub fn count_shed(&self, reason: Shed) {
        self.shed.get_or_create(&ShedLabel { reason: reason.name() }).inc();
    }
    /// Notes the use of the budgets.
    pub(super) fn set_budget_use(&self, requests: usize, bytes: usize) {
        self.in_flight.set(i64::try_from(requests).unwrap_or(i64::MAX));
        self.held.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
    /// Counts a caught panic.
    pub fn count_panic(&self) {
        self.panics.inc();
    }
    /// Shows a background task with no failures, so that its first one is a rise.
    pub(super) fn show_task_without_failures(&self, name: &str) {
        drop(self.task_failures.get_or_create(&TaskLabel { task: name.to_owned() }));
    }
    /// Counts a background task that panicked or ended unexpectedly.
    pub(super) fn count_task_failure(&self, name: &str) {
        self.task_failures.get_or_create(&TaskLabel { task: name.to_owned() }).inc();
    }
    /// Counts a reload of the clients' CA, successful or failed.
    pub fn count_client_ca_reload(&self, well: bool) {
        let result = if well { "ok" } else { "failed" };
        self.client_ca_reloads.get_or_create(&ReloadLabel { result }).inc();
    }
    /// Counts a successful reload of profiles and facts.
    pub fn count_reload_of_fact_files(&self) {
        self.facts_reloads.get_or_create(&ReloadLabel { result: "ok" }).inc();
    }
    /// Counts a failed reload of profiles and facts.
    pub fn count_failed_reload_of_fact_files(&self) {
        self.facts_reloads.get_or_create(&ReloadLabel { result: "failed" }).inc();
    }
    /// Metrics of the watches.
    pub(super) fn watches(&self) -> &Arc<cluster::Metrics> {
        &self.watches
    }
    /// Metrics of certificates.
    pub(super) fn certificates(&self) -> &Arc<certificate_keeper::Metrics> {
        &self.certificates
    }
    /// The text that Prometheus reads.
    #[must_use]
    pub fn text_for_scrape(&self) -> String {
        let mut text = String::new();
        match prometheus_client::encoding::text::encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
}
