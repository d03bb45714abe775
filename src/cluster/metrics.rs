//! Metrics of the watches.

use super::Phase;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::time::SystemTime;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabel {
    kind: &'static str,
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabel {
    call: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProfileLabel {
    profile: String,
}

/// What is counted of watches, by kind.
#[derive(Debug, Default)]
pub struct Metrics {
    objects: Family<KindLabel, Gauge>,
    state: Family<PhaseLabel, Gauge>,
    lists: Family<KindLabel, Counter>,
    malformed: Family<KindLabel, Counter>,
    contact: Family<KindLabel, Gauge>,
    ignored: Family<KindLabel, Gauge>,
    published: Counter,
    status_leader: Gauge,
    status_writes: Counter,
    profile_problems: Family<ProfileLabel, Gauge>,
    status_failures: Family<CallLabel, Counter>,
}

impl Metrics {
    /// Registers them.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "watch_objects",
            "Objects that the server knows from its watches, by kind",
            self.objects.clone(),
        );
        registry.register(
            "watch_state",
            "Watch state of each object kind: 1 for the current state, 0 for all other states",
            self.state.clone(),
        );
        registry.register(
            "watch_lists",
            "How often the server received a complete list of objects from the API server, by kind",
            self.lists.clone(),
        );
        registry.register(
            "watch_malformed",
            "Objects from the API server that could not be parsed, by kind",
            self.malformed.clone(),
        );
        registry.register_with_unit(
            "watch_last_contact_timestamp",
            "Time of the last response of the API server for each object kind, as Unix time",
            Unit::Seconds,
            self.contact.clone(),
        );
        registry.register(
            "watch_ignored_objects",
            "Objects of operators that the server does not use, because they are outside the namespaces of --operator-namespaces, by kind",
            self.ignored.clone(),
        );
        registry.register(
            "snapshots_published",
            "How often the webhook switched to a new snapshot of the cluster's objects",
            self.published.clone(),
        );
        registry.register(
            "status_leader",
            "1 if this replica writes the status of FabricProfiles, else 0",
            self.status_leader.clone(),
        );
        registry.register(
            "status_writes",
            "Writes of a FabricProfile's status by this replica",
            self.status_writes.clone(),
        );
        registry.register(
            "profile_problems",
            "Number of problems in the status of each FabricProfile; exported only by the replica that writes the status",
            self.profile_problems.clone(),
        );
        registry.register(
            "status_failures",
            "Failed API calls of the task that writes the status of FabricProfiles, by type of call",
            self.status_failures.clone(),
        );
    }

    /// Notes how many objects of a kind there are.
    pub fn watch_objects(&self, kind: &'static str, count: usize) {
        let gauge = self.objects.get_or_create_owned(&KindLabel { kind });
        gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    /// Notes an object more, or less.
    pub fn watch_object_added(&self, kind: &'static str, more: i64) {
        self.objects.get_or_create_owned(&KindLabel { kind }).inc_by(more);
    }
    /// Notes the state that a watch is in.
    pub fn watch_phase(&self, kind: &'static str, phase: Phase) {
        for other in Phase::ALL {
            let label = PhaseLabel { kind, state: other.name() };
            self.state.get_or_create_owned(&label).set(i64::from(other == phase));
        }
    }
    /// Counts a complete list.
    pub fn watch_listed(&self, kind: &'static str) {
        self.lists.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Counts an object that cannot be read.
    pub fn watch_malformed(&self, kind: &'static str) {
        self.malformed.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Notes a contact with the API server.
    pub fn watch_contact(&self, kind: &'static str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let gauge = self.contact.get_or_create_owned(&KindLabel { kind });
        gauge.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    }
    /// Notes how many objects of each kind are ignored because of their namespace, in place of what was noted before.
    pub fn watch_ignored(&self, counts: impl Iterator<Item = (&'static str, usize)>) {
        self.ignored.clear();
        for (kind, count) in counts {
            let gauge = self.ignored.get_or_create_owned(&KindLabel { kind });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
    /// Notes whether this replica writes statuses.
    pub fn status_leader(&self, leads: bool) {
        self.status_leader.set(i64::from(leads));
    }
    /// Notes how many problems each profile has, in place of what was noted before.
    pub fn profile_problems<'a>(&self, counts: impl Iterator<Item = (&'a str, usize)>) {
        self.profile_problems.clear();
        for (profile, count) in counts {
            let label = ProfileLabel { profile: profile.to_owned() };
            let gauge = self.profile_problems.get_or_create_owned(&label);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
    /// Counts a status that was written.
    pub fn status_written(&self) {
        self.status_writes.inc();
    }
    /// Counts a call for statuses that failed.
    pub fn status_failed(&self, call: &'static str) {
        self.status_failures.get_or_create_owned(&CallLabel { call }).inc();
    }
    /// Counts a view that came into use.
    pub fn snapshot_published(&self) {
        self.published.inc();
    }
}
