//! Which pods are looked at, and what for. No rule runs for any other pod, and nothing is injected into it.

use super::{PodRequest, Stage};
use crate::demands::AcceleratorDemands;
use crate::facts::PROFILE_ANNOTATION;
use crate::multus;
use crate::pod::{FabricSigns, PodView};
use crate::profile::schema::Inject;
use crate::resolve::default_profile;
use crate::rules::WhyPodIsChecked;
use crate::snapshot::Snapshot;

/// Why a pod is looked at; `None` where it is not.
pub(super) fn scope(
    pod: &PodView<'_>,
    demands: &AcceleratorDemands,
    request: PodRequest<'_>,
    snapshot: &Snapshot,
) -> Option<WhyPodIsChecked> {
    let injection = demands.requests_any_accelerator()
        || pod.annotation(PROFILE_ANNOTATION).is_some()
        || pod.annotation(multus::NETWORKS_ANNOTATION).is_some()
            && default_profile_injects_networks(request.namespace, snapshot);
    if injection {
        return Some(WhyPodIsChecked::Injection);
    }
    let signs = FabricSigns::of(pod);
    // Variables alone cannot keep a pod from starting: the entry that refuses pods has no part in them.
    let variables = signs.variable && request.stage != Stage::Final;
    (signs.annotation || signs.device || variables).then_some(WhyPodIsChecked::Rules)
}

/// Whether pods of a namespace get what the networks need that they name, accelerators or not.
fn default_profile_injects_networks(namespace: &str, snapshot: &Snapshot) -> bool {
    let default = default_profile(snapshot.namespace(namespace), snapshot);
    default.and_then(|(name, _)| snapshot.profile(name)).is_some_and(|p| p.inject == Inject::Networks)
}
