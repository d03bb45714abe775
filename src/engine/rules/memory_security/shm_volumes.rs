//! The volumes at `/dev/shm` as they will be, and who uses each: a volume is judged once, by all that share it.

use crate::plan::{Edit, SHM_PATH};
use crate::pod::memory_limit;
use crate::pod::view::Volume;
use crate::rules::pod::PodContext;
use std::collections::BTreeMap;

/// A volume that containers with accelerators have at `/dev/shm`.
#[derive(Debug)]
pub(crate) struct Mounted<'a> {
    /// It and its index; `None` where it is planned.
    pub(super) volume: Option<(usize, &'a Volume<'a>)>,
    /// Index and bytes, where it is planned.
    pub(super) planned: Option<(usize, i64)>,
    /// App containers that share it: those that the profile is for, else those with accelerators.
    pub(super) users: Vec<usize>,
    /// Memory limit of the users together (bytes).
    pub(super) limit: Option<i64>,
}

/// Accelerators that an app container drives (count), its own or those it was named for; `None` where it is not known
/// how many.
pub(super) fn number(context: &PodContext<'_>, index: usize) -> Option<u32> {
    let demand = context.subject.demands.app(index);
    if demand.unknown {
        return None;
    }
    match context.plan.target(index) {
        // The claims of such a target are not at hand.
        Some(_) if !demand.any && context.subject.demands.is_unread(index) => None,
        Some(target) if !demand.any => Some(target.accelerators),
        _ => Some(demand.whole),
    }
}

/// Accelerators that containers drive together; an unknown number counts as the plan's, a node's, else one.
pub(super) fn accelerators(context: &PodContext<'_>, users: &[usize]) -> u32 {
    let each = users.iter().map(|index| match context.plan.target(*index) {
        Some(target) => target.accelerators,
        None => number(context, *index).unwrap_or(1).max(1),
    });
    each.fold(0, u32::saturating_add)
}

/// Every volume that a container with accelerators has at `/dev/shm`, in the order of the pod's; a planned one last.
pub(in crate::rules) fn mounted<'a>(context: &PodContext<'a>) -> Vec<Mounted<'a>> {
    let pod = context.pod();
    let planned = context.plan.changes.iter().find_map(|c| match &c.edit {
        Edit::ShmVolume { name, size, index } => Some((name.as_str(), (*index, *size))),
        _ => None,
    });
    let none = pod.volumes().len();
    let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, container) in pod.containers().iter().enumerate() {
        if !context.subject.demands.app(index).any && context.plan.target(index).is_none() {
            continue;
        }
        let own = container.mount_at(SHM_PATH).and_then(|(_, m)| m.name.as_deref());
        let Some(name) = own.or_else(|| context.overlay.planned_shm(index)) else { continue };
        let new = planned.is_some_and(|(planned, _)| planned == name);
        let Some(at) = pod.volume_at(name).or_else(|| new.then_some(none)) else { continue };
        users.entry(at).or_default().push(index);
    }
    users
        .into_iter()
        .map(|(at, mut users)| {
            if users.iter().any(|index| context.plan.target(*index).is_some()) {
                users.retain(|index| context.plan.target(*index).is_some());
            }
            let limit = memory_limit(pod, users.iter().filter_map(|index| pod.containers().get(*index)));
            let volume = pod.volumes().get(at).filter(|_| at < none).map(|volume| (at, volume));
            let planned = planned.map(|(_, size)| size).filter(|_| volume.is_none());
            Mounted { volume, planned, users, limit }
        })
        .collect()
}
