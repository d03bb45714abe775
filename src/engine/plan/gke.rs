//! GKE's own annotations for networks: set where the pod has neither of them.

use super::{Change, Edit};
use crate::pod::PodView;
use crate::profile::Profile;
use crate::resolve::Evidence;
use crate::text::count;

/// Prefix of the keys; no other GKE annotation is ever set.
pub(crate) const GKE_DOMAIN: &str = "networking.gke.io/";

pub(super) fn plan(pod: &PodView<'_>, profile: &Profile, evidence: &Evidence) -> Vec<Change> {
    let Some(gke) = &profile.gke_networks else { return Vec::new() };
    let annotations = gke.annotations();
    if annotations.iter().any(|(key, _)| pod.annotation(key).is_some()) {
        return Vec::new();
    }
    let interfaces = count(gke.interfaces.len(), "interface");
    let reason =
        format!("{interfaces} of profile {} ({}), which GKE attaches", profile.name, evidence.words());
    let edit = |(key, value): (&'static str, _)| Edit::Annotation { key: key.into(), value, present: false };
    annotations.into_iter().map(edit).map(|edit| Change { edit, reason: reason.clone() }).collect()
}
