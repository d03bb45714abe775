//! Metrics, in Prometheus' names: `fabric_admission_…`, seconds, bounded label sets.

use crate::review::webhook::WebhookEntry;
use crate::{certificate_keeper, cluster};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Arc;
use std::time::Duration;

/// Every metric of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    duration: Family<EntryLabel, Histogram>,
    findings: Family<RuleLabel, Counter>,
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

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestResult {
    /// Admitted as it is.
    Allowed,
    /// Admitted with changes.
    Mutated,
    /// Admitted without the changes that were planned (`--mutate off`).
    Withheld,
    /// Refused.
    Denied,
    /// Outside the webhook's scope.
    OutOfScope,
    /// A request that cannot be answered (4xx).
    BadRequest,
    /// An internal error (500).
    Fault,
    /// No decision within the webhook's timeout (504).
    Late,
}

impl EncodeLabelValue for RequestResult {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Allowed => "allowed",
            Self::Mutated => "mutated",
            Self::Withheld => "withheld",
            Self::Denied => "denied",
            Self::OutOfScope => "out_of_scope",
            Self::BadRequest => "bad_request",
            Self::Fault => "fault",
            Self::Late => "late",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    entry: &'static str,
    result: RequestResult,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EntryLabel {
    entry: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RuleLabel {
    rule: &'static str,
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
}

impl Shed {
    /// Every reason.
    pub const ALL: [Self; 10] = [
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
struct ReloadLabel {
    result: &'static str,
}

/// Upper bounds in seconds. A decision takes tens of microseconds; the API server's own histogram starts at 5 ms.
const BUCKETS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

pub(super) fn entry_name(entry: WebhookEntry) -> &'static str {
    match entry {
        WebhookEntry::Mutate => "mutate",
        WebhookEntry::Validate => "enforce",
        WebhookEntry::Audit => "audit",
        WebhookEntry::Workload(_) => "workloads",
        WebhookEntry::Networks => "networks",
        WebhookEntry::Object(_) => "objects",
    }
}

impl Metrics {
    /// Registers everything.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("fabric_admission");
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register(
            "requests",
            "AdmissionReview requests, by webhook endpoint (label \"entry\") and result",
            requests.clone(),
        );
        let duration = Family::<EntryLabel, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        registry.register_with_unit(
            "request_duration",
            "Processing time of a request, from the complete body to the response, without TLS",
            Unit::Seconds,
            duration.clone(),
        );
        let findings = Family::<RuleLabel, Counter>::default();
        registry.register("findings", "Findings that the webhook reported, by rule", findings.clone());
        let connections = Gauge::default();
        registry.register("connections", "Open connections on the webhook port", connections.clone());
        let accept_errors = Counter::default();
        registry.register("accept_errors", "Failed attempts to accept a connection", accept_errors.clone());
        let handshakes = Family::<HandshakeLabel, Counter>::default();
        registry.register(
            "tls_handshakes",
            "TLS handshakes on the webhook port, by result",
            handshakes.clone(),
        );
        let panics = Counter::default();
        registry.register("panics", "Requests answered with status 500 because of a panic", panics.clone());
        let task_failures = Family::<TaskLabel, Counter>::default();
        registry.register(
            "task_failures",
            "Failures of background tasks (a panic or an unexpected end), by task",
            task_failures.clone(),
        );
        let shed = Family::<ShedLabel, Counter>::default();
        registry.register(
            "shed",
            "Connections closed and requests refused because of a limit, by reason",
            shed.clone(),
        );
        // Each reason exists from the start, so that its first event is a rise.
        for reason in Shed::ALL {
            drop(shed.get_or_create(&ShedLabel { reason: reason.name() }));
        }
        let in_flight = Gauge::default();
        registry.register(
            "requests_in_flight",
            "Webhook requests that are running or waiting now",
            in_flight.clone(),
        );
        let held = Gauge::default();
        registry.register_with_unit(
            "held",
            "Memory that request and response bodies use now",
            Unit::Bytes,
            held.clone(),
        );
        let facts_reloads = Family::<ReloadLabel, Counter>::default();
        registry.register(
            "facts_reloads",
            "Reloads of the files in --profiles and --cluster, by result",
            facts_reloads.clone(),
        );
        let client_ca_reloads = Family::<ReloadLabel, Counter>::default();
        registry.register(
            "client_ca_reloads",
            "Reloads of the CA for client certificates, by result",
            client_ca_reloads.clone(),
        );
        registry.register(
            "log_lines_dropped",
            "Log lines dropped because writing to stderr was too slow",
            crate::telemetry::dropped(),
        );
        registry.register(
            "log_lines_left_out",
            "Log lines left out because the same message was logged more than 20 times per second",
            crate::telemetry::left_out(),
        );
        let build = Family::<BuildLabels, Gauge>::default();
        build.get_or_create(&BuildLabels { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "Server version, in label version; the value is always 1", build);
        let watches = Arc::<cluster::Metrics>::default();
        watches.register(&mut registry);
        let certificates = Arc::<certificate_keeper::Metrics>::default();
        certificates.register(&mut registry);
        Self {
            registry,
            requests,
            duration,
            findings,
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
    pub fn request(&self, entry: WebhookEntry, result: RequestResult, took: Duration) {
        let entry = entry_name(entry);
        self.requests.get_or_create(&RequestLabels { entry, result }).inc();
        self.duration.get_or_create(&EntryLabel { entry }).observe(took.as_secs_f64());
    }
    /// Counts a request that was not decided in time.
    pub fn late(&self, entry: WebhookEntry, took: Duration) {
        self.request(entry, RequestResult::Late, took);
    }
    /// Counts a finding.
    pub fn finding(&self, rule: &'static str) {
        self.findings.get_or_create(&RuleLabel { rule }).inc();
    }
    /// Counts a connection in.
    pub fn connected(&self) {
        self.connections.inc();
    }
    /// Counts a connection out.
    pub fn disconnected(&self) {
        self.connections.dec();
    }
    /// Counts a failed accept.
    pub fn accept_error(&self) {
        self.accept_errors.inc();
    }
    /// Counts a handshake.
    pub fn handshake(&self, result: Handshake) {
        self.handshakes.get_or_create(&HandshakeLabel { result }).inc();
    }
    /// Counts a closed connection or refused request.
    pub fn shed(&self, reason: Shed) {
        self.shed.get_or_create(&ShedLabel { reason: reason.name() }).inc();
    }
    /// Notes the use of the budgets.
    pub(super) fn used(&self, requests: usize, bytes: usize) {
        self.in_flight.set(i64::try_from(requests).unwrap_or(i64::MAX));
        self.held.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
    /// Counts a caught panic.
    pub fn panicked(&self) {
        self.panics.inc();
    }
    /// Shows a background task with no failures, so that its first one is a rise.
    pub(super) fn task(&self, name: &str) {
        drop(self.task_failures.get_or_create(&TaskLabel { task: name.to_owned() }));
    }
    /// Counts a background task that panicked or ended unexpectedly.
    pub(super) fn task_failed(&self, name: &str) {
        self.task_failures.get_or_create(&TaskLabel { task: name.to_owned() }).inc();
    }
    /// Counts a reload of the clients' CA, successful or failed.
    pub fn client_ca_loaded(&self, well: bool) {
        let result = if well { "ok" } else { "failed" };
        self.client_ca_reloads.get_or_create(&ReloadLabel { result }).inc();
    }
    /// Counts a successful reload of profiles and facts.
    pub fn facts_loaded(&self) {
        self.facts_reloads.get_or_create(&ReloadLabel { result: "ok" }).inc();
    }
    /// Counts a failed reload of profiles and facts.
    pub fn facts_failed(&self) {
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
    pub fn text(&self) -> String {
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
