//! The rails that a pod gets: the subset it names, else as many as its accelerators take.

use super::annotation_names_and_paths::RAILS_ANNOTATION;
use crate::pod::PodView;
use crate::profile::{Profile, Rail};

/// The rails of a pod with so many accelerators. `None`: it asks for a part that the profile does not have.
pub(super) fn chosen<'p>(pod: &PodView<'_>, profile: &'p Profile, accelerators: u32) -> Option<&'p [Rail]> {
    match pod.annotation(RAILS_ANNOTATION) {
        Some(name) => profile.subset(name).map(|s| s.rails.as_slice()),
        None => Some(profile.rails_for(accelerators)),
    }
}
