//! FAB501: is there shared memory, and enough of it.

use super::shm_volumes::{Mounted, accelerators, mounted, number};
use crate::plan::{SHM_PATH, recommended_shm};
use crate::pod::{Bytes, Quantity};
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::{count, printable};

/// Below this for each accelerator (bytes) a training job is likely to run out: PyTorch with a dozen process
/// groups takes about 400 MiB a rank (12 communicators at 33 MiB, NCCL 2.30).
const SCARCE_PER_RANK: i64 = 512 << 20;
/// What is recommended for each accelerator where no profile says more (bytes).
const RECOMMENDED_PER_RANK: i64 = 8 << 30;

/// FAB501.
pub(super) struct SharedMemory;

static SHARED_MEMORY: Meta = Meta {
    id: "FAB501",
    severity: Severity::Warning,
    summary: "/dev/shm missing or too small on a container with several accelerators",
    what: "Looks at what is at `/dev/shm` in containers that ask for two or more accelerators: nothing, a raw block \
           device, a volume on disk, or memory below 512Mi an accelerator, such as one written with suffix `m`, thousandths of a byte. Between that and the recommended 8Gi an \
           accelerator (or half the memory limit of the containers that share the volume, or of the pod) it is \
           information. A hostPath and other volumes are told, not judged. An emptyDir in memory without `sizeLimit` is \
           as large as the pod's memory limit, or the node's memory, and never too small.",
    why: "The container runtime's default is 64 MiB for the whole container. NCCL reserves about 33 MiB for each rank \
          and communicator at start and fails with `No space left on device` or `failed to extend /dev/shm/nccl-…`; \
          data loaders die with `Bus error`.",
    fix: "Mount an emptyDir with `medium: Memory` and a sizeLimit of 8Gi an accelerator at /dev/shm.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
",
    sources: &[
        "NVIDIA/nccl#290, #342, #525, #983",
        "kubernetes/enhancements KEP-1967",
        "NVIDIA NCCL user guide, Docker",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SHM-001", "SHM-002", "SHM-006", "SHM-010"],
    waiver: Waiver::Allowed,
};

impl Rule for SharedMemory {
    fn meta(&self) -> &'static Meta {
        &SHARED_MEMORY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        if pod.host_ipc() {
            return;
        }
        for (index, container) in pod.containers().iter().enumerate() {
            if number(context, index).is_some_and(|n| n < 2) || context.overlay.planned_shm(index).is_some() {
                continue;
            }
            let (path, fix) = (
                format!("/spec/containers/{index}"),
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
    fn cel(&self) -> Option<Cel> {
        // A mount counts as none where it has another path; of two, which differ by a slash, the first counts.
        let mounts = "c.?volumeMounts.orValue([]).filter(m, m.mountPath.matches('^/dev/shm/*$'))";
        let several = "!object.spec.?hostIPC.orValue(false) && c.?resources.?limits.orValue({}).exists(k, ({whole}) &&\n\
                       quantity(string(c.resources.limits[k])).isGreaterThan(quantity('1')))";
        let bare = format!("{several} &&\n{mounts}.size() == 0 && c.?volumeDevices.orValue([]).size() == 0");
        let disk = "variables.volumes.filter(v, has(v.emptyDir) && v.emptyDir.?medium.orValue('') != 'Memory').map(v, v.name)";
        let on_disk =
            format!("{several} &&\n{mounts}.size() > 0 && {mounts}[0].name in variables.diskVolumes");
        let check = |wrong: String, message| Check {
            severity: Severity::Warning,
            wrong: Wrong::Containers(wrong.into()),
            message,
        };
        Some(Cel {
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
        })
    }
}

fn judge(context: &PodContext<'_>, mounted: &Mounted<'_>, findings: &mut Findings<'_>) {
    let Some((index, volume)) = mounted.volume else { return };
    let path = format!("/spec/volumes/{index}");
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
    let each = profile.unwrap_or(RECOMMENDED_PER_RANK);
    let Some(recommended) = recommended_shm(users, each, mounted.limit) else { return };
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
