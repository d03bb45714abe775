//! FAB505 and FAB506: what keeps the shared memory that is there from being used.

use super::shm_volumes::mounted;
use crate::plan::SHM_PATH;
use crate::pod::{Bytes, Quantity};
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB505.
pub(super) struct BeyondMemory;

static BEYOND_MEMORY: Meta = Meta {
    id: "FAB505",
    severity: Severity::Warning,
    summary: "/dev/shm larger than the memory it is charged to",
    what: "An emptyDir in memory at `/dev/shm` of containers with accelerators whose `sizeLimit` is above their memory \
           limit: their own together, else the pod's (`spec.resources`). Information where neither the volume nor its \
           containers have a limit.",
    why: "Pages of the volume count as memory of the container that writes them, so the container is killed (`OOMKilled`, \
          exit code 137) before the volume is full. Without any limit it grows to what the node has to give, and the node \
          runs out with it.",
    fix: "Make `sizeLimit` at most half of the memory limit, or raise the limit by it.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8, memory: 32Gi}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8, memory: 128Gi}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
",
    sources: &[
        "kubernetes/enhancements KEP-1967 (SizeMemoryBackedVolumes), KEP-2837",
        "kubernetes/kubernetes pkg/volume/emptydir/empty_dir.go",
        "kubernetes/kubernetes#28272",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SHM-003", "SHM-004"],
    waiver: Waiver::Allowed,
};

impl Rule for BeyondMemory {
    fn meta(&self) -> &'static Meta {
        &BEYOND_MEMORY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for volume in mounted(context) {
            let (path, size) = match (volume.volume, volume.planned) {
                (Some((index, v)), _) => {
                    let Some(empty_dir) = v.empty_dir.as_ref().filter(|_| v.host_path.is_none()) else {
                        continue;
                    };
                    if empty_dir.medium.as_deref() != Some("Memory") {
                        continue;
                    }
                    // A text that is no quantity FAB501 tells; zero is no limit.
                    let text = empty_dir.size_limit.as_ref();
                    let size = match text.map(|t| Quantity::parse(&t.0).map(Quantity::units)) {
                        Some(Err(_)) => continue,
                        Some(Ok(size)) => Some(size).filter(|n| *n > 0),
                        None => None,
                    };
                    (format!("/spec/volumes/{index}/emptyDir"), size)
                }
                (None, Some((index, size))) => (format!("/spec/volumes/{index}/emptyDir"), Some(size)),
                (None, None) => continue,
            };
            match (size, volume.limit) {
                (Some(size), Some(limit)) if size > limit => findings.add(
                    path,
                    format!(
                        "{SHM_PATH} of {} is more than the memory limit of {}: the container is killed before it is full",
                        Bytes(size),
                        Bytes(limit)
                    ),
                    format!("raise the memory limit by {}, or lower sizeLimit", Bytes(size)),
                ),
                (None, None) => findings.add_as(
                    Severity::Info,
                    path,
                    format!("{SHM_PATH} has no sizeLimit and its containers no memory limit: it may take the node's memory"),
                    "set sizeLimit, such as 8Gi an accelerator",
                ),
                _ => {}
            }
        }
    }
}

/// FAB506.
pub(super) struct ReadOnly;

static READ_ONLY: Meta = Meta {
    id: "FAB506",
    severity: Severity::Warning,
    summary: "/dev/shm mounted read-only, or as a part of a volume",
    what: "The mount at `/dev/shm` of a container with accelerators has `readOnly: true`. Information where it has a \
           `subPath`.",
    why: "Shared memory is made by writing files there: NCCL fails with `Read-only file system`. With a `subPath` only \
          containers with the same one share memory, and files elsewhere in the volume use up its size.",
    fix: "Mount the whole volume, and not read-only.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 8}}
    volumeMounts: [{name: dshm, mountPath: /dev/shm, readOnly: true}]
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
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
    sources: &["shm_open(3)", "NVIDIA/nccl src/misc/shmutils.cc (ncclShmOpen)"],
    since: "0.1.0",
    kinds: &[],
    also: &["SHM-008"],
    waiver: Waiver::Allowed,
};

impl Rule for ReadOnly {
    fn meta(&self) -> &'static Meta {
        &READ_ONLY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let Some((at, mount)) = container.mount_at(SHM_PATH) else { continue };
            if !context.demands.app(index).any && context.plan.target(index).is_none() {
                continue;
            }
            let path = format!("/spec/containers/{index}/volumeMounts/{at}");
            if mount.read_only == Some(true) {
                let what = format!("{SHM_PATH} is mounted read-only: no shared memory can be made there");
                findings.add(format!("{path}/readOnly"), what, "drop readOnly");
            } else if let Some(sub_path) = mount.sub_path.as_deref().filter(|p| !p.is_empty()) {
                findings.add_as(
                    Severity::Info,
                    format!("{path}/subPath"),
                    format!(
                        "{SHM_PATH} is a part of a volume: only containers with subPath {:?} share it",
                        printable(sub_path, 60)
                    ),
                    "mount the whole volume",
                );
            }
        }
    }
    fn cel(&self) -> Option<Cel> {
        // Of two mounts at the path, which the API server takes where one has a slash more, the first counts.
        let at = "c.?volumeMounts.orValue([]).filter(m, m.mountPath.matches('^/dev/shm/*$'))";
        let read_only = format!("{{accelerated}} && {at}.size() > 0 && {at}[0].?readOnly.orValue(false)");
        let check = Check {
            severity: Severity::Warning,
            wrong: Wrong::Containers(read_only.into()),
            message: "/dev/shm is mounted read-only: no shared memory can be made there; drop readOnly",
        };
        Some(Cel {
            variables: Vec::new(),
            checks: vec![check],
            beyond: Some("containers without accelerators of their own that a profile is for"),
        })
    }
}
