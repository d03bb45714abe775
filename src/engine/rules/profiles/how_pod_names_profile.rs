//! How the pod names its profile, and the nodes that it can run on.

use crate::nodes::NodeConstraintsOfPod;
use crate::plan::Edit;
use crate::profile::Profile;
use crate::resolve::Evidence;
use crate::rules::pod_context::PodContext;

/// Whether the profile was named for this pod, and will be for the pod that is stored. A namespace's default is not:
/// once the pod has what the profile gives it, that is the evidence.
pub(super) fn is_named_by_pod_or_flag(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Flag | Evidence::PodAnnotation)
}

pub(super) fn does_plan_place_pod(context: &PodContext<'_>) -> bool {
    context.plan.changes.iter().any(|c| matches!(c.edit, Edit::NodeRequirement { .. }))
}

/// The pod's constraints on nodes with the planned placement, where the plan has one. Else they are those of the subject.
pub(super) fn constraints_with_planned_placement<'a>(
    context: &'a PodContext<'_>,
    profile: &'a Profile,
) -> Option<NodeConstraintsOfPod<'a>> {
    let selector = profile.node_selector.as_ref().filter(|_| does_plan_place_pod(context))?;
    Some(NodeConstraintsOfPod::of(context.pod()).with_selector_in_every_term(selector))
}
