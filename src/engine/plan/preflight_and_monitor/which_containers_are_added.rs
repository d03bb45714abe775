//! Which of our containers a pod gets, in which volume they work, and who mounts `nccl.conf`.

use super::raw_pod_text::{RawContainer, RawSpec};
use crate::demands::Subject;
use crate::plan::AddedContainerRefusal;
use crate::plan::Target;
use crate::plan::annotation_names_and_paths::NCCL_CONF_PATH;
use crate::plan::nccl_conf_and_small_files::{self, PreflightConf};
use crate::pod::PodView;
use crate::pod::pod_fields::{Container, MAX_VOLUME_NAME_LENGTH, Volume, VolumeMount};
use crate::pod::which_containers_webhook_added::{
    IMAGE_PATH, INSTALL_CONTAINER, MONITOR_CONTAINER, PREFLIGHT_CONTAINER, PROGRAM_VOLUME_PATH,
};
use crate::profile::{Monitor, Preflight, PreflightInstall, Profile, Scrape};
use std::collections::BTreeSet;

/// Names for our volume, in order of preference.
const ADDED_CONTAINER_VOLUME_NAMES: [&str; 2] = ["fabric-admission", "fabric-admission-run"];
/// Names for the volume with the image of the program.
const IMAGE_NAMES: [&str; 2] = ["fabric-admission-image", "fabric-admission-program"];

/// Longest settings of a container that preflight copies (bytes). The patch has them once more, and a pod of that size
/// is near the limit of etcd, 1.5 MiB.
const MAX_COPIED_BYTES: usize = 256 << 10;

/// Architectures of our images, as nodes name them (.github/workflows/release.yml).
const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

/// Annotations by which Prometheus finds the port of a pod. A convention of scrape configurations, not of Kubernetes.
pub(super) const PROMETHEUS_ANNOTATIONS: [&str; 3] =
    ["prometheus.io/scrape", "prometheus.io/port", "prometheus.io/path"];

/// What a pod gets. Pieces that it has already are left out.
#[derive(Default)]
pub(in crate::plan) struct ContainersToAdd<'p> {
    /// The volume of our containers.
    pub(super) volume: String,
    /// Whether the pod lacks the volume.
    pub(super) new_volume: bool,
    /// Preflight, and the target that it stands for, if it is added.
    pub(super) preflight: Option<(&'p Preflight, usize)>,
    /// The volume with the image of the program, if it is added.
    pub(super) image_volume: Option<String>,
    /// The monitor, if it is added.
    pub(super) monitor: Option<&'p Monitor>,
    /// Targets that read `nccl.conf` of the volume.
    pub(in crate::plan) readers: BTreeSet<usize>,
    /// The text of the pod.
    pub(super) raw: RawSpec<'p>,
    pub(super) refusals: Vec<AddedContainerRefusal>,
}

impl ContainersToAdd<'_> {
    /// Whether the pod has, or gets, a preflight that writes the facts for the monitor.
    pub(super) fn has_preflight_for_monitor(&self, pod: &PodView<'_>) -> bool {
        self.preflight.is_some() || pod.container_that_looks_added(PREFLIGHT_CONTAINER).is_some()
    }

    /// The volume in which preflight writes `nccl.conf`, if any container reads it.
    pub(in crate::plan) fn nccl_conf_of_preflight(&self) -> Option<PreflightConf<'_>> {
        (!self.readers.is_empty()).then_some(PreflightConf { volume: &self.volume, readers: &self.readers })
    }
}

/// Decides what a pod gets; `None` if the profile has no containers.
pub(in crate::plan) fn decide_containers_to_add<'p>(
    subject: &'p Subject<'_>,
    profile: &'p Profile,
    targets: &[Target],
) -> Option<ContainersToAdd<'p>> {
    if profile.preflight.is_none() && profile.monitor.is_none() {
        return None;
    }
    let pod = subject.pod;
    let mut place = ContainersToAdd::default();
    let Some(raw) = RawSpec::of(pod) else {
        place.refusals.push(AddedContainerRefusal::Unreadable);
        return Some(place);
    };
    place.raw = raw;
    if let Some(other) = other_architecture(pod) {
        place.refusals.push(AddedContainerRefusal::Architecture(other));
        return Some(place);
    }
    let preflight = profile.preflight.as_ref().filter(|p| {
        let refusal = preflight_refusal(pod, p, targets, &place.raw);
        let fits = refusal.is_none();
        place.refusals.extend(refusal);
        fits
    });
    let monitor = profile.monitor.as_ref().filter(|m| {
        let refusal = monitor_refusal(pod, m, &place.raw);
        let fits = refusal.is_none();
        place.refusals.extend(refusal);
        fits
    });
    if preflight.is_none() && monitor.is_none() {
        return Some(place);
    }
    let ours = [PREFLIGHT_CONTAINER, MONITOR_CONTAINER, INSTALL_CONTAINER]
        .into_iter()
        .filter_map(|name| pod.container_that_looks_added(name));
    let present = ours.filter_map(|c| c.mount_at(PROGRAM_VOLUME_PATH)?.1.name.as_deref()).next();
    // Its name stands in a mount of each container that reads `nccl.conf`.
    let present = present.filter(|name| name.len() <= MAX_VOLUME_NAME_LENGTH);
    match present.map(str::to_owned).or_else(|| free_name(pod, ADDED_CONTAINER_VOLUME_NAMES)) {
        Some(name) => place.volume = name,
        None => {
            place.refusals.push(AddedContainerRefusal::VolumeName);
            return Some(place);
        }
    }
    place.new_volume = present.is_none();
    place.monitor = monitor.filter(|_| pod.container_that_looks_added(MONITOR_CONTAINER).is_none());
    if let Some(own) = monitor.filter(|m| m.scrape == Scrape::Annotations).and_then(|m| other_scrape(pod, m))
    {
        place.refusals.push(AddedContainerRefusal::Scrape(own));
    }
    let Some(preflight) = preflight else { return Some(place) };
    let (first, others) = targets.split_first().map_or((None, targets), |(first, rest)| (Some(first), rest));
    let image = |index: usize| pod.containers().get(index).and_then(|c| c.image.as_deref());
    if let Some(first) = first {
        let differs = others.iter().find(|other| image(other.index) != image(first.index));
        place.refusals.extend(differs.map(|other| AddedContainerRefusal::Images(first.index, other.index)));
        if pod.container_that_looks_added(PREFLIGHT_CONTAINER).is_none() {
            place.preflight = Some((preflight, first.index));
            if preflight.install == PreflightInstall::ImageVolume {
                place.image_volume = free_name(pod, IMAGE_NAMES);
                if place.image_volume.is_none() {
                    place.preflight = None;
                    place.refusals.push(AddedContainerRefusal::VolumeName);
                    return Some(place);
                }
            }
        }
    }
    for target in targets.iter().filter(|t| t.nccl) {
        let Some(container) = pod.containers().get(target.index) else { continue };
        match nccl_conf_and_small_files::conf_refusal(pod, container, profile) {
            // A file of the same pod from before preflight stays.
            None if !nccl_conf_and_small_files::mounts_our_nccl_conf(pod, container)
                || is_reader(pod, container) =>
            {
                place.readers.insert(target.index);
            }
            None => {}
            Some(refusal) => place.refusals.push(AddedContainerRefusal::Conf(target.index, refusal)),
        }
    }
    Some(place)
}

/// Whether a container reads `nccl.conf` of preflight.
fn is_reader(pod: &PodView<'_>, container: &Container<'_>) -> bool {
    let mounted = container.mount_at(NCCL_CONF_PATH).and_then(|(_, mount)| mount.name.as_deref());
    mounted.is_some() && mounted == pod.preflight_volume()
}

/// The architecture that the pod's node selector names, if we build no program for it.
fn other_architecture(pod: &PodView<'_>) -> Option<String> {
    let selector = pod.spec.as_ref()?.node_selector.as_ref()?;
    let (_, named) = selector.iter().find(|(key, _)| &**key == "kubernetes.io/arch")?;
    (!ARCHITECTURES.contains(&&**named)).then(|| named.to_string())
}

fn preflight_refusal(
    pod: &PodView<'_>,
    preflight: &Preflight,
    targets: &[Target],
    raw: &RawSpec<'_>,
) -> Option<AddedContainerRefusal> {
    let mut names = vec![PREFLIGHT_CONTAINER];
    let copied = preflight.install == PreflightInstall::Copy;
    names.extend(copied.then_some(INSTALL_CONTAINER));
    if let Some(name) = names.into_iter().find(|name| is_taken(pod, name)) {
        return Some(AddedContainerRefusal::Name(name));
    }
    let first = targets.first()?.index;
    let container = pod.containers().get(first)?;
    if container.image.as_deref().is_none_or(|image| image.trim().is_empty()) {
        return Some(AddedContainerRefusal::NoImage(first));
    }
    if raw.container(first).map_or(0, RawContainer::copied_bytes) > MAX_COPIED_BYTES {
        return Some(AddedContainerRefusal::LongSettings(first));
    }
    let paths = [PROGRAM_VOLUME_PATH, IMAGE_PATH];
    let paths = if copied { paths.get(..1) } else { paths.get(..) }.unwrap_or_default();
    let in_the_way =
        paths.iter().find_map(|path| nccl_conf_and_small_files::mount_in_the_way(container, path));
    if let Some(mounted) = in_the_way {
        return Some(AddedContainerRefusal::Path(first, mounted));
    }
    let fits = super::preflight_resources::can_preflight_resources_be_read(pod, targets);
    (!fits).then_some(AddedContainerRefusal::ManyResources)
}

fn monitor_refusal(pod: &PodView<'_>, monitor: &Monitor, raw: &RawSpec<'_>) -> Option<AddedContainerRefusal> {
    if is_taken(pod, MONITOR_CONTAINER) {
        return Some(AddedContainerRefusal::Name(MONITOR_CONTAINER));
    }
    if pod.host_network() {
        return Some(AddedContainerRefusal::HostNetwork);
    }
    let is_ours =
        |index: usize| pod.init_containers().get(index).is_some_and(|c| pod.looks_added_by_webhook(index, c));
    raw.pointer_of_container_with_port(monitor.port, is_ours).map(AddedContainerRefusal::Port)
}

/// Whether a container of the pod has a name and is not ours.
fn is_taken(pod: &PodView<'_>, name: &str) -> bool {
    pod.containers().iter().any(|c| c.name() == name)
        || pod
            .init_containers()
            .iter()
            .enumerate()
            .any(|(at, c)| c.name() == name && !pod.looks_added_by_webhook(at, c))
}

/// An annotation for Prometheus that is not for the monitor.
fn other_scrape(pod: &PodView<'_>, monitor: &Monitor) -> Option<&'static str> {
    let port = monitor.port.to_string();
    let wanted = ["true", port.as_str(), "/metrics"];
    let differs = PROMETHEUS_ANNOTATIONS
        .into_iter()
        .zip(wanted)
        .find(|(key, wanted)| pod.annotation(key).is_some_and(|value| value != *wanted));
    differs.map(|(key, _)| key)
}

/// A name that no volume and no mount of the pod has.
fn free_name(pod: &PodView<'_>, names: [&str; 2]) -> Option<String> {
    let mounts = pod.containers().iter().chain(pod.init_containers()).flat_map(Container::volume_mounts);
    let volumes = pod.volumes().iter().filter_map(|v: &Volume<'_>| v.name.as_deref());
    let mounted = mounts.filter_map(|m: &VolumeMount<'_>| m.name.as_deref());
    let taken: BTreeSet<&str> = volumes.chain(mounted).collect();
    names.into_iter().find(|name| !taken.contains(name)).map(str::to_owned)
}
