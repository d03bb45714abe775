//! What a pod would get if its claims that are not known were for accelerators.

use super::whose_require_and_forbid_hold::{PlannedForNodes, profiles_of_nodes_also_held};
use super::{Evidence, Resolution, resolve_profile_of_pod};
use crate::demands::Subject;
use crate::profile::Profile;
use std::sync::Arc;

/// What a pod would get if its claims that are not known were for accelerators.
#[derive(Debug, Default)]
pub(crate) struct IfUnknownClaimsAreAccelerators {
    /// Whether a profile would apply to the pod, or one of several, and none does now.
    pub(crate) applies: bool,
    /// The profiles that would hold and do not hold now, by name.
    pub(crate) holding: Vec<Arc<Profile>>,
}

/// Finds it. `held`: the profiles that hold beside the pod's own.
pub(crate) fn try_unknown_claims_as_accelerators_and_restore_subject(
    subject: &mut Subject<'_>,
    (resolution, held): (&Resolution, &[Arc<Profile>]),
    flag: Option<&Arc<Profile>>,
    planned: &PlannedForNodes<'_>,
) -> IfUnknownClaimsAreAccelerators {
    if !subject.demands.any_unknown_claim() || subject.snapshot.profiles().next().is_none() {
        return IfUnknownClaimsAreAccelerators::default();
    }
    let known = subject.accelerators.take();
    let then = resolve_profile_of_pod(subject, flag);
    let mut holding = profiles_of_nodes_also_held(subject, &then, planned);
    subject.accelerators = known;
    // A default is not a profile of the pod's nodes.
    let of_nodes = |by: &Evidence| !matches!(by, Evidence::NamespaceAnnotation | Evidence::ClusterDefault);
    holding.extend(then.profile().filter(|(_, by)| of_nodes(by)).map(|(profile, _)| Arc::clone(profile)));
    let own = resolution.profile().map(|(profile, _)| profile);
    let now = |p: &Arc<Profile>| own.into_iter().chain(held).any(|known| known.name == p.name);
    holding.retain(|p| !now(p));
    let applies = matches!(then, Resolution::Profile { .. } | Resolution::Ambiguous { .. });
    let none = matches!(resolution, Resolution::Outside { .. } | Resolution::NotApplicable { .. });
    IfUnknownClaimsAreAccelerators { applies: applies && none, holding }
}
