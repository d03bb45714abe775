//! GKE's own annotations for networks: set where the pod has neither of them.

use super::{Change, Edit, OwnFieldKept, Reason};
use crate::pod::PodView;
use crate::profile::Profile;
use crate::resolve::Evidence;
use crate::text::count_with_noun;

/// Prefix of the keys; no other GKE annotation is ever set.
pub(crate) const GKE_DOMAIN: &str = "networking.gke.io/";

pub(super) fn plan(
    pod: &PodView<'_>,
    profile: &Profile,
    evidence: &Evidence,
) -> (Vec<Change>, Vec<OwnFieldKept>) {
    let Some(gke) = &profile.gke_networks else { return Default::default() };
    let annotations = gke.annotations();
    if annotations.iter().any(|(key, _)| pod.annotation(key).is_some()) {
        let differs = |(key, value): &(&'static str, String)| {
            pod.annotation(key).is_some_and(|own| own != value).then_some(OwnFieldKept::GkeNetworks(key))
        };
        return (Vec::new(), annotations.iter().find_map(differs).into_iter().collect());
    }
    let interfaces = count_with_noun(gke.interfaces.len(), "interface");
    let reason = format!("GKE attaches {interfaces} of profile {} ({})", profile.name, evidence.words());
    let edit = |(key, value): (&'static str, _)| Edit::Annotation { key: key.into(), value, present: false };
    let reason = Reason::Shared(reason.into());
    let changes = annotations.into_iter().map(edit).map(|edit| Change { edit, reason: reason.clone() });
    (changes.collect(), Vec::new())
}
