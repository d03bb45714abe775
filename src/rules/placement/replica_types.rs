//! FAB701 and FAB702: the pods of one job that differ where all ranks must be alike.

use crate::plan::overlay::Variable;
use crate::pod::shell::sets_variable;
use crate::pod::view::Container;
use crate::rules::{Asked, Findings, Meta, Rule, Severity, Waiver, WorkloadContext, WorkloadTemplate};
use crate::text::{count, printable};

/// FAB701.
pub(super) struct Variables;

static VARIABLES: Meta = Meta {
    id: "FAB701",
    severity: Severity::Warning,
    summary: "a variable that all ranks must share differs between replica types",
    what: "Two replica types of a training job or a LeaderWorkerSet, both with accelerators, have different values of a \
           variable of NCCL that every rank must have alike, such as `NCCL_ALGO`, `NCCL_NET` or `NCCL_IB_DISABLE`; or one \
           of them has a value other than NCCL's default and the other has none. Variables that come from elsewhere \
           (`valueFrom`, `envFrom`) and ranks that mpirun starts are left alone.",
    why: "Ranks choose algorithms and transports by themselves and expect the others to choose the same: the job hangs in \
          its first collective, or one rank waits for a connection that no other opens.",
    fix: "Set the same value in every replica type, or in none.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        metadata:
          annotations: {fabric-admission.dev/profile: site}
        spec:
          containers:
          - name: pytorch
            image: example.com/trainer:1
            env:
            - {name: NCCL_CROSS_NIC, value: "0"}
            resources: {limits: {nvidia.com/gpu: 1}}
    Worker:
      replicas: 3
      template:
        metadata:
          annotations: {fabric-admission.dev/profile: site}
        spec:
          containers:
          - name: pytorch
            image: example.com/trainer:1
            env:
            - {name: NCCL_CROSS_NIC, value: "1"}
            resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec:
  base: ethernet-tcp
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        metadata:
          annotations: {fabric-admission.dev/profile: site}
        spec:
          containers:
          - name: pytorch
            image: example.com/trainer:1
            env:
            - {name: NCCL_CROSS_NIC, value: "0"}
            resources: {limits: {nvidia.com/gpu: 1}}
    Worker:
      replicas: 3
      template:
        metadata:
          annotations: {fabric-admission.dev/profile: site}
        spec:
          containers:
          - name: pytorch
            image: example.com/trainer:1
            env:
            - {name: NCCL_CROSS_NIC, value: "0"}
            resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &["NVIDIA/nccl issues 394, 626, 743, 1277", "NVIDIA/nccl src/init.cc (initTransportsRank)"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB36"],
    waiver: Waiver::Allowed,
};

/// Variables that every rank must have alike, and the value that stands for none where NCCL's default is one.
const SHARED: &[(&str, Option<&str>)] = &[
    ("NCCL_ALGO", None),
    ("NCCL_BUFFSIZE", None),
    ("NCCL_CHUNK_SIZE", None),
    ("NCCL_COLLNET_ENABLE", None),
    ("NCCL_CROSS_NIC", Some("2")),
    ("NCCL_CTA_POLICY", None),
    ("NCCL_CUMEM_ENABLE", None),
    ("NCCL_IB_ADDR_FAMILY", Some("AF_INET")),
    ("NCCL_IB_DISABLE", Some("0")),
    ("NCCL_IB_MERGE_NICS", Some("1")),
    ("NCCL_IB_QPS_PER_CONNECTION", Some("1")),
    ("NCCL_IB_ROCE_VERSION_NUM", Some("2")),
    ("NCCL_IB_SL", None),
    ("NCCL_IB_SPLIT_DATA_ON_QPS", Some("0")),
    ("NCCL_IB_TC", None),
    ("NCCL_LL128_BUFFSIZE", None),
    ("NCCL_LL_BUFFSIZE", None),
    ("NCCL_MAX_CTAS", None),
    ("NCCL_MAX_NCHANNELS", None),
    ("NCCL_MIN_CTAS", None),
    ("NCCL_MIN_NCHANNELS", None),
    ("NCCL_MNNVL_ENABLE", Some("2")),
    ("NCCL_NCHANNELS_PER_NET_PEER", None),
    ("NCCL_NET", None),
    ("NCCL_NETDEVS_POLICY", None),
    ("NCCL_NET_GDR_LEVEL", None),
    ("NCCL_NET_PLUGIN", None),
    ("NCCL_NTHREADS", None),
    ("NCCL_NVLSTREE_MAX_CHUNKSIZE", None),
    ("NCCL_NVLS_CHUNKSIZE", Some("131072")),
    ("NCCL_NVLS_ENABLE", Some("2")),
    ("NCCL_OOB_NET_ENABLE", None),
    ("NCCL_P2P_NET_CHUNKSIZE", Some("131072")),
    ("NCCL_P2P_SCHEDULE_GROUP_SIZE", None),
    ("NCCL_PAT_ENABLE", Some("2")),
    ("NCCL_PROTO", None),
    ("NCCL_RUNTIME_CONNECT", Some("1")),
    ("NCCL_SOCKET_FAMILY", None),
    ("NCCL_SOCKET_MAGIC", None),
    ("NCCL_WIN_ENABLE", None),
];

/// Whether the replica types of a kind make one world of ranks, each with the variables of its own container. The
/// groups of others, such as RayCluster and JobSet, may be jobs of their own; ranks of an MPIJob get what mpirun hands
/// on.
fn is_one_world(context: &WorkloadContext<'_>) -> bool {
    matches!(
        (context.maker.group.as_str(), context.maker.kind.as_str()),
        ("kubeflow.org", "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob" | "MXJob")
            | ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
    )
}

/// A variable as one replica type has it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Given<'a> {
    Value(&'a str),
    Absent,
    /// Taken from elsewhere, or set in shell text.
    Unknown,
}

/// The first container with accelerators: its ranks.
fn ranks<'a>(asked: Asked<'a>) -> Option<(usize, &'a Container<'a>)> {
    let containers = asked.overlay.pod().containers().iter().enumerate();
    containers.into_iter().find(|(index, _)| asked.demands.app(*index).any)
}

fn given<'a>(asked: Asked<'a>, index: usize, container: &'a Container<'a>, name: &str) -> Given<'a> {
    if container.shell_text().any(|text| sets_variable(text, name)) {
        return Given::Unknown;
    }
    match asked.overlay.variable(index, container, name) {
        Some(Variable::Value(value)) => Given::Value(value),
        Some(Variable::Unknown) => Given::Unknown,
        None if container.env_from.as_ref().is_some_and(|sources| !sources.is_empty()) => Given::Unknown,
        // A script may set anything.
        None if container.shell_text().any(|text| text.contains("source ") || text.contains("nccl")) => {
            Given::Unknown
        }
        None => Given::Absent,
    }
}

impl Rule for Variables {
    fn meta(&self) -> &'static Meta {
        &VARIABLES
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        if context.templates.len() < 2 || !is_one_world(context) {
            return;
        }
        let mut roles = context.asked().filter_map(|(t, asked)| Some((t, asked, ranks(asked)?)));
        let Some((first, first_asked, (first_index, first_container))) = roles.next() else { return };
        for (template, asked, (index, container)) in roles {
            for (name, default) in SHARED {
                let here = given(asked, index, container, name);
                let there = given(first_asked, first_index, first_container, name);
                let words = |given: &Given<'_>| match given {
                    Given::Value(value) => printable(value, 40),
                    _ => "unset".to_owned(),
                };
                let differs = match (&here, &there) {
                    (Given::Unknown, _) | (_, Given::Unknown) | (Given::Absent, Given::Absent) => false,
                    (Given::Value(a), Given::Value(b)) => a.trim() != b.trim(),
                    // Of a default that depends on the version or the machine nothing is said.
                    (Given::Value(value), Given::Absent) | (Given::Absent, Given::Value(value)) => {
                        default.is_some_and(|default| value.trim() != default)
                    }
                };
                if differs {
                    let at = match container.env_var(name) {
                        Some((nth, _)) => format!("/env/{nth}"),
                        None => String::new(),
                    };
                    findings.add(
                        format!("{}/spec/containers/{index}{at}", template.pointer),
                        format!(
                            "{name} is {} in {} and {} in {}: all ranks must have it alike",
                            words(&there),
                            printable(first.name(), 63),
                            words(&here),
                            printable(template.name(), 63)
                        ),
                        format!("set {name} to one value in both, or in none"),
                    );
                }
            }
        }
    }
}

/// FAB702.
pub(super) struct Devices;

static DEVICES: Meta = Meta {
    id: "FAB702",
    severity: Severity::Warning,
    summary: "replica types with as many accelerators and different numbers of RDMA devices",
    what: "Two replica types of a training job or a LeaderWorkerSet have the same number of accelerators a pod and, with \
           what would be injected, different numbers of RDMA devices. Resources count as RDMA by the profile or by their \
           names.",
    why: "NCCL pairs the NICs of two ranks one to one. Ranks that have fewer, or none, make the job hang, or slow it to \
          the path of the poorest rank.",
    fix: "Ask for the same devices in every replica type that has accelerators.",
    bad: r"apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - name: server
          image: example.com/server:1
          securityContext: {capabilities: {add: [IPC_LOCK]}}
          resources: {limits: {nvidia.com/gpu: 1, rdma/ib: 1}}
    workerTemplate:
      spec:
        containers:
        - name: server
          image: example.com/server:1
          securityContext: {capabilities: {add: [IPC_LOCK]}}
          resources: {limits: {nvidia.com/gpu: 1}}
",
    good: r"apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - name: server
          image: example.com/server:1
          securityContext: {capabilities: {add: [IPC_LOCK]}}
          resources: {limits: {nvidia.com/gpu: 1, rdma/ib: 1}}
    workerTemplate:
      spec:
        containers:
        - name: server
          image: example.com/server:1
          securityContext: {capabilities: {add: [IPC_LOCK]}}
          resources: {limits: {nvidia.com/gpu: 1, rdma/ib: 1}}
",
    sources: &["NVIDIA/nccl issue 2428"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB37"],
    waiver: Waiver::Allowed,
};

impl Rule for Devices {
    fn meta(&self) -> &'static Meta {
        &DEVICES
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        if context.templates.len() < 2 || !is_one_world(context) {
            return;
        }
        let counted = |(template, asked): (&'_ WorkloadTemplate<'_>, Asked<'_>)| {
            // Claims bring devices that are not counted here; on the node's network a pod has all of its NICs.
            let elsewhere = asked.demands.network_claim() || template.pod.host_network();
            let accelerators = asked.demands.whole().filter(|n| *n > 0 && !elsewhere)?;
            Some((template.pointer.to_owned(), template.name().to_owned(), accelerators, asked.rdma_units()))
        };
        let mut roles = context.asked().filter_map(counted);
        let Some((_, first, first_accelerators, first_units)) = roles.next() else { return };
        for (pointer, name, accelerators, units) in roles {
            if accelerators == first_accelerators && units != first_units {
                findings.add(
                    format!("{pointer}/spec/containers"),
                    format!(
                        "pods of {} get {} and those of {} {first_units}, with {} each",
                        printable(&name, 63),
                        count(usize::try_from(units).unwrap_or(0), "RDMA device"),
                        printable(&first, 63),
                        count(usize::try_from(accelerators).unwrap_or(usize::MAX), "accelerator")
                    ),
                    "ask for the same devices in both",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SHARED;
    use crate::nccl::table;

    #[test]
    fn the_list_is_the_tables() {
        let listed = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
        let uniform = table::all().filter(|v| v.uniform == Some(true) && v.family == "nccl");
        let missing: Vec<&str> = uniform.map(|v| v.name).filter(|name| !listed(name)).collect();
        // These two are told wherever they stand (FAB420, FAB416).
        assert_eq!(missing, ["NCCL_COMM_ID", "NCCL_GRAPH_FILE"]);
        for (name, _) in SHARED {
            assert_eq!(table::find(name).and_then(|v| v.uniform), Some(true), "{name}");
        }
    }
}
