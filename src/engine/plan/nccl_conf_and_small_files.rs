//! Small files in containers: an annotation of the pod that a downward-API volume shows as a file. No ConfigMap is
//! needed, nothing is read, and the dump of a pod has its files when it is created again.

use super::annotation_names_and_paths::{
    CONF_ANNOTATION, FILE_ANNOTATION, FILES_PATH, FILES_VOLUME_NAMES, NCCL_CONF, NCCL_CONF_PATH,
};
use super::nccl_conf_format::{self, ConfFile};
use super::variables_to_add_type::VariablesOfTarget;
use super::{Change, Edit, FileRefusal, Reason, Target, annotation_size_limit};
use crate::pod::PodView;
use crate::pod::pod_fields::{Container, DownwardApi, MAX_VOLUME_NAME_LENGTH, Volume, VolumeMount};
use crate::pod::variable_sources::FieldRef;
use crate::profile::MAX_FILE_BYTES;
use crate::profile::Profile;
use crate::profile::schema::NcclConf;
use crate::text::count_with_noun;
use std::collections::BTreeSet;

/// The `nccl.conf` that preflight writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PreflightConf<'p> {
    /// Its volume.
    pub(super) volume: &'p str,
    /// Targets that read it.
    pub(super) readers: &'p BTreeSet<usize>,
}

/// The files of a pod.
#[derive(Debug, Default)]
pub(super) struct PlannedFiles {
    /// Volume that has `nccl.conf`, and its path there.
    conf: Option<(String, String)>,
    /// Containers that read `nccl.conf` even without a line for them: preflight writes the facts of the pod there.
    readers: BTreeSet<usize>,
    /// Volume that has the profile's files.
    directory: Option<String>,
    /// Why the pod gets no file, if it cannot.
    pub(super) refusal: Option<FileRefusal>,
}

/// The field path by which a volume shows one of our files.
pub(crate) fn field_path(name: &str) -> String {
    format!("metadata.annotations['{FILE_ANNOTATION}{name}']")
}

/// Longest path in a volume that is mounted again (bytes); it stands in a mount of each target.
const MAX_PATH_LENGTH: usize = 255;

/// Path in a volume of one of our files, if the volume has it.
fn path_in<'v>(volume: &'v Volume<'_>, name: &str) -> Option<&'v str> {
    let path = volume.downward_api.as_ref()?.path_showing_field(&field_path(name))?;
    (path.len() <= MAX_PATH_LENGTH).then_some(path)
}

fn volume_of<'p>(pod: &'p PodView<'_>, mount: &VolumeMount<'_>) -> Option<&'p Volume<'p>> {
    pod.volume(mount.name.as_deref()?)
}

/// Whether a container has our `/etc/nccl.conf`, however its mounts are written.
pub(super) fn mounts_our_nccl_conf(pod: &PodView<'_>, container: &Container<'_>) -> bool {
    let find = || container.volume_mounts().iter().any(|mount| shows_conf(pod, mount));
    *container.read_once.has_conf.get_or_init(find)
}

/// Whether a mount shows our `/etc/nccl.conf`: that file of its volume, or a folder with it.
fn shows_conf(pod: &PodView<'_>, mount: &VolumeMount<'_>) -> bool {
    let Some(below) = mount.mount_path.as_deref().and_then(below_mount) else { return false };
    let of_preflight = pod.preflight_volume().is_some_and(|volume| mount.name.as_deref() == Some(volume));
    let api = volume_of(pod, mount).and_then(|volume| volume.downward_api.as_ref());
    let Some(shown) = api.map(conf_paths).filter(|shown| !shown.is_empty()) else {
        return of_preflight && below.is_empty() && mount.sub_path.as_deref() == Some(NCCL_CONF);
    };
    let expression = mount.sub_path_expr.as_deref().filter(|text| !text.is_empty());
    let path = expression.or(mount.sub_path.as_deref()).unwrap_or_default();
    // The kubelet expands an expression with the container's variables, whose values are not all known.
    let expanded = expression.is_some_and(|text| text.contains("$("));
    let path = clean(path);
    expanded || shown.contains(&(in_volume(&path).to_owned() + below))
}

/// A clean path in a volume without the link `..data`, to whose target the kubelet writes all files of the volume
/// (kubernetes/kubernetes pkg/volume/util/atomic_writer.go).
fn in_volume(path: &str) -> &str {
    let below_link = path.strip_prefix("/..data").filter(|rest| rest.is_empty() || rest.starts_with('/'));
    below_link.unwrap_or(path)
}

/// The part of our path below a mount; empty for a mount at the path itself.
fn below_mount(mounted: &str) -> Option<&'static str> {
    if !may_be_above_or_below(mounted, NCCL_CONF_PATH) {
        return None;
    }
    let below = NCCL_CONF_PATH.strip_prefix(clean(mounted).as_str())?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

/// The paths in a volume at which it shows our `nccl.conf`.
fn conf_paths<'v>(api: &'v DownwardApi<'_>) -> &'v BTreeSet<String> {
    let paths = || {
        let field = field_path(NCCL_CONF);
        let shows = |field_ref: &FieldRef<'_>| field_ref.field_path.as_deref() == Some(&*field);
        let items = api.items.as_deref().unwrap_or_default().iter();
        let ours = items.filter(|item| item.field_ref.as_ref().is_some_and(shows));
        ours.filter_map(|item| item.path.as_deref()).map(clean).filter(|path| !path.is_empty()).collect()
    };
    api.conf_paths.get_or_init(paths)
}

fn mounts_all_profile_files(pod: &PodView<'_>, container: &Container<'_>, profile: &Profile) -> bool {
    container.mount_at(FILES_PATH).is_some_and(|(_, mount)| {
        mount.sub_path.is_none()
            && volume_of(pod, mount)
                .is_some_and(|v| profile.files.iter().all(|f| path_in(v, &f.name) == Some(f.name.as_str())))
    })
}

/// A path as the runtime reads it: without empty parts, `.` and `..`.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in without_empty_parts_before(path).split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.iter().flat_map(|part| ["/", part]).collect()
}

/// A path from its first part that is neither empty nor `.` on. A path may be megabytes of slashes.
fn without_empty_parts_before(path: &str) -> &str {
    let mut rest = path.trim_start_matches('/');
    while let Some(after) = rest.strip_prefix("./") {
        rest = after.trim_start_matches('/');
    }
    rest
}

/// Whether a mount may be above a path or below it: nearly every mount is elsewhere.
fn may_be_above_or_below(mounted: &str, path: &str) -> bool {
    let first = |path| without_empty_parts_before(path).split('/').next().unwrap_or_default();
    matches!(first(mounted), "" | ".") || first(mounted) == first(path) || mounted.contains("..")
}

/// A mount of the container at a path, above it or below it.
fn refusal_by_own_mount(container: &Container<'_>, path: &str) -> Option<FileRefusal> {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if container.has_device_at(path) {
        return Some(FileRefusal::Mounted(path.to_owned()));
    }
    let mounts = container.volume_mounts().iter().filter_map(|m| m.mount_path.as_deref());
    mounts.filter(|mounted| may_be_above_or_below(mounted, path)).find_map(|mounted| {
        let own = clean(mounted);
        (within(path, &own) || within(&own, path)).then(|| FileRefusal::Mounted(mounted.to_owned()))
    })
}

/// The path of a mount of the container at a path, above it or below it.
pub(super) fn mount_in_the_way(container: &Container<'_>, path: &str) -> Option<String> {
    match refusal_by_own_mount(container, path)? {
        FileRefusal::Mounted(path) => Some(path),
        _ => None,
    }
}

/// Why `/etc/nccl.conf` cannot be given to a container; `None` if it can be, or already is.
pub(super) fn conf_refusal(
    pod: &PodView<'_>,
    container: &Container<'_>,
    profile: &Profile,
) -> Option<FileRefusal> {
    if profile.nccl_conf == NcclConf::Image {
        return Some(FileRefusal::Image);
    }
    if mounts_our_nccl_conf(pod, container) { None } else { refusal_by_own_mount(container, NCCL_CONF_PATH) }
}

/// Whether a container has the profile's files, or can get them.
pub(super) fn can_profile_files_reach(
    pod: &PodView<'_>,
    container: &Container<'_>,
    profile: &Profile,
) -> bool {
    mounts_all_profile_files(pod, container, profile) || refusal_by_own_mount(container, FILES_PATH).is_none()
}

/// The file annotation of a pod.
pub(super) fn file_annotation_of_pod<'p>(pod: &'p PodView<'_>, name: &str) -> Option<&'p str> {
    match name {
        NCCL_CONF => pod.annotation(CONF_ANNOTATION),
        name => pod.annotation(&format!("{FILE_ANNOTATION}{name}")),
    }
}

/// Variables in the pod's own `nccl.conf` that rules read (count).
pub(crate) fn count_variables_in_nccl_conf_of_annotation(pod: &PodView<'_>) -> usize {
    let text = file_annotation_of_pod(pod, NCCL_CONF);
    text.map_or(0, |text| nccl_conf_format::first_variables_of_conf(text).count())
}

/// The annotations and the volume. `planned`: the changes so far, which take room and places among the volumes. `own`: the
/// pod's own `nccl.conf`.
pub(super) fn plan_file_annotations_and_volume(
    pod: &PodView<'_>,
    profile: &Profile,
    targets: &[Target],
    variables: &[VariablesOfTarget<'_>],
    planned: &[Change],
    (own, preflight): (&ConfFile, Option<PreflightConf<'_>>),
) -> (Vec<Change>, PlannedFiles) {
    let container = |index: usize| pod.containers().get(index);
    // Whether some container needs the files and does not have them yet.
    let carried = || variables.iter().filter(|v| !v.by_file.is_empty());
    let wants_conf = preflight.is_none()
        && carried().any(|v| container(v.container).is_some_and(|c| !mounts_our_nccl_conf(pod, c)));
    let wants_directory = !profile.files.is_empty()
        && targets.iter().filter_map(|t| container(t.index)).any(|c| {
            !mounts_all_profile_files(pod, c, profile) && refusal_by_own_mount(c, FILES_PATH).is_none()
        });
    let mut edits = Vec::new();
    let present = file_annotation_of_pod(pod, NCCL_CONF);
    let lacking = |name: &str| carried().any(|v| v.by_file.iter().any(|e| *e.name == *name));
    let lines = || profile.env.iter().filter(|e| own.value(&e.name).is_none() && lacking(&e.name));
    if lines().next().is_some() {
        edits.push(Edit::File {
            name: NCCL_CONF.to_owned(),
            text: nccl_conf_format::conf_text_with_lines(present.unwrap_or_default(), lines()),
            present: present.is_some(),
            variables: lines().map(|e| (e.name.to_string(), e.value.to_string())).collect(),
        });
    }
    for file in
        profile.files.iter().filter(|f| wants_directory && file_annotation_of_pod(pod, &f.name).is_none())
    {
        edits.push(Edit::File {
            name: file.name.clone(),
            text: file.content.clone(),
            present: false,
            variables: Vec::new(),
        });
    }
    let mut files = PlannedFiles {
        conf: preflight.map(|p| (p.volume.to_owned(), NCCL_CONF.to_owned())),
        readers: preflight.map(|p| p.readers.clone()).unwrap_or_default(),
        ..PlannedFiles::default()
    };
    let long = |edit: &Edit| matches!(edit, Edit::File { text, .. } if text.len() > MAX_FILE_BYTES);
    if edits.iter().any(long)
        || !annotation_size_limit::do_annotations_fit(pod, planned.iter().map(|c| &c.edit).chain(&edits))
    {
        files.refusal = Some(FileRefusal::TooLarge);
        return (Vec::new(), files);
    }
    let first = |v: &&Volume<'_>| {
        v.name.as_deref().and_then(|n| pod.volume(n)).is_some_and(|first| std::ptr::eq(first, *v))
    };
    // Its name stands in a mount of each target.
    let short = |v: &&Volume<'_>| v.name.as_deref().is_some_and(|name| name.len() <= MAX_VOLUME_NAME_LENGTH);
    let volume_with =
        |has: &dyn Fn(&Volume<'_>) -> bool| pod.volumes().iter().filter(short).filter(|v| has(v)).find(first);
    let names: Vec<&str> = profile.files.iter().map(|f| f.name.as_str()).collect();
    let mut items: Vec<String> = Vec::new();
    if wants_conf {
        let volume = volume_with(&|v| path_in(v, NCCL_CONF).is_some());
        match volume.and_then(|v| Some((v.name.as_deref()?, path_in(v, NCCL_CONF)?))) {
            Some((volume, path)) => files.conf = Some((volume.to_owned(), path.to_owned())),
            None => items.push(NCCL_CONF.to_owned()),
        }
    }
    if wants_directory {
        let volume = volume_with(&|v| names.iter().all(|n| path_in(v, n) == Some(n)));
        match volume.and_then(|v| v.name.as_deref()) {
            Some(volume) => files.directory = Some(volume.to_owned()),
            None => items.extend(names.iter().map(|n| (*n).to_owned())),
        }
    }
    if !items.is_empty() {
        let Some(volume) = free_name(pod) else {
            files.refusal = Some(FileRefusal::NoName);
            return (Vec::new(), files);
        };
        if items.iter().any(|i| i == NCCL_CONF) {
            files.conf = Some((volume.to_owned(), NCCL_CONF.to_owned()));
        }
        if items.len() > usize::from(items.iter().any(|i| i == NCCL_CONF)) {
            files.directory = Some(volume.to_owned());
        }
        let index =
            pod.volumes().len() + planned.iter().filter(|c| matches!(c.edit, Edit::ShmVolume { .. })).count();
        edits.push(Edit::FilesVolume { name: volume.to_owned(), items, index });
    }
    let change = |edit: Edit| {
        let reason = match &edit {
            Edit::File { variables, .. } if !variables.is_empty() => {
                let why = carried().find_map(|v| v.why).map_or("", super::EnvRefusal::words);
                format!("{} that env cannot set: {why}", count_with_noun(variables.len(), "variable")).into()
            }
            Edit::File { .. } => format!("a file of profile {}", profile.name).into(),
            _ => Reason::Fixed("shows annotations of the pod as files"),
        };
        Change { edit, reason }
    };
    (edits.into_iter().map(change).collect(), files)
}

/// A name that no volume and no mount of the pod has.
fn free_name(pod: &PodView<'_>) -> Option<&'static str> {
    let mounts = pod.containers().iter().chain(pod.init_containers()).flat_map(Container::volume_mounts);
    let named = pod.volumes().iter().map(|v| &v.name).chain(mounts.map(|m| &m.name));
    let taken: BTreeSet<&str> = named.filter_map(Option::as_deref).collect();
    FILES_VOLUME_NAMES.into_iter().find(|name| !taken.contains(name))
}

/// The mounts of a target container.
pub(super) fn plan_file_mounts(
    pod: &PodView<'_>,
    profile: &Profile,
    variables: &VariablesOfTarget<'_>,
    files: &PlannedFiles,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let Some(container) = pod.containers().get(variables.container) else { return changes };
    let own = container.volume_mounts().len();
    let mut mount = |volume: &str, path: &'static str, sub_path: Option<String>, reason: &'static str| {
        let index = own + changes.len();
        let (container, volume) = (variables.container, volume.to_owned());
        let edit = Edit::FileMount { container, volume, path, sub_path, index };
        changes.push(Change { edit, reason: reason.into() });
    };
    let reads_facts = files.readers.contains(&variables.container);
    if (reads_facts || !variables.by_file.is_empty())
        && !mounts_our_nccl_conf(pod, container)
        && let Some((volume, path)) = &files.conf
    {
        mount(
            volume,
            NCCL_CONF_PATH,
            Some(path.clone()),
            match reads_facts {
                true => {
                    "preflight writes NCCL's settings for this pod there; variables of the process take precedence"
                }
                false => "NCCL and its plugins read this file; variables of the process take precedence",
            },
        );
    }
    if !mounts_all_profile_files(pod, container, profile)
        && let Some(volume) = &files.directory
        && refusal_by_own_mount(container, FILES_PATH).is_none()
    {
        mount(volume, FILES_PATH, None, "files of the profile");
    }
    changes
}

/// Why the profile's files do not reach a target container, if they do not.
pub(super) fn directory_refusal(
    pod: &PodView<'_>,
    profile: &Profile,
    container: &Container<'_>,
    files: &PlannedFiles,
) -> Option<FileRefusal> {
    if profile.files.is_empty() || mounts_all_profile_files(pod, container, profile) {
        return None;
    }
    refusal_by_own_mount(container, FILES_PATH).or_else(|| files.refusal.clone())
}
