//! FAB508 to FAB511: what the security context does to devices and capabilities.

use crate::facts::PodSecurity;
use crate::rules::cel::{Cel, Check, Wrong};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB508.
pub(super) struct CapabilityPrefix;

static CAPABILITY_PREFIX: Meta = Meta {
    id: "FAB508",
    severity: Severity::Warning,
    summary: "capability IPC_LOCK written with the prefix CAP_",
    what: "A container that adds `CAP_IPC_LOCK` in `securityContext.capabilities.add`, and not `IPC_LOCK`.",
    why: "Kubernetes writes capabilities without the prefix. containerd puts `CAP_` before what it gets, and no kernel \
          knows `CAP_CAP_IPC_LOCK`: the container starts without it, registering memory fails with `Cannot allocate \
          memory`, and NCCL falls back to TCP. CRI-O takes both.",
    fix: "Write `IPC_LOCK`.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [CAP_IPC_LOCK]}}
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
        "containerd/containerd internal/cri/opts/spec_linux_opts.go (WithCapabilities)",
        "k8s.io/pod-security-admission policy/check_capabilities_baseline.go",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-009"],
    waiver: Waiver::Allowed,
};

impl Rule for CapabilityPrefix {
    fn meta(&self) -> &'static Meta {
        &CAPABILITY_PREFIX
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let added =
                container.security_context.as_ref().and_then(|s| s.capabilities.as_ref()?.add.as_deref());
            let added = added.unwrap_or_default();
            let has = |name: &str| added.iter().position(|c| c.eq_ignore_ascii_case(name));
            let Some(at) = has("CAP_IPC_LOCK") else { continue };
            if has("IPC_LOCK").is_none() && has("ALL").is_none() && !container.privileged() {
                findings.add(
                    format!("/spec/containers/{index}/securityContext/capabilities/add/{at}"),
                    "CAP_IPC_LOCK: containerd takes names without CAP_, so the container does not get the capability",
                    "write IPC_LOCK",
                );
            }
        }
    }
    fn cel(&self) -> Option<Cel> {
        let prefixed = "!c.?securityContext.?privileged.orValue(false) &&\n\
                        c.?securityContext.?capabilities.?add.orValue([]).exists(n, n.lowerAscii() == 'cap_ipc_lock') &&\n\
                        !c.securityContext.capabilities.add.exists(n, n.lowerAscii() in ['ipc_lock', 'all'])";
        let check = Check {
            severity: Severity::Warning,
            wrong: Wrong::Containers(prefixed.into()),
            message: "CAP_IPC_LOCK: containerd takes names without CAP_, so the container does not get the capability; \
                      write IPC_LOCK",
        };
        Some(Cel { variables: Vec::new(), checks: vec![check], beyond: None })
    }
}

/// FAB509.
pub(super) struct NodeDevices;

static NODE_DEVICES: Meta = Meta {
    id: "FAB509",
    severity: Severity::Warning,
    summary: "/dev/infiniband of the node in a container that may not open what is there",
    what: "A container that mounts a hostPath at or below `/dev/infiniband`, is not privileged, and asks for no resource \
           but accelerators, processors, memory and storage, so that no device plugin gives it leave. Containers with claims, and with \
           variable `NVIDIA_MOFED`, by which NVIDIA's container runtime gives leave, are left alone; NVIDIA's device plugin sets it \
           on every container where it runs with `mofedEnabled`, which cannot be seen here.",
    why: "A mount shows the files and gives no leave: the container's device cgroup answers `open` with `Operation not \
          permitted`. libibverbs lists devices that it cannot open, and NCCL falls back to TCP or stops.",
    fix: "Ask for the resource of the RDMA device plugin, which brings files and leave; drop the hostPath.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
    volumeMounts: [{name: verbs, mountPath: /dev/infiniband}]
  volumes:
  - name: verbs
    hostPath: {path: /dev/infiniband}
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
        "torvalds/linux Documentation/admin-guide/cgroup-v2.rst (device controller)",
        "smg-project/smg#1762",
        "NVIDIA/nvidia-container-toolkit internal/modifier (NVIDIA_MOFED)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-011"],
    waiver: Waiver::Allowed,
};

/// Directory of the device files of verbs.
const VERBS: &str = "/dev/infiniband";

impl Rule for NodeDevices {
    fn meta(&self) -> &'static Meta {
        &NODE_DEVICES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let is_verbs = |path: &str| {
            path.strip_prefix(VERBS).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let volumes: Vec<&str> = pod
            .volumes()
            .iter()
            .filter(|v| v.host_path.as_ref().and_then(|h| h.path.as_deref()).is_some_and(is_verbs))
            .filter_map(|v| v.name.as_deref())
            .collect();
        if volumes.is_empty() {
            return;
        }
        let accelerators = &context.snapshot.settings().accelerators;
        for (index, container) in pod.containers().iter().enumerate() {
            let mounts = container.volume_mounts().iter();
            let mount =
                mounts.enumerate().find(|(_, m)| m.name.as_deref().is_some_and(|n| volumes.contains(&n)));
            let Some((at, _)) = mount.filter(|_| !container.privileged()) else { continue };
            let resources = container.resource_names();
            let claims = container.resources.as_ref().and_then(|r| r.claims.as_deref());
            let leave = resources.filter(|n| n.contains('/')).any(|n| !accelerators.contains(n))
                || claims.is_some_and(|c| !c.is_empty())
                || container.env_var("NVIDIA_MOFED").is_some()
                || context.has_rdma(index);
            if !leave {
                findings.add(
                    format!("/spec/containers/{index}/volumeMounts/{at}"),
                    format!("{VERBS} of the node is mounted, but the container may not open its devices: it is neither privileged nor asks for one"),
                    "ask for the resource of the RDMA device plugin and drop the hostPath",
                );
            }
        }
    }
    fn cel(&self) -> Option<Cel> {
        let verbs = "variables.volumes.filter(v, has(v.hostPath) && v.hostPath.path.matches('^/dev/infiniband(/|$)'))\n\
                     .map(v, v.name)";
        let shut = "variables.verbsVolumes.size() > 0 && !c.?securityContext.?privileged.orValue(false) &&\n\
                    c.?volumeMounts.orValue([]).exists(m, m.name in variables.verbsVolumes) &&\n\
                    c.?resources.?limits.orValue({}).all(k, !k.contains('/') || {accelerator}) &&\n\
                    c.?resources.?claims.orValue([]).size() == 0 &&\n\
                    !c.?env.orValue([]).exists(e, e.name == 'NVIDIA_MOFED')";
        let check = Check {
            severity: Severity::Warning,
            wrong: Wrong::Containers(shut.into()),
            message: "/dev/infiniband of the node is mounted, but the container may not open its devices: it is neither \
                      privileged nor asks for one; ask for the resource of the RDMA device plugin and drop the hostPath",
        };
        Some(Cel { variables: vec![("verbsVolumes", verbs.into())], checks: vec![check], beyond: None })
    }
}

/// FAB510.
pub(super) struct PodSecurityRefuses;

static POD_SECURITY_REFUSES: Meta = Meta {
    id: "FAB510",
    severity: Severity::Warning,
    summary: "Pod Security of the namespace refuses what the pod itself asks for",
    what: "A pod, or the template of one, that adds `IPC_LOCK`, is privileged, shares the node's network, processes or IPC, or mounts a \
           hostPath, in a namespace whose label `pod-security.kubernetes.io/enforce` is `baseline` or `restricted`.",
    why: "Pod Security refuses the pod (`violates PodSecurity`). In a Job or another workload that shows only as \
          `FailedCreate` events: the workload is accepted and no pod ever appears.",
    fix: "Train in a namespace at level `privileged`, or drop what is named: where the runtime's memlock limit is \
          lifted, `IPC_LOCK` is not needed.",
    bad: r"apiVersion: v1
kind: Namespace
metadata:
  name: training
  labels: {fabric-admission.dev/mode: enforce, pod-security.kubernetes.io/enforce: baseline}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer, namespace: training}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    good: r"apiVersion: v1
kind: Namespace
metadata:
  name: training
  labels: {fabric-admission.dev/mode: enforce, pod-security.kubernetes.io/enforce: privileged}
---
apiVersion: v1
kind: Pod
metadata: {name: trainer, namespace: training}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, rdma/rdma_shared_device_a: 1}}
",
    sources: &[
        "k8s.io/pod-security-admission policy (check_capabilities_baseline.go, check_hostNamespaces.go, check_hostPathVolumes.go, check_privileged.go)",
        "kubernetes/website Pod Security Admission (workload resources are not enforced)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &[],
    waiver: Waiver::Allowed,
};

impl Rule for PodSecurityRefuses {
    fn meta(&self) -> &'static Meta {
        &POD_SECURITY_REFUSES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        // Of namespaces without the label the level is a setting of the API server, which may exempt them as well.
        let Some(level) = context.namespace_facts.and_then(|f| f.pod_security()) else { return };
        if level == PodSecurity::Privileged {
            return;
        }
        let pod = context.pod();
        let containers = pod.containers().iter().enumerate();
        let asked = containers.filter_map(|(index, container)| {
            let path = format!("/spec/containers/{index}/securityContext");
            match (container.privileged(), container.adds_capability("IPC_LOCK")) {
                (true, _) => Some((format!("{path}/privileged"), "privileged".to_owned())),
                (_, true) => Some((format!("{path}/capabilities/add"), "added IPC_LOCK".to_owned())),
                _ => None,
            }
        });
        let whole = [(pod.host_network(), "hostNetwork"), (pod.host_ipc(), "hostIPC")];
        let whole =
            whole.iter().filter(|(set, _)| *set).map(|(_, key)| (format!("/spec/{key}"), (*key).to_owned()));
        let volumes = pod.volumes().iter().enumerate().filter(|(_, v)| v.host_path.is_some());
        let volumes = volumes.map(|(index, v)| {
            let name = printable(v.name.as_deref().unwrap_or_default(), 63);
            (format!("/spec/volumes/{index}/hostPath"), format!("hostPath volume {name:?}"))
        });
        if let Some((path, what)) = asked.chain(whole).chain(volumes).next() {
            findings.add(
                path,
                format!("{what}: Pod Security {level} of namespace {} refuses the pod", context.namespace),
                "use a privileged-level namespace, or drop it",
            );
        }
    }
}

/// FAB511.
pub(super) struct Privileged;

static PRIVILEGED: Meta = Meta {
    id: "FAB511",
    severity: Severity::Warning,
    summary: "privileged together with an RDMA device of its own",
    what: "A container that asks for an RDMA device of a device plugin, is privileged as well, and does not name its \
           devices in `NCCL_IB_HCA`.",
    why: "A privileged container has every device of the node, the device that it asked for among them: NCCL finds other \
          pods' virtual functions and the node's own NICs, whose GIDs are not those of the pod's addresses, and stops \
          with `Failed to modify QP to RTR` or shares a NIC that was meant for others.",
    fix: "Drop `privileged`; `IPC_LOCK` is all that RDMA needs. Where it must stay, name the devices in `NCCL_IB_HCA`.",
    bad: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {privileged: true}
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rdma_vf: 1}}
",
    good: r"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources: {limits: {nvidia.com/gpu: 1, nvidia.com/rdma_vf: 1}}
",
    sources: &[
        "oracle-quickstart/oci-hpc-oke manifests (privileged beside nvidia.com/rdma-vf)",
        "containerd/containerd internal/cri/server (privileged devices)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["SEC-010"],
    waiver: Waiver::Allowed,
};

impl Rule for Privileged {
    fn meta(&self) -> &'static Meta {
        &PRIVILEGED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            if container.privileged() && context.has_rdma(index) && !names_devices(context, index) {
                findings.add(
                    format!("/spec/containers/{index}/securityContext/privileged"),
                    "privileged beside an RDMA device: the container sees every NIC of the node, other pods' among them",
                    "drop privileged and add IPC_LOCK, or name the devices in NCCL_IB_HCA",
                );
            }
        }
    }
    fn cel(&self) -> Option<Cel> {
        let privileged = "c.?securityContext.?privileged.orValue(false) && {rdma} &&\n\
                          !c.?env.orValue([]).exists(e, e.name == 'NCCL_IB_HCA') &&\n\
                          !('fabric-admission.dev/file.nccl.conf' in variables.annotations)";
        let check = Check {
            severity: Severity::Warning,
            wrong: Wrong::Containers(privileged.into()),
            message: "privileged beside an RDMA device: the container sees every NIC of the node, other pods' among \
                      them; drop privileged and add IPC_LOCK, or name the devices in NCCL_IB_HCA",
        };
        let beyond =
            Some("resources that only a profile knows to be RDMA, and what stands in /etc/nccl.conf");
        Some(Cel { variables: Vec::new(), checks: vec![check], beyond })
    }
}

/// Whether an app container says which devices NCCL is to use, itself or by what is planned.
fn names_devices(context: &PodContext<'_>, index: usize) -> bool {
    let container = context.pod().containers().get(index);
    container.is_some_and(|c| context.overlay.variable(index, c, "NCCL_IB_HCA").is_some())
}
