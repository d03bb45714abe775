//! The volumes at `/dev/shm` as they will be, and who uses each: a volume is judged once, by all that share it.

use crate::demands::Subject;
use crate::plan::pod_with_plan::PodWithPlan;
use crate::plan::{Edit, Plan, SHM_PATH};
use crate::pod::memory_limit_of_containers_together;
use crate::pod::pod_fields::Volume;
use std::collections::BTreeMap;

/// A volume that containers with accelerators have at `/dev/shm`.
#[derive(Debug)]
pub(crate) struct MountedShmVolume<'a> {
    /// It and its index; `None` where it is planned.
    pub(crate) volume: Option<(usize, &'a Volume<'a>)>,
    /// Index and bytes, where it is planned.
    pub(crate) planned: Option<(usize, i64)>,
    /// App containers that share it: those that the profile is for, else those with accelerators.
    pub(crate) users: Vec<usize>,
    /// Memory limit of the users together (bytes).
    pub(crate) limit: Option<i64>,
}

/// Every volume that a container with accelerators has at `/dev/shm`, in the order of the pod's; a planned one last.
pub(super) fn shm_volumes_of_pod<'a>(
    overlay: PodWithPlan<'a>,
    subject: &Subject<'a>,
    plan: &'a Plan,
) -> Vec<MountedShmVolume<'a>> {
    let pod = overlay.pod_before_plan();
    let planned = plan.changes.iter().find_map(|c| match &c.edit {
        Edit::ShmVolume { name, size, index } => Some((name.as_str(), (*index, *size))),
        _ => None,
    });
    let none = pod.volumes().len();
    let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, container) in pod.containers().iter().enumerate() {
        if !subject.demands.of_app_container(index).any && plan.target(index).is_none() {
            continue;
        }
        let own = container.mount_at(SHM_PATH).and_then(|(_, m)| m.name.as_deref());
        let Some(name) = own.or_else(|| overlay.planned_shm_volume(index)) else { continue };
        let new = planned.is_some_and(|(planned, _)| planned == name);
        let Some(at) = pod.volume_index(name).or_else(|| new.then_some(none)) else { continue };
        users.entry(at).or_default().push(index);
    }
    users
        .into_iter()
        .map(|(at, mut users)| {
            if users.iter().any(|index| plan.target(*index).is_some()) {
                users.retain(|index| plan.target(*index).is_some());
            }
            let limit = memory_limit_of_containers_together(
                pod,
                users.iter().filter_map(|index| pod.containers().get(*index)),
            );
            let volume = pod.volumes().get(at).filter(|_| at < none).map(|volume| (at, volume));
            let planned = planned.map(|(_, size)| size).filter(|_| volume.is_none());
            MountedShmVolume { volume, planned, users, limit }
        })
        .collect()
}
