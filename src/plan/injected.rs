//! The mark that a pod was changed: by which profile, and as it was then.

use super::{Change, Edit, Plan, annotations};
use crate::demands::Subject;
use crate::profile::{INJECTED_ANNOTATION, Profile, mark};

/// Plans the mark, if anything else is planned: a pod that fits already is left as it is.
pub(super) fn plan(subject: &Subject<'_>, profile: &Profile, plan: &mut Plan) {
    if plan.changes.is_empty() {
        return;
    }
    let value = mark(profile);
    let own = subject.pod.annotation(INJECTED_ANNOTATION);
    if own == Some(value.as_str()) {
        return;
    }
    let edit = Edit::Annotation { key: INJECTED_ANNOTATION.into(), value, present: own.is_some() };
    if !annotations::fit(subject.pod, || plan.changes.iter().map(|c| &c.edit).chain([&edit])) {
        return;
    }
    let reason = "the profile, and a print of its settings".to_owned();
    // What is no container's stands before what is.
    let at = plan.changes.partition_point(|c| c.edit.container().is_none());
    plan.changes.insert(at, Change { edit, reason });
}
