//! The metrics of the process: name, labels and meaning of each. Every registration takes its row from here, and
//! docs/metrics.md is generated from the same rows.

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Metric as Collected, Registry, Unit as Suffix};

/// Prefix of all names.
pub const PREFIX: &str = "fabric_admission";

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A count that only rises.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// Counts of durations below upper bounds.
    Histogram,
}

/// The unit of a value, which is part of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Seconds,
    Bytes,
}

impl Unit {
    fn suffix(self) -> Suffix {
        match self {
            Self::Seconds => Suffix::Seconds,
            Self::Bytes => Suffix::Bytes,
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Name without prefix, unit and the ending of counters.
    name: &'static str,
    unit: Option<Unit>,
    /// What it is.
    pub kind: Kind,
    /// Names of its labels, in the order of a scrape; without `le`.
    pub labels: &'static [&'static str],
    /// Its meaning.
    pub help: &'static str,
}

impl Metric {
    const fn new(
        kind: Kind,
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { name, unit: None, kind, labels, help }
    }

    const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Counter, name, labels, help)
    }

    const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self::new(Kind::Gauge, name, labels, help)
    }

    const fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// The name in queries. A histogram has `_bucket`, `_sum` and `_count` after it.
    #[must_use]
    pub fn full_name(&self) -> String {
        let unit = self.unit.map(|unit| format!("_{}", unit.suffix().as_str())).unwrap_or_default();
        let ending = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("{PREFIX}_{}{unit}{ending}", self.name)
    }

    /// Registers what is collected under this name.
    pub fn register(&self, registry: &mut Registry, collected: impl Collected) {
        match self.unit {
            Some(unit) => registry.register_with_unit(self.name, self.help, unit.suffix(), collected),
            None => registry.register(self.name, self.help, collected),
        }
    }

    /// Begins the text of this metric, which has no unit, in a scrape.
    ///
    /// # Errors
    /// Those of the encoder.
    pub fn begin_metric_without_unit<'e>(
        &self,
        encoder: &'e mut DescriptorEncoder<'_>,
    ) -> Result<MetricEncoder<'e>, std::fmt::Error> {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
        };
        // The registry ends the help of its own metrics with a full stop too.
        encoder.encode_descriptor(self.name, &format!("{}.", self.help), None, kind)
    }
}

macro_rules! metrics {
    ($($constant:ident = $row:expr;)*) => {
        $(#[doc = "A row of the table."] pub const $constant: Metric = $row;)*
        /// Every metric, in the order of the docs.
        pub const ALL: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    REQUESTS = Metric::counter("requests", &["entry", "mode", "result"],
        "AdmissionReview requests, by webhook endpoint, mode of the decision, and result");
    REQUEST_DURATION = Metric::new(Kind::Histogram, "request_duration", &["entry"],
        "Processing time of a request, from the complete body to the response, without TLS").in_unit(Unit::Seconds);
    NAMESPACE_DECISIONS = Metric::counter("namespace_decisions", &["namespace", "entry", "mode", "result"],
        "Decisions on pods and workloads in scope, by namespace. `other` stands for namespaces after the first 200, and for namespaces that are not opted in");
    PROFILE_DECISIONS = Metric::counter("profile_decisions", &["profile", "entry", "mode", "result"],
        "Decisions on pods and workloads with accelerators, by profile. `other` stands for profiles after the first 200, and `none` stands for pods without a profile");
    PROFILE_CHANGED = Metric::gauge("profile_changed_timestamp", &["profile"],
        "Unix time at which the server last saw a change of each profile. Creation and deletion also count as changes. \
         The value is 0 if the server has seen no change since its start").in_unit(Unit::Seconds);
    FINDINGS = Metric::counter("findings", &["rule", "severity", "mode"],
        "Findings that the webhook reported, by rule, severity, and mode (audit or enforce)");
    CHANGES = Metric::counter("changes", &["kind", "result"],
        "Changes of pods, by kind and result. Changes with result `planned` were not made, because of mode audit or --mutate off");
    RESOLUTIONS = Metric::counter("resolutions", &["outcome", "mode"],
        "Searches for the profile of a pod with accelerators, by outcome and mode. If the API server calls the mutating webhook twice for a pod, the pod counts twice");
    FACTS_AGE = Metric::gauge("facts_age", &["kind"],
        "Time since the last response of the API server for each object kind. For kind `files`, time since the server last found the files of --profiles and --cluster valid").in_unit(Unit::Seconds);
    CERTIFICATE_DAYS = Metric::gauge("certificate_days_left", &[],
        "Days until the current server certificate expires; NaN without a certificate");
    CONNECTIONS = Metric::gauge("connections", &[], "Open connections on the webhook port");
    ACCEPT_ERRORS = Metric::counter("accept_errors", &[], "Failed attempts to accept a connection");
    HANDSHAKES = Metric::counter("tls_handshakes", &["result"], "TLS handshakes on the webhook port, by result");
    PANICS = Metric::counter("panics", &[], "Requests answered with status 500 because of a panic");
    TASK_FAILURES = Metric::counter("task_failures", &["task"],
        "Failures of background tasks (a panic or an unexpected end), by task");
    SHED = Metric::counter("shed", &["reason"],
        "Connections closed and requests refused because of a limit, by reason");
    IN_FLIGHT = Metric::gauge("requests_in_flight", &[], "Webhook requests that are running or waiting now");
    HELD = Metric::gauge("held", &[], "Memory that request and response bodies use now").in_unit(Unit::Bytes);
    FACTS_RELOADS = Metric::counter("facts_reloads", &["result"],
        "Reloads of the files in --profiles and --cluster, by result");
    CLIENT_CA_RELOADS = Metric::counter("client_ca_reloads", &["result"],
        "Reloads of the CA for client certificates, by result");
    LOG_LINES_DROPPED = Metric::counter("log_lines_dropped", &[],
        "Log lines dropped because writing to stderr was too slow");
    LOG_LINES_LEFT_OUT = Metric::counter("log_lines_left_out", &[],
        "Log lines left out because the same message was logged more than 20 times per second");
    BUILD_INFO = Metric::gauge("build_info", &["version"],
        "Server version, in label version; the value is always 1");
    WATCH_OBJECTS = Metric::gauge("watch_objects", &["kind"],
        "Objects that the server knows from its watches, by kind");
    WATCH_STATE = Metric::gauge("watch_state", &["kind", "state"],
        "Watch state of each object kind: 1 for the current state, 0 for all other states");
    WATCH_LISTS = Metric::counter("watch_lists", &["kind"],
        "How often the server received a complete list of objects from the API server, by kind");
    WATCH_MALFORMED = Metric::counter("watch_malformed", &["kind"],
        "Objects from the API server that could not be parsed, by kind");
    WATCH_LEFT_OUT = Metric::counter("watch_left_out", &["kind"],
        "Objects that the server did not keep in memory, because objects of the same kind and namespace already use \
         too much memory, by kind");
    WATCH_CONTACT = Metric::gauge("watch_last_contact_timestamp", &["kind"],
        "Time of the last response of the API server for each object kind, as Unix time").in_unit(Unit::Seconds);
    WATCH_IGNORED = Metric::gauge("watch_ignored_objects", &["kind"],
        "Operator objects that the server ignores because they are not in a namespace of --operator-namespaces, by kind");
    SNAPSHOTS_PUBLISHED = Metric::counter("snapshots_published", &[],
        "How often the webhook switched to a new snapshot of the cluster's objects");
    STATUS_LEADER = Metric::gauge("status_leader", &[],
        "1 if this replica writes the status of FabricProfiles, else 0");
    STATUS_WRITES = Metric::counter("status_writes", &[], "Writes of a FabricProfile's status by this replica");
    PROFILE_PROBLEMS = Metric::gauge("profile_problems", &["profile"],
        "Number of problems in the status of each FabricProfile; exported only by the replica that writes the status");
    STATUS_FAILURES = Metric::counter("status_failures", &["call"],
        "Failed API calls of the task that writes the status of FabricProfiles, by type of call");
    CERTIFICATE_RELOADS = Metric::counter("certificate_reloads", &["result"],
        "Reloads of the server certificate, by result");
    CERTIFICATE_LOADED = Metric::gauge("certificate_loaded_timestamp", &[],
        "Time at which the server loaded its current certificate, as Unix time").in_unit(Unit::Seconds);
    CA_EXPIRY = Metric::gauge("ca_expiry_timestamp", &["role"],
        "Expiry time of each CA in the Secret, as Unix time, by role; 0 if the Secret has no CA in this role").in_unit(Unit::Seconds);
    CA_GENERATION = Metric::gauge("ca_generation", &[],
        "Generation number of the current CA; each rotation adds 1");
    LEAF_EXPIRY = Metric::gauge("leaf_expiry_timestamp", &[],
        "Expiry time of the current server certificate, as Unix time").in_unit(Unit::Seconds);
    LEAF_OVERDUE = Metric::gauge("leaf_renewal_overdue", &[],
        "1 if the self-managed certificate is in the last tenth of its lifetime and was not renewed, else 0");
    CABUNDLE_IN_SYNC = Metric::gauge("cabundle_in_sync", &["kind"],
        "1 if every caBundle of the webhook configuration verifies the server certificate, else 0");
    CABUNDLE_WRITES = Metric::counter("cabundle_writes", &["kind"],
        "Writes of caBundles by this replica, by kind of webhook configuration");
    CABUNDLE_REVERTS = Metric::counter("cabundle_reverts", &["kind"],
        "Changes that other clients made to caBundles; the server reverts these changes");
    CABUNDLE_FIGHT = Metric::gauge("cabundle_fight", &["kind"],
        "1 if this replica delays its repairs of the caBundle because another client keeps changing it, else 0");
    CERT_ROTATIONS = Metric::counter("cert_rotations", &["kind", "reason"],
        "Certificates issued and CA changes made by this replica, by kind and reason");
    CA_EMERGENCIES = Metric::counter("ca_emergency_rotations", &[],
        "How often this replica replaced the CA in an emergency, because the previous CA could not sign certificates");
    CERTIFICATE_FAILURES = Metric::counter("certificate_failures", &["call"],
        "Failed API calls for the server's Secret, caBundles and Events, by type of call");
    CERTIFICATE_CONFLICTS = Metric::counter("certificate_conflicts", &["call"],
        "Writes of the server's Secret or of a caBundle that failed because another client had changed the object, by type of call");
    CERTIFICATE_BACK_OFFS = Metric::counter("certificate_back_offs", &[],
        "How often this replica paused its certificate writes because another client kept changing the same objects");
}
