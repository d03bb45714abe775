//! Metrics of certificates.

use crate::telemetry::metric_table as table;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
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

/// Metrics of certificates.
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
    back_offs: Counter,
}

impl Metrics {
    /// Registers them.
    pub fn register(&self, registry: &mut Registry) {
        table::CERTIFICATE_RELOADS.register(registry, self.reloads.clone());
        table::CERTIFICATE_LOADED.register(registry, self.loaded_at.clone());
        table::CA_EXPIRY.register(registry, self.ca_expiry.clone());
        table::CA_GENERATION.register(registry, self.ca_generation.clone());
        table::LEAF_EXPIRY.register(registry, self.leaf_expiry.clone());
        table::LEAF_OVERDUE.register(registry, self.leaf_overdue.clone());
        table::CABUNDLE_IN_SYNC.register(registry, self.in_sync.clone());
        table::CABUNDLE_WRITES.register(registry, self.writes.clone());
        table::CABUNDLE_REVERTS.register(registry, self.reverts.clone());
        table::CABUNDLE_FIGHT.register(registry, self.fights.clone());
        table::CERT_ROTATIONS.register(registry, self.rotations.clone());
        table::CA_EMERGENCIES.register(registry, self.emergencies.clone());
        table::CERTIFICATE_FAILURES.register(registry, self.failures.clone());
        table::CERTIFICATE_CONFLICTS.register(registry, self.conflicts.clone());
        table::CERTIFICATE_BACK_OFFS.register(registry, self.back_offs.clone());
    }

    /// Notes that the server uses a new certificate.
    pub fn count_load_and_record_time(&self) {
        self.reloads.get_or_create(&ReloadLabel { result: "ok" }).inc();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.loaded_at.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    }
    /// Counts a failed reload of the files.
    pub fn count_failed_load(&self) {
        self.reloads.get_or_create(&ReloadLabel { result: "failed" }).inc();
    }
    /// Notes when the CA of a role (current, next, previous) expires; 0 without one.
    pub fn set_ca_expiry(&self, role: &'static str, until: i64) {
        self.ca_expiry.get_or_create_owned(&RoleLabel { role }).set(until);
    }
    /// Notes how often a CA became current.
    pub fn set_ca_generation(&self, generation: u64) {
        self.ca_generation.set(i64::try_from(generation).unwrap_or(i64::MAX));
    }
    /// Notes when the certificate in use expires.
    pub fn set_leaf_expiry(&self, until: i64) {
        self.leaf_expiry.set(until);
    }
    /// Notes whether the renewal of the certificate in use is overdue.
    pub fn set_leaf_overdue(&self, is: bool) {
        self.leaf_overdue.set(i64::from(is));
    }
    /// Notes whether the caBundles of a configuration verify the certificate in use.
    pub fn set_ca_bundle_in_sync(&self, kind: &'static str, is: bool) {
        self.in_sync.get_or_create_owned(&KindLabel { kind }).set(i64::from(is));
    }
    /// Counts a write of caBundles.
    pub fn count_ca_bundle_write(&self, kind: &'static str) {
        self.writes.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Counts caBundles that others have changed.
    pub fn count_external_ca_bundle_change(&self, kind: &'static str) {
        self.reverts.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Notes whether others change caBundles repeatedly.
    pub fn set_ca_bundle_fight(&self, kind: &'static str, is: bool) {
        self.fights.get_or_create_owned(&KindLabel { kind }).set(i64::from(is));
    }
    /// Counts an issued certificate or a change of the CA.
    pub fn count_rotation(&self, kind: &'static str, reason: &'static str) {
        self.rotations.get_or_create_owned(&RotationLabels { kind, reason }).inc();
    }
    /// Counts an emergency replacement of the CA.
    pub fn count_emergency_ca_replacement(&self) {
        self.emergencies.inc();
    }
    /// Counts a write conflict: another writer changed the object first.
    pub fn count_write_conflict(&self, call: &'static str) {
        self.conflicts.get_or_create_owned(&CallLabel { call }).inc();
    }
    /// Counts a back-off from writes that did not converge.
    pub fn count_back_off(&self) {
        self.back_offs.inc();
    }
    /// Counts a read or write that failed.
    pub fn count_failed_call(&self, call: &'static str) {
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
