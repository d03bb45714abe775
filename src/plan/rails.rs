//! The rails that a pod gets: the subset it names, else as many as its accelerators take.

use super::names::RAILS_ANNOTATION;
use super::{Plan, Scene};
use crate::profile::{Profile, Rail};

/// The rails of the pod. `None`: the profile does not have the subset that the pod names.
pub(super) fn chosen<'p>(scene: Scene<'_>, profile: &'p Profile, plan: &Plan) -> Option<&'p [Rail]> {
    match scene.pod.annotation(RAILS_ANNOTATION) {
        Some(name) => profile.subset(name).map(|s| s.rails.as_slice()),
        None => Some(profile.rails_for(plan.accelerators)),
    }
}
