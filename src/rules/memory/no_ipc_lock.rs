//! FAB507: RDMA without leave to pin memory.

use crate::pod::Container;
use crate::pod::runs_as_root;
use crate::profile::Memlock;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB507.
pub(super) struct NoIpcLock;

static NO_IPC_LOCK: Meta = Meta {
    id: "FAB507",
    severity: Severity::Warning,
    summary: "an RDMA device without IPC_LOCK, where the profile asks for it",
    what: "A container that gets an RDMA device, does not add `IPC_LOCK` and is not privileged, under a profile whose \
           memlock limit is lifted by the capability, and that does not add it here (`inject: annotations`, annotation \
           `fabric-admission.dev/inject: \"false\"`). Without a profile it says nothing: many clusters lift the limit in the \
           container runtime, and there the capability is not needed.",
    why: "Registering memory counts against RLIMIT_MEMLOCK, which container runtimes leave at 8 MiB or less: \
          `ibv_reg_mr` and `ibv_create_cq` fail with `Cannot allocate memory` (errno 12), and NCCL falls back to TCP.",
    fix: "Add `IPC_LOCK` to `securityContext.capabilities.add`, or raise the runtime's limit on the nodes (containerd \
          unit: `LimitMEMLOCK=infinity`; then the profile says `memlock: runtime`).",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: infiniband
  attachment: none
  resources: [{name: rdma/rdma_shared_device_a, quantity: 1}]
  inject: annotations
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {drop: [ALL]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: infiniband
  attachment: none
  resources: [{name: rdma/rdma_shared_device_a, quantity: 1}]
  inject: annotations
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {drop: [ALL], add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    sources: &[
        "NVIDIA/nvidia-container-toolkit#2037 (measured)",
        "k8snetworkplumbingwg/sriov-network-device-plugin#271",
        "torvalds/linux drivers/infiniband/core/umem.c (ib_umem_get)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-001", "SEC-005"],
    waiver: Waiver::Allowed,
};

impl Rule for NoIpcLock {
    fn meta(&self) -> &'static Meta {
        &NO_IPC_LOCK
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            // Another user than root, and one in a namespace of its own, gets nothing from it (FAB502, FAB504).
            let heeded = runs_as_root(context.pod(), container) != Some(false) && !context.pod().own_users();
            if !heeded
                || !context.is_target(index)
                || has_leave(context, index, container)
                || !context.has_rdma(index)
            {
                continue;
            }
            // That the plan adds nothing for a reason is told with the reason.
            if context.plan.ipc_lock_refusal(index).is_some() {
                continue;
            }
            let profile = context.resolution.profile().map(|(p, _)| p);
            if profile.is_some_and(|p| matches!(p.memlock, Some(Memlock::IpcLock | Memlock::Nri))) {
                findings.add(
                    format!("/spec/containers/{index}/securityContext"),
                    "an RDMA device and no IPC_LOCK: the runtime's memlock limit holds, registering memory fails",
                    "add IPC_LOCK to securityContext.capabilities.add, or raise the runtime's limit",
                );
            }
        }
    }
}

/// Whether a container may pin memory, now or once the plan is carried out.
fn has_leave(context: &PodContext<'_>, index: usize, container: &Container<'_>) -> bool {
    container.privileged()
        || container.adds_capability("IPC_LOCK")
        || context.overlay.adds_ipc_lock(index)
        || context.overlay.sets_memlock(container)
}
