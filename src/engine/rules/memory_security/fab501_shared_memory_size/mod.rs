//! FAB501: /dev/shm missing or too small on a container with several accelerators.

use super::accelerators_of_containers::{accelerators_of_container, accelerators_of_containers};
use super::tools_without_nccl::{self, runs_only_tool_without_nccl};
use crate::plan::{SHM_PATH, recommended_shm};
use crate::pod::pod_fields::Container;
use crate::pod::templates_by_shape::DevShm;
use crate::pod::{Bytes, Quantity, memory_limit_of_containers_together};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck, CelCondition};
use crate::rules::shm_volumes::MountedShmVolume;
use crate::text::{count_with_noun, escaped_and_cut};

pub(super) static RULE: Rule = Rule {
    id: "FAB501",
    severity: Severity::Warning,
    lesser: &[
        (Severity::Info, ENOUGH_FOR_FEW_COMMUNICATORS),
        (Severity::Info, UNKNOWN_SIZE),
        (Severity::Info, UNKNOWN_MEDIUM),
    ],
    files: files!(),
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Reasons for information.
const ENOUGH_FOR_FEW_COMMUNICATORS: &str = "the size is enough for a few communicators of NCCL";
const UNKNOWN_SIZE: &str = "the size of the node's directory is not known";
const UNKNOWN_MEDIUM: &str = "the medium of the volume is not known";

/// Below this for each accelerator (bytes) a training job is likely to run out: PyTorch with a dozen process
/// groups takes about 400 MiB a rank (12 communicators at 33 MiB, NCCL 2.30).
const SCARCE_PER_RANK: i64 = 512 << 20;

/// Recommended per accelerator where no profile sets more (bytes).
const RECOMMENDED_PER_RANK: i64 = 8 << 30;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let pod = context.pod();
    // Windows has no /dev/shm, and NCCL does not run there.
    let windows = pod.spec.as_ref().and_then(|s| s.os.as_ref()?.name.as_deref()) == Some("windows");
    if windows || pod.host_ipc() || context.subject.dev_shm == DevShm::NotRun {
        return;
    }
    for (index, container) in pod.containers().iter().enumerate() {
        if context.overlay.planned_shm_volume(index).is_some()
            || !connects_accelerators_over_shm(context, index)
        {
            continue;
        }
        let limit = memory_limit_of_containers_together(pod, std::iter::once(container));
        let recommended = recommended_size(context, &[index], limit);
        let (path, fix) = (
            pointers_in_pod::container(index),
            match recommended {
                Some(size) => {
                    format!("Mount an emptyDir {{medium: Memory, sizeLimit: {}}} at {SHM_PATH}.", Bytes(size))
                }
                None => format!(
                    "Raise the memory limit, and mount an emptyDir with medium: Memory at {SHM_PATH}."
                ),
            },
        );
        let known = accelerators_of_container(context, index);
        if container.has_device_at(SHM_PATH) {
            let what = format!("{SHM_PATH} is a raw block device: NCCL cannot create shared memory there");
            findings.add(path, what, format!("Move the device to another path. {fix}"));
        } else if container.mount_at(SHM_PATH).is_none()
            && !will_controller_mount_shm(context, index)
            && (known.is_some() || !has_refused_quantity(container))
        {
            let many = known.map(|n| format!(" for {}", count_with_noun(n as usize, "accelerator")));
            let many = many.unwrap_or_else(|| " for an unknown number of accelerators".to_owned());
            findings.add(path, format!("no {SHM_PATH} volume: NCCL gets the runtime's 64 MiB{many}"), fix);
        }
    }
    for volume in context.shm_volumes() {
        if volume.users.iter().any(|index| connects_accelerators_over_shm(context, *index)) {
            report_wrong_size(context, volume, findings);
        }
    }
}

/// Whether NCCL is likely to connect several accelerators of a container over shared memory. Neuron devices have
/// collectives of their own.
fn connects_accelerators_over_shm(context: &PodContext<'_>, index: usize) -> bool {
    let demand = context.subject.demands.of_app_container(index);
    accelerators_of_container(context, index).is_none_or(|n| n >= 2)
        && (demand.nccl || !demand.any)
        && context
            .pod()
            .containers()
            .get(index)
            .is_some_and(|container| !runs_only_tool_without_nccl(container))
}

/// Whether the API server refuses a quantity of the container (FAB201): what it would need is not known.
fn has_refused_quantity(container: &Container<'_>) -> bool {
    let mut refused = false;
    container.for_each_resource_quantity(&mut |_, quantity| refused |= Quantity::parse(&quantity.0).is_err());
    refused
}

/// Whether the controller of a template will mount memory in this container.
fn will_controller_mount_shm(context: &PodContext<'_>, index: usize) -> bool {
    index == 0 && context.subject.dev_shm == DevShm::ByController
}

fn cel() -> Cel {
    // A mount counts as none where it has another path; of two, which differ by a slash, the first counts.
    let mounts = "c.?volumeMounts.orValue([]).filter(m, m.mountPath.matches('^/dev/shm/*$'))";
    let several = "!object.spec.?hostIPC.orValue(false) && object.spec.?os.?name.orValue('') != 'windows' &&\n\
                       c.?resources.?limits.orValue({}).exists(k, ({whole}) &&\n\
                       !k.startsWith('aws.amazon.com/neuron') && quantity(string(c.resources.limits[k])).isGreaterThan(quantity('1')))";
    let several = format!("{several} && !{}", tools_without_nccl::NAMES_TOOL_IN_CEL);
    let bare = format!("{several} &&\n{mounts}.size() == 0 && c.?volumeDevices.orValue([]).size() == 0");
    let disk = "variables.volumes.filter(v, has(v.emptyDir) && v.emptyDir.?medium.orValue('') != 'Memory').map(v, v.name)";
    let on_disk = format!("{several} &&\n{mounts}.size() > 0 && {mounts}[0].name in variables.diskVolumes");
    let check = |wrong: String, message| CelCheck {
        severity: Severity::Warning,
        wrong: CelCondition::Containers(wrong.into()),
        message,
    };
    Cel {
        variables: vec![("diskVolumes", disk.into())],
        checks: vec![
            check(
                bare,
                "no /dev/shm volume: NCCL gets the runtime's 64 MiB for several accelerators; mount an emptyDir {medium: Memory} with sizeLimit 8Gi per accelerator at /dev/shm",
            ),
            check(
                on_disk,
                "/dev/shm is an emptyDir on disk: shared memory goes through the file system; set emptyDir.medium: Memory",
            ),
        ],
        beyond: Some(
            "accelerators that a claim requests, sizes of volumes, and commands that run both a tool without NCCL and other programs",
        ),
    }
}

fn size_limit_to_write_in_words(size: Option<i64>) -> String {
    size.map_or("Write a size such as 64Gi.".to_owned(), |size| format!("Set sizeLimit: {}.", Bytes(size)))
}

/// The size to write (bytes); `None` where the memory limit leaves no room.
fn recommended_size(context: &PodContext<'_>, users: &[usize], limit: Option<i64>) -> Option<i64> {
    let profile = context.resolution.profile().map(|(p, _)| p.shm_per_accelerator);
    recommended_shm(
        accelerators_of_containers(context, users),
        profile.unwrap_or(RECOMMENDED_PER_RANK),
        limit,
    )
}

fn report_wrong_size(
    context: &PodContext<'_>,
    mounted: &MountedShmVolume<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let Some((index, volume)) = mounted.volume else { return };
    let path = pointers_in_pod::volume(index);
    if volume.host_path.is_some() {
        findings.with_reason_for_lower_severity(UNKNOWN_SIZE).add_with_severity(
            Severity::Info,
            path,
            format!("{SHM_PATH} is a hostPath: the size is not known, and all jobs on the node share this directory"),
            "Mount an emptyDir with medium: Memory.",
        );
        return;
    }
    let Some(empty_dir) = &volume.empty_dir else {
        findings.with_reason_for_lower_severity(UNKNOWN_MEDIUM).add_with_severity(
            Severity::Info,
            path,
            format!("the volume at {SHM_PATH} may be on disk instead of in memory"),
            "Mount an emptyDir with medium: Memory.",
        );
        return;
    };
    match empty_dir.medium.as_deref() {
        Some("Memory") => {}
        // Files of hugetlbfs take no write(2) and whole huge pages only (Linux Documentation/admin-guide/mm/hugetlbpage).
        Some(medium) if medium.starts_with("HugePages") => {
            let what = format!("{SHM_PATH} is an emptyDir of huge pages: programs cannot write files there");
            findings.add(path, what, "Set emptyDir.medium: Memory.");
            return;
        }
        _ => {
            findings.add(
                path,
                format!("{SHM_PATH} is an emptyDir on disk: shared memory goes through the file system"),
                "Set emptyDir.medium: Memory.",
            );
            return;
        }
    }
    let path = format!("{path}/emptyDir/sizeLimit");
    let Some(text) = &empty_dir.size_limit else { return };
    let Ok(size) = Quantity::parse(&text.0).map(Quantity::units_rounded_up) else {
        findings.add(
            path,
            format!(
                "sizeLimit {:?} is not a Kubernetes quantity: the API server refuses the pod",
                escaped_and_cut(&text.0, 40)
            ),
            size_limit_to_write_in_words(recommended_size(context, &mounted.users, mounted.limit)),
        );
        return;
    };
    if size == 0 {
        return;
    }
    if text.0.ends_with('m') {
        let what = format!(
            "sizeLimit is {:?}: the suffix m means thousandths of a byte, so almost nothing fits",
            escaped_and_cut(&text.0, 40)
        );
        findings.add(
            path,
            what,
            size_limit_to_write_in_words(recommended_size(context, &mounted.users, mounted.limit)),
        );
        return;
    }
    let users = accelerators_of_containers(context, &mounted.users);
    let Some(recommended) = recommended_size(context, &mounted.users, mounted.limit) else { return };
    if size >= recommended {
        return;
    }
    let scarce = size < SCARCE_PER_RANK.saturating_mul(i64::from(users));
    let severity = if scarce { Severity::Warning } else { Severity::Info };
    let who = count_with_noun(users as usize, "accelerator");
    findings.add_with_severity(
        severity,
        path,
        format!("{SHM_PATH} has {} for {who}: {} is recommended", Bytes(size), Bytes(recommended)),
        format!("Set sizeLimit: {}.", Bytes(recommended)),
    );
}
