//! Metrics of the watches.

use super::Phase;
use crate::telemetry::metric_table as table;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
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
    left_out: Family<KindLabel, Counter>,
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
        table::WATCH_OBJECTS.register(registry, self.objects.clone());
        table::WATCH_STATE.register(registry, self.state.clone());
        table::WATCH_LISTS.register(registry, self.lists.clone());
        table::WATCH_MALFORMED.register(registry, self.malformed.clone());
        table::WATCH_LEFT_OUT.register(registry, self.left_out.clone());
        table::WATCH_CONTACT.register(registry, self.contact.clone());
        table::WATCH_IGNORED.register(registry, self.ignored.clone());
        table::SNAPSHOTS_PUBLISHED.register(registry, self.published.clone());
        table::STATUS_LEADER.register(registry, self.status_leader.clone());
        table::STATUS_WRITES.register(registry, self.status_writes.clone());
        table::PROFILE_PROBLEMS.register(registry, self.profile_problems.clone());
        table::STATUS_FAILURES.register(registry, self.status_failures.clone());
    }

    /// Notes how many objects of a kind there are.
    pub fn set_object_count(&self, kind: &'static str, count: usize) {
        let gauge = self.objects.get_or_create_owned(&KindLabel { kind });
        gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    /// Notes an object more, or less.
    pub fn change_object_count_by(&self, kind: &'static str, more: i64) {
        self.objects.get_or_create_owned(&KindLabel { kind }).inc_by(more);
    }
    /// Notes the state that a watch is in.
    pub fn set_watch_phase(&self, kind: &'static str, phase: Phase) {
        for other in Phase::ALL {
            let label = PhaseLabel { kind, state: other.name() };
            self.state.get_or_create_owned(&label).set(i64::from(other == phase));
        }
    }
    /// Counts a complete list.
    pub fn count_complete_list(&self, kind: &'static str) {
        self.lists.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Counts an object that cannot be read.
    pub fn count_unreadable_object(&self, kind: &'static str) {
        self.malformed.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Counts an object that is not kept.
    pub fn count_object_not_kept(&self, kind: &'static str) {
        self.left_out.get_or_create_owned(&KindLabel { kind }).inc();
    }
    /// Notes a contact with the API server.
    pub fn set_contact_time_to_now(&self, kind: &'static str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let gauge = self.contact.get_or_create_owned(&KindLabel { kind });
        gauge.set(i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
    }
    /// Notes how many objects of each kind are ignored because of their namespace, in place of what was noted before.
    pub fn replace_ignored_object_counts(&self, counts: impl Iterator<Item = (&'static str, usize)>) {
        self.ignored.clear();
        for (kind, count) in counts {
            let gauge = self.ignored.get_or_create_owned(&KindLabel { kind });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
    /// Notes whether this replica writes statuses.
    pub fn set_status_leader(&self, leads: bool) {
        self.status_leader.set(i64::from(leads));
    }
    /// Notes how many problems each profile has, in place of what was noted before.
    pub fn replace_profile_problem_counts<'a>(&self, counts: impl Iterator<Item = (&'a str, usize)>) {
        self.profile_problems.clear();
        for (profile, count) in counts {
            let label = ProfileLabel { profile: profile.to_owned() };
            let gauge = self.profile_problems.get_or_create_owned(&label);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
    /// Counts a status that was written.
    pub fn count_status_write(&self) {
        self.status_writes.inc();
    }
    /// Counts a call for statuses that failed.
    pub fn count_failed_status_call(&self, call: &'static str) {
        self.status_failures.get_or_create_owned(&CallLabel { call }).inc();
    }
    /// Counts a view that came into use.
    pub fn count_published_snapshot(&self) {
        self.published.inc();
    }
}
