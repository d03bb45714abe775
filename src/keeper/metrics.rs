//! Metrics of certificates that the server makes, or takes from a Secret.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::time::SystemTime;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RoleLabel {
    role: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RotationLabels {
    kind: &'static str,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabel {
    call: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabel {
    result: &'static str,
}

/// What is counted of certificates.
#[derive(Debug, Default)]
pub struct Metrics {
    reloads: Family<ReloadLabel, Counter>,
    loaded_at: Gauge,
    ca_expiry: Family<RoleLabel, Gauge>,
    ca_generation: Gauge,
    leaf_expiry: Gauge,
    leaf_overdue: Gauge,
    in_sync: Family<KindLabel, Gauge>,
    writes: Family<KindLabel, Counter>,
    reverts: Family<KindLabel, Counter>,
    fights: Family<KindLabel, Gauge>,
    rotations: Family<RotationLabels, Counter>,
    emergencies: Counter,
    failures: Family<CallLabel, Counter>,
    conflicts: Family<CallLabel, Counter>,
    brakes: Counter,
}

impl Metrics {
    /// Registers them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "certificate_reloads",
            "Looks at the certificate files that found others",
            self.reloads.clone(),
        );
        registry.register_with_unit(
            "certificate_loaded_timestamp",
            "When the certificate in use was loaded",
            Unit::Seconds,
            self.loaded_at.clone(),
        );
        registry.register_with_unit(
            "ca_expiry_timestamp",
            "When a CA of the Secret ends, by its role",
            Unit::Seconds,
            self.ca_expiry.clone(),
        );
        registry.register("ca_generation", "How often a CA became current", self.ca_generation.clone());
        registry.register_with_unit(
            "leaf_expiry_timestamp",
            "When the certificate in use ends",
            Unit::Seconds,
            self.leaf_expiry.clone(),
        );
        registry.register(
            "leaf_renewal_overdue",
            "1 where our own certificate is in the last tenth of its life and could not be renewed",
            self.leaf_overdue.clone(),
        );
        registry.register(
            "cabundle_in_sync",
            "1 where every caBundle of the configuration verifies the certificate in use",
            self.in_sync.clone(),
        );
        registry.register("cabundle_writes", "CaBundles written by this replica", self.writes.clone());
        registry.register("cabundle_reverts", "CaBundles changed by others", self.reverts.clone());
        registry.register(
            "cabundle_fight",
            "1 where others change caBundles again and again, so that writes slow down",
            self.fights.clone(),
        );
        registry.register(
            "cert_rotations",
            "Certificates made and changes of the CA by this replica",
            self.rotations.clone(),
        );
        registry.register(
            "ca_emergency_rotations",
            "CAs replaced at once by this replica, since the current one could not sign",
            self.emergencies.clone(),
        );
        registry.register(
            "certificate_failures",
            "Reads and writes for certificates that failed",
            self.failures.clone(),
        );
        registry.register(
            "certificate_conflicts",
            "Writes for certificates that were refused since the object had changed, as it seemed",
            self.conflicts.clone(),
        );
        registry.register(
            "certificate_brakes",
            "Pauses since writes for certificates brought no rest",
            self.brakes.clone(),
        );
    }

    /// Notes that a certificate came into use.
    pub fn certificate_loaded(&self) {
        self.reloads.get_or_create(&ReloadLabel { result: "ok" }).inc();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.loaded_at.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    }
    /// Notes that the files could not be used.
    pub fn certificate_failed(&self) {
        self.reloads.get_or_create(&ReloadLabel { result: "failed" }).inc();
    }
    /// Notes when the CA of a role (current, next, previous) ends; 0 where there is none.
    pub fn ca_expiry(&self, role: &'static str, until: i64) {
        self.ca_expiry.get_or_create_owned(&RoleLabel { role }).set(until);
    }
    /// Notes how often a CA became current.
    pub fn ca_generation(&self, generation: u64) {
        self.ca_generation.set(i64::try_from(generation).unwrap_or(i64::MAX));
    }
    /// Notes when the certificate in use ends.
    pub fn leaf_expiry(&self, until: i64) {
        self.leaf_expiry.set(until);
    }
    /// Notes whether the certificate in use should have been renewed long ago.
    pub fn leaf_overdue(&self, is: bool) {
        self.leaf_overdue.set(i64::from(is));
    }
    /// Notes whether the API server would believe us by a configuration.
    pub fn cabundle_in_sync(&self, kind: &'static str, is: bool) {
        self.in_sync.get_or_create_owned(&KindLabel { kind }).set(i64::from(is));
    }
    /// Counts a write of caBundles.
    pub fn cabundle_written(&self, kind: &'static str) {
        self.writes.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Counts caBundles that others have changed.
    pub fn cabundle_reverted(&self, kind: &'static str) {
        self.reverts.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Notes whether others change caBundles again and again.
    pub fn cabundle_fight(&self, kind: &'static str, is: bool) {
        self.fights.get_or_create_owned(&KindLabel { kind }).set(i64::from(is));
    }
    /// Counts a certificate that was made, or a change of the CA.
    pub fn rotated(&self, kind: &'static str, reason: &'static str) {
        self.rotations.get_or_create_owned(&RotationLabels { kind, reason }).inc();
    }
    /// Counts a CA that was replaced at once.
    pub fn ca_emergency(&self) {
        self.emergencies.inc();
    }
    /// Counts a write that was refused since somebody seemed to be faster.
    pub fn certificate_outrun(&self, call: &'static str) {
        self.conflicts.get_or_create_owned(&CallLabel { call }).inc();
    }
    /// Counts a pause since writes brought no rest.
    pub fn certificates_braked(&self) {
        self.brakes.inc();
    }
    /// Counts a read or write that failed.
    pub fn certificate_call_failed(&self, call: &'static str) {
        self.failures.get_or_create_owned(&CallLabel { call }).inc();
    }
}

#[cfg(test)]
impl Metrics {
    /// The text that Prometheus reads.
    pub(super) fn text(&self) -> String {
        let mut registry = Registry::with_prefix("fabric_admission");
        self.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }
}
