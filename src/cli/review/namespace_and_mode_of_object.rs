//! The namespace in which an object is judged, and whether its errors deny.

use super::options_of_all_decisions::ReviewOptions;
use crate::cli::input::documents_to_objects::InputObject;
use crate::facts::EnforcementMode;
use crate::snapshot::Snapshot;

/// The namespace of an object, whether it opted in, and the mode.
pub(super) fn namespace_opt_in_and_mode<'a>(
    object: &'a InputObject<'_>,
    setting: &'a ReviewOptions,
    snapshot: &Snapshot,
) -> (&'a str, bool, EnforcementMode) {
    let namespace = object.namespace.as_deref().unwrap_or(&setting.namespace);
    let facts = snapshot.namespace(namespace);
    let opted_in = facts.is_none_or(|f| f.mode().is_some());
    let mode = setting.mode.or_else(|| facts.and_then(|f| f.mode())).unwrap_or(EnforcementMode::Enforce);
    (namespace, opted_in, mode)
}
