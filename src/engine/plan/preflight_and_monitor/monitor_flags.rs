//! Flags of the monitor, with the variables and mounts that they need.

use super::volume_mount_json::mount;
use super::which_containers_are_added::ContainersToAdd;
use crate::json::write::{json_of_pairs, json_of_text};
use crate::plan::{Edit, Plan};
use crate::pod::PodView;
use crate::pod::pod_fields::Container;
use crate::pod::variable_value::entries_that_may_decide;
use crate::pod::which_containers_webhook_added::PROGRAM_VOLUME_PATH;
use crate::profile::Monitor;

/// Port of NCCL's RAS, unless `NCCL_RAS_ADDR` names another (NVIDIA/nccl src/ras/client_support.cc).
const RAS_PORT: u16 = 28028;
/// Fields of a pod that are 0, or `master`, on rank 0. A field that a pod lacks is empty. Sources: batch/v1
/// `JobCompletionIndexAnnotation`, sigs.k8s.io/jobset `GlobalJobIndexKey`, sigs.k8s.io/lws `WorkerIndexLabelKey`,
/// kubeflow/training-operator `JobRoleLabel`.
const INDICES: [(&str, &str); 4] = [
    ("FABRIC_ADMISSION_COMPLETION_INDEX", "metadata.annotations['batch.kubernetes.io/job-completion-index']"),
    ("FABRIC_ADMISSION_JOB_INDEX", "metadata.labels['jobset.sigs.k8s.io/job-global-index']"),
    ("FABRIC_ADMISSION_WORKER_INDEX", "metadata.labels['leaderworkerset.sigs.k8s.io/worker-index']"),
    ("FABRIC_ADMISSION_JOB_ROLE", "metadata.labels['training.kubeflow.org/job-role']"),
];

/// Flags, and what they need.
#[derive(Default)]
pub(super) struct MonitorFlags {
    pub(super) args: Vec<String>,
    pub(super) env: Vec<String>,
    pub(super) mounts: Vec<String>,
    /// What they do, for the reason of the container.
    pub(super) does: Vec<String>,
}

/// The flags for the pod that gets this plan.
pub(super) fn flags_env_and_mounts_of_monitor(
    pod: &PodView<'_>,
    plan: &Plan,
    place: &ContainersToAdd<'_>,
    monitor: &Monitor,
) -> MonitorFlags {
    let mut flags = MonitorFlags::default();
    let first = plan.targets.first().map(|target| target.index);
    let container = first.and_then(|index| pod.containers().get(index));
    let Some((index, container)) = first.zip(container) else { return flags };
    let variable = |name: &str| planned_or_own_variable(container, plan, index, name);
    if let Some((volume, path, folder)) =
        nccl_log_folder_on_empty_dir(pod, container, index, place, variable("NCCL_DEBUG_FILE"))
    {
        flags.args.extend(["--nccl-log".to_owned(), folder.to_owned()]);
        flags.mounts.push(mount(volume, path, None, true));
        flags.does.push(format!("reads NCCL's log in {folder}"));
    }
    if monitor.ras && variable("NCCL_RAS_ENABLE") != Some("0") {
        let port = variable("NCCL_RAS_ADDR").and_then(|address| address.rsplit(':').next()?.parse().ok());
        let port = port.unwrap_or(RAS_PORT);
        flags.args.extend(["--ras-port".to_owned(), port.to_string()]);
        flags.does.push(format!("on rank 0, asks NCCL's RAS on port {port} once a minute"));
        for (name, path) in INDICES {
            flags.args.push(format!("--rank-index=$({name})"));
            let field = json_of_pairs(&[("fieldPath", json_of_text(path))]);
            let from = json_of_pairs(&[("fieldRef", field)]);
            flags.env.push(json_of_pairs(&[("name", json_of_text(name)), ("valueFrom", from)]));
        }
    }
    flags
}

/// The value of a variable as it stands in the container or in the plan.
fn planned_or_own_variable<'v>(
    container: &'v Container<'_>,
    plan: &'v Plan,
    index: usize,
    name: &str,
) -> Option<&'v str> {
    let planned = plan.changes_of_container(index).iter().find_map(|change| match &change.edit {
        Edit::Env { name: own, value, .. } if **own == *name => Some(&**value),
        _ => None,
    });
    planned.or_else(|| {
        entries_that_may_decide(container, name).next().and_then(|(_, entry)| entry.literal_or_empty())
    })
}

/// The volume, the mount path and the folder of NCCL's log, if the log is on an emptyDir: a volume of several pods has the
/// logs of others too.
fn nccl_log_folder_on_empty_dir<'v>(
    pod: &'v PodView<'_>,
    container: &'v Container<'_>,
    index: usize,
    place: &ContainersToAdd<'_>,
    file: Option<&'v str>,
) -> Option<(&'v str, &'v str, &'v str)> {
    let (folder, _) = file?.rsplit_once('/')?;
    // NCCL expands %h and %p; the kubelet expands $(NAME).
    if folder.is_empty() || folder.contains(['%', '$']) || folder.split('/').any(|part| part == "..") {
        return None;
    }
    let mounts = container.volume_mounts().iter().enumerate();
    let holds = |path: &str| {
        let path = path.trim_end_matches('/');
        folder.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let paths = mounts.filter_map(|(at, mount)| Some((at, mount, mount.mount_path.as_deref()?)));
    let (at, mount, path) = paths.filter(|(.., path)| holds(path)).max_by_key(|(.., path)| path.len())?;
    let raw = place.raw.container(index)?.volume_mounts.as_ref()?.get(at)?;
    let is_part = mount.sub_path.is_some() || raw.get().contains("subPathExpr");
    let name = mount.name.as_deref()?;
    let is_scratch = pod.volumes().iter().any(|v| v.name.as_deref() == Some(name) && v.empty_dir.is_some());
    // The monitor reads these paths, or has a mount of its own there.
    let is_free = path.len() > 1
        && ![PROGRAM_VOLUME_PATH, "/dev", "/proc", "/sys", "/var/run"]
            .iter()
            .any(|own| path.starts_with(own));
    (is_scratch && is_free && !is_part).then_some((name, path, folder))
}
