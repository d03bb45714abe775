//! FAB502 to FAB504: why a container cannot pin memory, whatever is added.

use crate::plan::IpcLockRefusal;
use crate::pod::Container;
use crate::pod::runs_as_root;
use crate::profile::Memlock;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// Whether the container's memlock limit is lifted another way: by its profile's runtime, or by the NRI plugin.
fn is_lifted(context: &PodContext<'_>, container: &Container<'_>) -> bool {
    let profile = context.resolution.profile().map(|(p, _)| p);
    profile.is_some_and(|p| p.memlock == Some(Memlock::Runtime)) || context.overlay.sets_memlock(container)
}

/// Whether a container adds the capability for RDMA, and needs it.
fn adds(context: &PodContext<'_>, index: usize, container: &Container<'_>) -> bool {
    container.adds_capability("IPC_LOCK")
        && !container.privileged()
        && context.has_rdma(index)
        && !is_lifted(context, container)
}

/// FAB502.
pub(super) struct IpcLockNonRoot;

static IPC_LOCK_NON_ROOT: Meta = Meta {
    id: "FAB502",
    severity: Severity::Warning,
    summary: "IPC_LOCK does nothing for a container that runs as another user than root",
    what: "A container that runs as non-root (`runAsUser`, `runAsNonRoot`, its own or the pod's) and adds `IPC_LOCK`, or \
           that a profile would give it to. The capability is not added then.",
    why: "The kernel clears the capabilities of a non-root process at exec, and Kubernetes has no ambient ones: \
          memlock stays at the runtime's limit (8 MiB or less), registration fails with `Cannot allocate memory` \
          (ibv_reg_mr, errno 12), and NCCL falls back to TCP.",
    fix: "Raise the runtime's limit on the nodes (containerd unit: `LimitMEMLOCK=infinity`; then the profile says \
          `memlock: runtime`), or install containerd's NRI plugin ulimit-adjuster (`memlock: nri`), or run as root.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  securityContext: {runAsUser: 1000}
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {runAsUser: 0, capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    sources: &[
        "NVIDIA/nvidia-container-toolkit#2037 (measured)",
        "kubernetes/kubernetes#56374",
        "kubernetes/enhancements KEP-2763",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-003", "NB39"],
    waiver: Waiver::Allowed,
};

impl Rule for IpcLockNonRoot {
    fn meta(&self) -> &'static Meta {
        &IPC_LOCK_NON_ROOT
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let refused = context.plan.ipc_lock_refusal(index) == Some(&IpcLockRefusal::NonRoot);
            let added =
                runs_as_root(context.pod(), container) == Some(false) && adds(context, index, container);
            if !refused && !added {
                continue;
            }
            let message = if refused {
                "IPC_LOCK is not added: the container runs as non-root, where it has no effect; memlock stays at the runtime's limit"
            } else {
                "IPC_LOCK has no effect: the container runs as non-root; memlock stays at the runtime's limit"
            };
            findings.add(
                format!("/spec/containers/{index}/securityContext"),
                message,
                "raise the runtime's limit (containerd: LimitMEMLOCK=infinity), or run as root",
            );
        }
    }
}

/// FAB503.
pub(super) struct IpcLockPodSecurity;

static IPC_LOCK_POD_SECURITY: Meta = Meta {
    id: "FAB503",
    severity: Severity::Warning,
    summary: "IPC_LOCK is not added because Pod Security would reject the pod",
    what: "A container that a profile would give `IPC_LOCK`, in a namespace that enforces Pod Security at `baseline` or \
           `restricted`, or that has no label where `--pod-security-default` says so.",
    why: "Pod Security is checked after mutation and lets no pod with added IPC_LOCK through, so adding it would turn an \
          admitted pod into a rejected one. Without it, and with the runtime's default memlock limit, memory \
          registration fails and NCCL falls back to TCP.",
    fix: "Raise the runtime's memlock limit on the nodes (containerd unit: `LimitMEMLOCK=infinity`; then the profile \
          says `memlock: runtime`), or install containerd's NRI plugin ulimit-adjuster (`memlock: nri`), or train in a \
          namespace at level `privileged`.",
    bad: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: infiniband
  attachment: none
---
apiVersion: v1
kind: Namespace
metadata:
  name: training
  labels: {fabric-admission.dev/mode: enforce, pod-security.kubernetes.io/enforce: baseline}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  transport: infiniband
  attachment: none
---
apiVersion: v1
kind: Namespace
metadata:
  name: training
  labels: {fabric-admission.dev/mode: enforce, pod-security.kubernetes.io/enforce: privileged}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  namespace: training
  annotations: {fabric-admission.dev/profile: site}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
",
    sources: &["k8s.io/pod-security-admission policy/check_capabilities_baseline.go"],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-002"],
    waiver: Waiver::Allowed,
};

impl Rule for IpcLockPodSecurity {
    fn meta(&self) -> &'static Meta {
        &IPC_LOCK_POD_SECURITY
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, refusal) in &context.plan.ipc_lock_refusals {
            if let IpcLockRefusal::PodSecurity(level) = refusal {
                findings.add(
                    format!("/spec/containers/{index}/securityContext"),
                    format!("IPC_LOCK is not added: Pod Security {level} of namespace {} would reject the pod", context.namespace),
                    "raise the runtime's limit (containerd: LimitMEMLOCK=infinity), or use a privileged-level namespace",
                );
            }
        }
    }
}

/// FAB504.
pub(super) struct IpcLockUserNamespace;

static IPC_LOCK_USER_NAMESPACE: Meta = Meta {
    id: "FAB504",
    severity: Severity::Warning,
    summary: "IPC_LOCK does nothing in a pod with a user namespace of its own",
    what: "A container that adds `IPC_LOCK`, or that a profile would give it to, in a pod with `hostUsers: false`. The \
           capability is not added then. Read in the kernel's source, not measured.",
    why: "The kernel asks for the capability in the first user namespace when memory is pinned, and a capability in the \
          pod's own does not count there: memlock stays at the runtime's limit, registration fails with `Cannot \
          allocate memory` (ibv_reg_mr, errno 12), and NCCL falls back to TCP.",
    fix: "Drop `hostUsers: false`, or raise the runtime's limit on the nodes (containerd unit: \
          `LimitMEMLOCK=infinity`; then the profile says `memlock: runtime`), or install containerd's NRI plugin \
          ulimit-adjuster (`memlock: nri`).",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  hostUsers: false
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    sources: &[
        "torvalds/linux drivers/infiniband/core/umem.c (ib_umem_get), kernel/capability.c (capable)",
        "kubernetes/enhancements KEP-127",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-006"],
    waiver: Waiver::Allowed,
};

impl Rule for IpcLockUserNamespace {
    fn meta(&self) -> &'static Meta {
        &IPC_LOCK_USER_NAMESPACE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let refused = context.plan.ipc_lock_refusal(index) == Some(&IpcLockRefusal::UserNamespace);
            // Of another user than root FAB502 tells.
            let added = context.pod().own_users()
                && runs_as_root(context.pod(), container) != Some(false)
                && adds(context, index, container);
            if !refused && !added {
                continue;
            }
            let what = if refused { "IPC_LOCK is not added" } else { "IPC_LOCK has no effect" };
            findings.add(
                "/spec/hostUsers",
                format!("{what} in container {:?}: with hostUsers: false the kernel ignores it; memlock stays at the runtime's limit", container.name()),
                "drop hostUsers: false, or raise the runtime's limit (containerd: LimitMEMLOCK=infinity)",
            );
        }
    }
}
