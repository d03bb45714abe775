//! FAB501: /dev/shm missing or too small on a container with several accelerators.

use super::shm_volumes::{Mounted, accelerators, mounted, number};
use crate::plan::{SHM_PATH, recommended_shm};
use crate::pod::{Bytes, Quantity};
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::{count, printable};

pub(super) static RULE: Rule = Rule {
    id: "FAB501",
    severity: Severity::Warning,
    files: files!(),
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

/// Below this for each accelerator (bytes) a training job is likely to run out: PyTorch with a dozen process
/// groups takes about 400 MiB a rank (12 communicators at 33 MiB, NCCL 2.30).
const SCARCE_PER_RANK: i64 = 512 << 20;

/// What is recommended for each accelerator where no profile says more (bytes).
const RECOMMENDED_PER_RANK: i64 = 8 << 30;

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let pod = context.pod();
    if pod.host_ipc() {
        return;
    }
    for (index, container) in pod.containers().iter().enumerate() {
        if number(context, index).is_some_and(|n| n < 2) || context.overlay.planned_shm(index).is_some() {
            continue;
        }
        let (path, fix) = (
            paths::container(index),
            "mount an emptyDir with medium: Memory and sizeLimit 8Gi an accelerator",
        );
        if container.has_device_at(SHM_PATH) {
            let what = format!("{SHM_PATH} is a raw block device, and no memory: NCCL cannot share any");
            findings.add(path, what, format!("give the device another path, and {fix}"));
        } else if container.mount_at(SHM_PATH).is_none() {
            let who = number(context, index).map(|n| count(n as usize, "accelerator"));
            let who = who.unwrap_or_else(|| "accelerators".to_owned());
            findings.add(
                path,
                format!("{who} and nothing mounted at {SHM_PATH}: NCCL has the runtime's 64 MiB"),
                fix,
            );
        }
    }
    for volume in mounted(context) {
        if volume.users.iter().any(|index| number(context, *index).is_none_or(|n| n >= 2)) {
            judge(context, &volume, findings);
        }
    }
}

fn cel() -> Cel {
    // A mount counts as none where it has another path; of two, which differ by a slash, the first counts.
    let mounts = "c.?volumeMounts.orValue([]).filter(m, m.mountPath.matches('^/dev/shm/*$'))";
    let several = "!object.spec.?hostIPC.orValue(false) && c.?resources.?limits.orValue({}).exists(k, ({whole}) &&\n\
                       quantity(string(c.resources.limits[k])).isGreaterThan(quantity('1')))";
    let bare = format!("{several} &&\n{mounts}.size() == 0 && c.?volumeDevices.orValue([]).size() == 0");
    let disk = "variables.volumes.filter(v, has(v.emptyDir) && v.emptyDir.?medium.orValue('') != 'Memory').map(v, v.name)";
    let on_disk = format!("{several} &&\n{mounts}.size() > 0 && {mounts}[0].name in variables.diskVolumes");
    let check = |wrong: String, message| Check {
        severity: Severity::Warning,
        wrong: Wrong::Containers(wrong.into()),
        message,
    };
    Cel {
        variables: vec![("diskVolumes", disk.into())],
        checks: vec![
            check(
                bare,
                "several accelerators and nothing mounted at /dev/shm: NCCL has the runtime's 64 MiB; mount an \
                     emptyDir with medium: Memory and sizeLimit 8Gi an accelerator",
            ),
            check(
                on_disk,
                "/dev/shm is an emptyDir on disk: shared memory goes through the file system; set medium: Memory",
            ),
        ],
        beyond: Some("accelerators by claim, and sizes"),
    }
}

fn judge(context: &PodContext<'_>, mounted: &Mounted<'_>, findings: &mut Findings<'_>) {
    let Some((index, volume)) = mounted.volume else { return };
    let path = paths::volume(index);
    if volume.host_path.is_some() {
        findings.add_as(
            Severity::Info,
            path,
            format!("{SHM_PATH} is the node's own: its size is unknown here, and jobs share it"),
            "an emptyDir with medium: Memory is the pod's own",
        );
        return;
    }
    let Some(empty_dir) = &volume.empty_dir else {
        findings.add_as(
            Severity::Info,
            path,
            format!("{SHM_PATH} is a volume of which it is not known here whether it is memory"),
            "an emptyDir with medium: Memory is",
        );
        return;
    };
    match empty_dir.medium.as_deref() {
        Some("Memory") => {}
        // Files of hugetlbfs take no write(2) and whole huge pages only (Linux Documentation/admin-guide/mm/hugetlbpage).
        Some(medium) if medium.starts_with("HugePages") => {
            let what = format!("{SHM_PATH} is an emptyDir of huge pages, where programs cannot write files");
            findings.add(path, what, "set medium: Memory");
            return;
        }
        _ => {
            findings.add(
                path,
                format!("{SHM_PATH} is an emptyDir on disk: shared memory goes through the file system"),
                "set medium: Memory",
            );
            return;
        }
    }
    let path = format!("{path}/emptyDir/sizeLimit");
    let Some(text) = &empty_dir.size_limit else { return };
    let Ok(size) = Quantity::parse(&text.0).map(Quantity::units) else {
        findings.add(
            path,
            format!("sizeLimit {:?} is no Kubernetes quantity", printable(&text.0, 40)),
            "write a size such as 64Gi",
        );
        return;
    };
    if size == 0 {
        return;
    }
    if text.0.ends_with('m') {
        let what = format!(
            "sizeLimit {:?} is thousandths of a byte: there is next to nothing",
            printable(&text.0, 40)
        );
        findings.add(path, what, "write Mi or Gi");
        return;
    }
    let users = accelerators(context, &mounted.users);
    let profile = context.resolution.profile().map(|(p, _)| p.shm_per_accelerator);
    let recommended = recommended_shm(users, profile.unwrap_or(RECOMMENDED_PER_RANK), mounted.limit);
    if size >= recommended {
        return;
    }
    let scarce = size < SCARCE_PER_RANK.saturating_mul(i64::from(users));
    let severity = if scarce { Severity::Warning } else { Severity::Info };
    let who = count(users as usize, "accelerator");
    findings.add_as(
        severity,
        path,
        format!("{} for {who} at {SHM_PATH}; {} is recommended", Bytes(size), Bytes(recommended)),
        format!("sizeLimit: {}", Bytes(recommended)),
    );
}
