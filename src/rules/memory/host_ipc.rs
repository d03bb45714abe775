//! FAB512: shared memory of the node.

use crate::plan::SHM_PATH;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB512.
pub(super) struct HostIpc;

static HOST_IPC: Meta = Meta {
    id: "FAB512",
    severity: Severity::Info,
    summary: "hostIPC beside accelerators",
    what: "A pod with `hostIPC: true` whose containers ask for accelerators. Without a mount at `/dev/shm` they use the \
           node's; with one they have their own all the same, and `hostIPC` serves other kinds of IPC alone.",
    why: "Segments of jobs that were killed stay in the node's `/dev/shm` until the node starts anew, and are of other jobs' \
          making: `No space left on device` then has nothing to do with the pod that sees it. Pod Security refuses \
          hostIPC at `baseline`.",
    fix: "Drop `hostIPC` and mount an emptyDir with `medium: Memory` at /dev/shm.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  hostIPC: true
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
        "kubernetes/enhancements KEP-1967",
        "k8s.io/pod-security-admission policy/check_hostNamespaces.go",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SHM-009"],
    waiver: Waiver::Allowed,
};

impl Rule for HostIpc {
    fn meta(&self) -> &'static Meta {
        &HOST_IPC
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        if !pod.host_ipc() {
            return;
        }
        let mut asking =
            pod.containers().iter().enumerate().filter(|(index, _)| context.demands.app(*index).any);
        let Some((_, first)) = asking.next() else { return };
        let own = first.mount_at(SHM_PATH).is_some() && asking.all(|(_, c)| c.mount_at(SHM_PATH).is_some());
        let message = match own {
            true => format!(
                "hostIPC with a volume at {SHM_PATH}: the volume is what is used, hostIPC is not needed for it"
            ),
            false => format!("hostIPC: {SHM_PATH} is the node's own, with what other jobs left there"),
        };
        findings.add("/spec/hostIPC", message, "drop hostIPC and mount an emptyDir with medium: Memory");
    }
}
