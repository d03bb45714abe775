//! GKE's own annotations for networks: set where the pod has neither of them.

use super::{Change, Edit, Plan, Scene};
use crate::profile::Profile;
use crate::resolve::Evidence;
use crate::text::count;

/// Prefix of the keys; no other GKE annotation is ever set.
pub(crate) const GKE_DOMAIN: &str = "networking.gke.io/";

pub(super) fn plan(scene: Scene<'_>, profile: &Profile, evidence: &Evidence, plan: &mut Plan) {
    let Some(gke) = &profile.gke_networks else { return };
    let annotations = gke.annotations();
    if annotations.iter().any(|(key, _)| scene.pod.annotation(key).is_some()) {
        return;
    }
    for (key, value) in annotations {
        let interfaces = count(gke.interfaces.len(), "interface");
        plan.changes.push(Change {
            edit: Edit::Annotation { key: key.into(), value, present: false },
            reason: format!(
                "{interfaces} of profile {} ({}), which GKE attaches",
                profile.name,
                evidence.words()
            ),
        });
    }
}
