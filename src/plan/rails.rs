//! Which of the profile's rails a pod gets: a named part where the pod asks for one, else as many as its
//! accelerators take.

use super::Plan;
use super::names::RAILS_ANNOTATION;
use crate::demands::Subject;
use crate::profile::{Profile, Rail};

/// The rails of the pod. `None`: it asks for a part that the profile does not have.
pub(super) fn chosen<'p>(subject: &Subject<'_>, profile: &'p Profile, plan: &Plan) -> Option<&'p [Rail]> {
    match subject.pod.annotation(RAILS_ANNOTATION) {
        Some(name) => profile.subset(name).map(|s| s.rails.as_slice()),
        None => Some(profile.rails_for(plan.accelerators)),
    }
}
