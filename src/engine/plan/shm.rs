//! `/dev/shm`: NCCL reserves about 33 MiB of it per rank and communicator; the runtime's default is 64 MiB for the
//! whole container.

use super::annotation_names_and_paths::SHM_PATH;
use super::which_containers_get_profile::is_mesh_proxy;
use super::{Change, Edit, Target};
use crate::pod::pod_fields::{MAX_VOLUME_NAME_LENGTH, Volume};
use crate::pod::{Bytes, Container, PodView, Quantity, memory_limit_of_containers_together};
use crate::profile::Profile;
use crate::text::Count;

/// Minimum per rank (bytes): two of NCCL 2.29's proxy pools of 31.5 MiB.
const FLOOR_PER_RANK: i64 = 64 << 20;
/// Size of the container runtime's default mount at `/dev/shm` (bytes).
const RUNTIME_DEFAULT: i64 = 64 << 20;
/// Names for our volume, in order of preference.
const SHM_VOLUME_NAMES: [&str; 3] = ["dshm", "fabric-dshm", "fabric-admission-dshm"];

/// Size for a number of ranks (bytes): the profile's share for each; at most half the memory limit, since tmpfs pages
/// are charged to the container (k8s.io/kubernetes pkg/volume/emptydir, KEP-1967), but not less than NCCL needs; and
/// never more than the limit itself. `None` if the limit leaves less than the runtime's 64 MiB: a volume would make
/// `/dev/shm` smaller.
#[must_use]
pub fn recommended_shm_size(
    accelerators: u32,
    per_accelerator: i64,
    memory_limit: Option<i64>,
) -> Option<i64> {
    let wanted = per_accelerator.saturating_mul(i64::from(accelerators));
    let capped = memory_limit.map_or(wanted, |limit| wanted.min(limit / 2));
    let size = capped.max(FLOOR_PER_RANK.saturating_mul(i64::from(accelerators)));
    let size = memory_limit.map_or(size, |limit| size.min(limit));
    // Whole Mi: people read the size, and every kubelet prints it alike.
    Some(size / (1 << 20) * (1 << 20)).filter(|size| *size >= RUNTIME_DEFAULT)
}

fn needs_mount(container: &Container<'_>) -> bool {
    container.present
        && container.mount_at(SHM_PATH).is_none()
        && !container.has_device_at(SHM_PATH)
        && !is_mesh_proxy(container.name())
}

/// The volume of `/dev/shm`.
pub(super) struct ShmVolume {
    /// Its name.
    pub(super) name: String,
    /// The change that adds it; `None` where the pod has it already.
    pub(super) change: Option<Change>,
}

/// The volume, where a target has nothing at `/dev/shm`.
pub(super) fn plan_shm_volume(pod: &PodView<'_>, profile: &Profile, targets: &[Target]) -> Option<ShmVolume> {
    // With hostIPC the container has the node's /dev/shm; a mount over it would take that away.
    if pod.host_ipc() {
        return None;
    }
    let bare = targets.iter().filter(|t| pod.containers().get(t.index).is_some_and(needs_mount));
    let accelerators: u32 = bare.clone().map(|t| t.accelerators).sum();
    if accelerators == 0 {
        return None;
    }
    let limit = memory_limit_of_containers_together(pod, bare.filter_map(|t| pod.containers().get(t.index)));
    let size = recommended_shm_size(accelerators, profile.shm_per_accelerator, limit)?;
    // Another container has a large enough one already: a later webhook added this container, or half of them were
    // mounted.
    if let Some(shared) = shared_volume(pod, size) {
        return Some(ShmVolume { name: shared.to_owned(), change: None });
    }
    // A name that a mount refers to counts as taken even if no volume has it: the API server refuses such a pod, and
    // we do not make it valid.
    let mounts = || pod.containers().iter().chain(pod.init_containers()).flat_map(Container::volume_mounts);
    let named = || pod.volumes().iter().map(|v| &v.name).chain(mounts().map(|m| &m.name));
    let is_free = |name: &&&str| !named().any(|named| named.as_deref() == Some(**name));
    let name = (*SHM_VOLUME_NAMES.iter().find(is_free)?).to_owned();
    let each = Bytes(profile.shm_per_accelerator);
    let full = profile.shm_per_accelerator.saturating_mul(i64::from(accelerators));
    let accelerators = Count(accelerators as usize, "accelerator");
    let reason = if size < full {
        let memory = Bytes(limit.unwrap_or_default());
        let part = if size > limit.unwrap_or_default() / 2 { "" } else { "half " };
        format!("{accelerators} at {each} per accelerator, limited to {part}the memory limit of {memory}")
    } else {
        format!("{accelerators} at {each} per accelerator; the runtime's default is 64 MiB")
    };
    let edit = Edit::ShmVolume { name: name.clone(), size, index: pod.volumes().len() };
    Some(ShmVolume { name, change: Some(Change { edit, reason: reason.into() }) })
}

/// A memory volume of at least this size that an app container mounts at `/dev/shm`, if one does. Its name stands in a mount
/// of each container, so it may be no longer than any that the API server accepts.
fn shared_volume<'a>(pod: &'a PodView<'_>, size: i64) -> Option<&'a str> {
    let large_enough = |v: &Volume<'_>| {
        let Some(empty_dir) = v.empty_dir.as_ref().filter(|_| v.host_path.is_none()) else { return false };
        let limit = empty_dir.size_limit.as_ref().map(|l| Quantity::parse(&l.0));
        let fits = match limit {
            None => true,
            Some(Ok(limit)) => limit.units_rounded_up() == 0 || limit.units_rounded_up() >= size,
            Some(Err(_)) => false,
        };
        empty_dir.medium.as_deref() == Some("Memory") && fits
    };
    let mut mounted = pod.containers().iter().filter_map(|c| c.mount_at(SHM_PATH)?.1.name.as_deref());
    mounted.find(|name| name.len() <= MAX_VOLUME_NAME_LENGTH && pod.volume(name).is_some_and(large_enough))
}

/// The mount of a volume in a container that has none: processes that share memory across containers of the pod then
/// see the same files. `planned`: the changes of the container so far.
pub(super) fn plan_shm_mount(
    pod: &PodView<'_>,
    index: usize,
    volume: &str,
    planned: &[Change],
) -> Option<Change> {
    let container = pod.containers().get(index).filter(|c| needs_mount(c))?;
    let before = planned.iter().filter(|c| matches!(c.edit, Edit::FileMount { .. })).count();
    let at = container.volume_mounts().len() + before;
    Some(Change {
        edit: Edit::ShmMount { container: index, volume: volume.to_owned(), index: at },
        reason: "one shared memory for all containers of the pod".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GI: i64 = 1 << 30;

    #[test]
    fn sizes() {
        assert_eq!(recommended_shm_size(8, 8 * GI, None), Some(64 * GI));
        assert_eq!(recommended_shm_size(8, 8 * GI, Some(64 * GI)), Some(32 * GI));
        assert_eq!(recommended_shm_size(8, 8 * GI, Some(512 << 20)), Some(512 << 20));
        // A volume smaller than NCCL needs is still larger than the runtime's, and stays within the container's
        // limit.
        assert_eq!(recommended_shm_size(8, 8 * GI, Some(400 << 20)), Some(400 << 20));
        assert_eq!(recommended_shm_size(1, 8 * GI, Some(64 << 20)), Some(64 << 20));
        assert_eq!(recommended_shm_size(1, 8 * GI, Some(63 << 20)), None);
    }
}
