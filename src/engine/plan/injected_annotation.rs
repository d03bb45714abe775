//! The mark of an injected pod: the profile, and the fingerprint of its settings at that time.

use super::{Change, Edit, annotation_size_limit};
use crate::pod::PodView;
use crate::profile::{INJECTED_ANNOTATION, Profile, injected_mark_of};

/// The mark, if anything else is planned: a pod that fits already is not changed.
pub(super) fn plan(pod: &PodView<'_>, profile: &Profile, planned: &[Change]) -> Option<Change> {
    if planned.is_empty() {
        return None;
    }
    let value = injected_mark_of(profile);
    let own = pod.annotation(INJECTED_ANNOTATION);
    if own == Some(value.as_str()) {
        return None;
    }
    let edit = Edit::Annotation { key: INJECTED_ANNOTATION.into(), value, present: own.is_some() };
    if !annotation_size_limit::do_annotations_fit(pod, planned.iter().map(|c| &c.edit).chain([&edit])) {
        return None;
    }
    Some(Change { edit, reason: "the profile and the fingerprint of its settings".into() })
}
