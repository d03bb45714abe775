//! When each profile last changed, so that an alert can tie a rise of denials to a change of a profile.

use super::bounded_names::BoundedNames;
use super::counter_grid::LabelValues;
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use crate::telemetry::metric_table as table;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProfileLabel {
    profile: String,
}

/// The profiles in use, and the times of their last changes.
#[derive(Debug)]
pub(super) struct ProfileChanges {
    times: Family<ProfileLabel, Gauge>,
    /// Values of the label: those of the decisions by profile.
    names: Arc<BoundedNames>,
    /// `None` before the first complete Snapshot: what is in it has not changed.
    before: Mutex<Option<BTreeMap<String, Arc<Profile>>>>,
}

/// Whether the settings differ that decisions use. A fingerprint leaves out which findings may be ignored: pods do not see
/// that, but denials depend on it.
fn differ(one: &Arc<Profile>, other: &Arc<Profile>) -> bool {
    !Arc::ptr_eq(one, other) && (one.fingerprint != other.fingerprint || one.ignorable != other.ignorable)
}

impl ProfileChanges {
    pub(super) fn new(registry: &mut Registry, names: Arc<BoundedNames>) -> Self {
        let times = Family::default();
        table::PROFILE_CHANGED.register(registry, times.clone());
        Self { times, names, before: Mutex::default() }
    }

    /// Compares the profiles with those before. A new and a deleted profile have changed too.
    pub(super) fn record_changed_profiles(&self, snapshot: &Snapshot) {
        let now: BTreeMap<String, Arc<Profile>> =
            snapshot.profiles().map(|profile| (profile.name.clone(), Arc::clone(profile))).collect();
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let changed: BTreeSet<&str> = before.iter().flat_map(|before| changes(before, &now)).collect();
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        for name in now.keys().map(String::as_str).chain(changed.iter().copied()) {
            let profile = self.names.values(self.names.find_or_assign_place(name)).concat();
            let gauge = self.times.get_or_create_owned(&ProfileLabel { profile });
            if changed.contains(name) {
                gauge.set(i64::try_from(time).unwrap_or(i64::MAX));
            }
        }
        *before = Some(now);
    }
}

/// The names of the profiles that differ, or that are only on one side.
fn changes<'a>(
    before: &'a BTreeMap<String, Arc<Profile>>,
    now: &'a BTreeMap<String, Arc<Profile>>,
) -> impl Iterator<Item = &'a str> {
    let new = now.iter().filter(|(name, profile)| before.get(*name).is_none_or(|old| differ(old, profile)));
    let deleted = before.keys().filter(|name| !now.contains_key(*name));
    new.map(|(name, _)| name).chain(deleted).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Builder, Layer};

    fn snapshot(profiles: &[(&str, &str)]) -> Snapshot {
        let mut builder = Builder::default();
        for (name, spec) in profiles {
            let json = format!(
                r#"{{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{{"name":"{name}"}},"spec":{{{spec}}}}}"#
            );
            builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &json, "").unwrap();
        }
        builder.build()
    }

    fn changed(changes: &ProfileChanges, name: &str) -> Option<bool> {
        let label = ProfileLabel { profile: name.to_owned() };
        let time = changes.times.get(&label).map(|gauge| gauge.get());
        time.map(|time| time > 1_700_000_000)
    }

    const PLAIN: &str = r#""transport":"ethernet","attachment":"none""#;

    #[test]
    fn only_a_profile_whose_settings_differ_has_changed() {
        let changes = ProfileChanges::new(&mut Registry::default(), Arc::default());
        let named = |names: [&str; 4]| names.map(|name| changed(&changes, name));
        let described = format!(r#"{PLAIN},"description":"the east hall""#);
        let first = snapshot(&[("a", PLAIN), ("b", PLAIN)]);
        changes.record_changed_profiles(&first);
        assert_eq!(
            named(["a", "b", "c", "none"]),
            [Some(false), Some(false), None, None],
            "known at the start"
        );
        changes.record_changed_profiles(&first);
        changes.record_changed_profiles(&snapshot(&[("a", &described), ("b", PLAIN)]));
        assert_eq!(named(["a", "b", "c", "none"]), [Some(false), Some(false), None, None], "a description");
        let ignorable = format!(r#"{PLAIN},"ignorable":"errors""#);
        changes.record_changed_profiles(&snapshot(&[("a", &ignorable), ("c", PLAIN)]));
        assert_eq!(
            named(["a", "b", "c", "none"]),
            [Some(true), Some(true), Some(true), None],
            "changed, gone, new"
        );
    }
}
