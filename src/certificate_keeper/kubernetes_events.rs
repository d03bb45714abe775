//! Events about our certificates, on the Secret, for operators who do not read the log. Never about a review; nothing waits
//! for them.

use super::certificate_metrics::Metrics;
use crate::cluster::secret_and_webhook_configurations::CertificateObjects;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Least time between two Events of a reason.
const SELDOM: Duration = Duration::from_secs(60);
/// The same for conditions that last hours. An Event is kept for one hour (kube-apiserver --event-ttl).
const HALF_AN_HOUR: Duration = Duration::from_secs(1800);

/// The reason of an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// A planned change of the CA.
    Rotated,
    /// An emergency change of the CA: the previous one could not sign.
    Replaced,
    /// A caBundle was changed externally; it is restored.
    Reverted,
    /// Another writer changes a caBundle repeatedly.
    Fight,
    /// The renewal of our certificate is overdue.
    Overdue,
}

impl Reason {
    fn name(self) -> &'static str {
        match self {
            Self::Rotated => "AuthorityRotated",
            Self::Replaced => "AuthorityReplaced",
            Self::Reverted => "CaBundlePutBack",
            Self::Fight => "CaBundleChangedByOthers",
            Self::Overdue => "CertificateNotRenewed",
        }
    }

    fn pause(self) -> Duration {
        if self == Self::Overdue { HALF_AN_HOUR } else { SELDOM }
    }

    fn kind(self) -> &'static str {
        if self == Self::Rotated { "Normal" } else { "Warning" }
    }
}

/// The last Events, and their times.
pub(super) struct Events {
    objects: CertificateObjects,
    /// Name of this replica.
    instance: String,
    metrics: Arc<Metrics>,
    last: BTreeMap<Reason, Instant>,
}

impl Events {
    pub(super) fn new(objects: CertificateObjects, instance: String, metrics: Arc<Metrics>) -> Self {
        Self { objects, instance, metrics, last: BTreeMap::new() }
    }

    /// Creates the Event, unless the same was created recently. A refused one is only counted: Events are a courtesy.
    pub(super) fn emit_unless_recent(&mut self, reason: Reason, note: &str) {
        if self.last.get(&reason).is_some_and(|at| at.elapsed() < reason.pause()) {
            return;
        }
        self.last.insert(reason, Instant::now());
        let event = self.event(reason, note, Timestamp::now());
        let (objects, metrics) = (self.objects.clone(), Arc::clone(&self.metrics));
        tokio::spawn(async move {
            if let Err(error) = objects.create_event(&event).await {
                metrics.count_failed_call("event");
                tracing::debug!(%error, "creating a Kubernetes Event failed");
            }
        });
    }

    fn event(&self, reason: Reason, note: &str, now: Timestamp) -> Value {
        let names = &self.objects.names;
        let name = format!("{}.{:x}", names.secret, now.as_nanosecond());
        // 128 bytes are taken (kubernetes pkg/apis/core/validation/events.go).
        let instance: String = self.instance.chars().filter(char::is_ascii).take(128).collect();
        json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": name, "namespace": names.namespace},
            "eventTime": MicroTime(now), "type": reason.kind(), "reason": reason.name(), "action": "Certificates",
            "reportingController": "fabric-admission.dev/certificates", "reportingInstance": instance,
            "regarding": {"apiVersion": "v1", "kind": "Secret", "namespace": names.namespace, "name": names.secret},
            "note": crate::text::escaped_and_cut(note, 1000),
        })
    }
}
