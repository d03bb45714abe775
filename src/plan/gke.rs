//! GKE's own annotations for networks: set where the pod has neither of them.

use super::{Change, Edit, Plan};
use crate::demands::Subject;
use crate::profile::Profile;
use crate::resolve::Evidence;
use crate::text::count;

/// What the keys begin with; nothing else of GKE's is ever set.
pub(crate) const GKE_DOMAIN: &str = "networking.gke.io/";

pub(super) fn plan(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence, plan: &mut Plan) {
    let Some(gke) = &profile.gke_networks else { return };
    let annotations = gke.annotations();
    if annotations.iter().any(|(key, _)| subject.pod.annotation(key).is_some()) {
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
