//! The mark of an injected pod: the profile, and the fingerprint of its settings at that time.

use super::{Change, Edit, Plan, Scene, annotations};
use crate::profile::{INJECTED_ANNOTATION, Profile, mark};

/// Plans the mark, if anything else is planned: a pod that fits already is not changed.
pub(super) fn plan(scene: Scene<'_>, profile: &Profile, plan: &mut Plan) {
    if plan.changes.is_empty() {
        return;
    }
    let value = mark(profile);
    let own = scene.pod.annotation(INJECTED_ANNOTATION);
    if own == Some(value.as_str()) {
        return;
    }
    let edit = Edit::Annotation { key: INJECTED_ANNOTATION.into(), value, present: own.is_some() };
    if !annotations::fit(scene.pod, || plan.changes.iter().map(|c| &c.edit).chain([&edit])) {
        return;
    }
    let reason = "the profile and a fingerprint of its settings".to_owned();
    // Pod-level changes come first.
    let at = plan.changes.partition_point(|c| c.edit.container().is_none());
    plan.changes.insert(at, Change { edit, reason });
}
