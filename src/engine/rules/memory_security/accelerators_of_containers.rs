//! The accelerators that share a volume at `/dev/shm`.

use crate::rules::pod_context::PodContext;

/// Accelerators that an app container drives (count), its own or those it was named for; `None` where it is not known
/// how many.
pub(super) fn accelerators_of_container(context: &PodContext<'_>, index: usize) -> Option<u32> {
    let demand = context.subject.demands.of_app_container(index);
    if demand.unknown {
        return None;
    }
    match context.plan.target(index) {
        // The claims of such a target are not at hand.
        Some(_) if !demand.any && context.subject.demands.has_unknown_claim(index) => None,
        Some(target) if !demand.any => Some(target.accelerators),
        _ => Some(demand.whole),
    }
}

/// Accelerators that containers drive together; an unknown number counts as the plan's, a node's, else one.
pub(super) fn accelerators_of_containers(context: &PodContext<'_>, users: &[usize]) -> u32 {
    let each = users.iter().map(|index| match context.plan.target(*index) {
        Some(target) => target.accelerators,
        None => accelerators_of_container(context, *index).unwrap_or(1).max(1),
    });
    each.fold(0, u32::saturating_add)
}
