//! FAB501: shared memory.

use super::{Findings, Meta, PodContext, Rule, Severity};
use crate::plan::{SHM_PATH, recommended_shm};
use crate::pod::view::{Container, Volume};
use crate::pod::{Bytes, Quantity};
use crate::text::{count, printable};
use std::collections::BTreeMap;

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
    what: "Looks at what is mounted at `/dev/shm` in containers that ask for two or more accelerators: nothing, a \
           volume on disk, or memory below 512Mi an accelerator. Between that and the recommended 8Gi an accelerator \
           (or half the memory limit) it is information. A hostPath is told, not judged.",
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
        let named = |(index, volume)| -> Option<(&str, (usize, &Volume<'_>))> {
            let volume: &Volume<'_> = volume;
            Some((volume.name.as_deref()?, (index, volume)))
        };
        let volumes: BTreeMap<&str, _> = pod.volumes().iter().enumerate().rev().filter_map(named).collect();
        for (index, container) in pod.containers().iter().enumerate() {
            let demand = context.demands.app(index);
            if demand.whole < 2 && !demand.unknown || context.overlay.mounts_shm(index) {
                continue;
            }
            match container.mount_at(SHM_PATH) {
                None => {
                    let who = if demand.unknown {
                        "accelerators".into()
                    } else {
                        count(demand.whole as usize, "accelerator")
                    };
                    findings.add(
                        format!("/spec/containers/{index}"),
                        format!("{who} and nothing mounted at {SHM_PATH}: NCCL has the runtime's 64 MiB"),
                        "mount an emptyDir with medium: Memory and sizeLimit 8Gi an accelerator",
                    );
                }
                Some((_, mount)) => {
                    let volume = mount.name.as_deref().unwrap_or_default();
                    if let Some(volume) = volumes.get(volume) {
                        judge_volume(context, container, demand.whole.max(1), *volume, findings);
                    }
                }
            }
        }
    }
}

fn judge_volume(
    context: &PodContext<'_>,
    container: &Container<'_>,
    whole: u32,
    (index, volume): (usize, &Volume<'_>),
    findings: &mut Findings<'_>,
) {
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
    let Some(empty_dir) = &volume.empty_dir else { return };
    if empty_dir.medium.as_deref() != Some("Memory") {
        findings.add(
            path,
            format!("{SHM_PATH} is an emptyDir on disk: shared memory goes through the file system"),
            "set medium: Memory",
        );
        return;
    }
    // No limit: the kubelet sizes it by the pod's memory limit or the node; never too small.
    let Some(text) = &empty_dir.size_limit else { return };
    let Ok(size) = Quantity::parse(&text.0) else {
        findings.add(
            format!("{path}/emptyDir/sizeLimit"),
            format!("sizeLimit {:?} is no Kubernetes quantity", printable(&text.0, 40)),
            "write a size such as 64Gi",
        );
        return;
    };
    let size = size.units();
    if size == 0 {
        return;
    }
    let profile = context.resolution.profile().map(|(p, _)| p.shm_per_accelerator);
    let limit =
        container.limits().and_then(|l| Quantity::parse(&l.get("memory")?.0).ok()).map(Quantity::units);
    let recommended = recommended_shm(whole, profile.unwrap_or(RECOMMENDED_PER_RANK), limit);
    if size >= recommended {
        return;
    }
    let scarce = size < SCARCE_PER_RANK.saturating_mul(i64::from(whole));
    let severity = if scarce { Severity::Warning } else { Severity::Info };
    findings.add_as(
        severity,
        format!("{path}/emptyDir/sizeLimit"),
        format!(
            "{} for {} at {SHM_PATH}; {} is recommended",
            Bytes(size),
            count(whole as usize, "accelerator"),
            Bytes(recommended)
        ),
        format!("sizeLimit: {}", Bytes(recommended)),
    );
}
