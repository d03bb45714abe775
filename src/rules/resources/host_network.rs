//! FAB260, FAB261: pods in the node's network namespace.

use crate::rules::examples::{node_state, pod};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB260.
pub(super) struct UnusedDevice;

static UNUSED_DEVICE: Meta = Meta {
    id: "FAB260",
    severity: Severity::Warning,
    summary: "hostNetwork together with an SR-IOV device",
    what: "A pod with `hostNetwork: true` holds units of a resource that an SR-IOV device plugin serves.",
    why: "No CNI plugin is called for the pod: the function is reserved, stays on the host without an address, and other \
          pods lack it. NCCL in the pod sees the physical functions beside it and may use either.",
    fix: "Drop `hostNetwork` and name the network of the resource, or drop the resource and use the node's NICs.",
    bad: concat!(
        node_state!("shared"),
        pod!(metadata: "", spec: "  hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet\n", limits: ", openshift.io/rdma_vf: 1", container: "")
    ),
    good: concat!(
        node_state!("shared"),
        pod!(metadata: "", spec: "  hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet\n", limits: "", container: "")
    ),
    sources: &["k8snetworkplumbingwg/multus-cni#1091", "skypilot-org/skypilot#10554"],
    since: "0.1.0",
    kinds: &[],
    also: &["HNT-002"],
    waiver: Waiver::Allowed,
};

impl Rule for UnusedDevice {
    fn meta(&self) -> &'static Meta {
        &UNUSED_DEVICE
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        if !context.pod().host_network() {
            return;
        }
        for held in context.devices().held.iter().filter(|held| held.fact.shared == Some(false)) {
            findings.add(
                held.path(),
                format!(
                    "{} of {} is reserved and never configured: hostNetwork pods reach no CNI plugin",
                    printable(held.name, 63),
                    held.fact.told(context.tenant_view)
                ),
                "drop hostNetwork and name the resource's network, or drop the resource",
            );
        }
    }
}

/// FAB261.
pub(super) struct NodeDns;

static NODE_DNS: Meta = Meta {
    id: "FAB261",
    severity: Severity::Warning,
    summary: "hostNetwork pod of a gang that cannot resolve service names",
    what: "A pod with `hostNetwork: true` of a controller whose pods find one another by service names (JobSet, \
           LeaderWorkerSet, training-operator, mpi-operator), without `dnsPolicy: ClusterFirstWithHostNet` or a DNS of \
           its own (`dnsPolicy: None`).",
    why: "With hostNetwork `ClusterFirst`, the default, means the node's DNS: names such as `MASTER_ADDR` do not resolve \
          (`Name or service not known`), and the ranks wait for rank 0 until they give up.",
    fix: "Set `dnsPolicy: ClusterFirstWithHostNet`.",
    bad: pod!(metadata: "  labels: {jobset.sigs.k8s.io/jobset-name: llm}\n", spec: "  hostNetwork: true\n", limits: "", container: ""),
    good: pod!(metadata: "  labels: {jobset.sigs.k8s.io/jobset-name: llm}\n", spec: "  hostNetwork: true\n  dnsPolicy: ClusterFirstWithHostNet\n", limits: "", container: ""),
    sources: &[
        "kubernetes/kubernetes pkg/kubelet/network/dns/dns.go (getPodDNSType)",
        "kubernetes-sigs/jobset docs (pods by the names of the headless service)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["HNT-003"],
    waiver: Waiver::Allowed,
};

/// Labels of controllers whose pods find one another by the names of a service.
const BY_SERVICE: [&str; 4] = [
    "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.sigs.k8s.io/name",
    "training.kubeflow.org/job-name",
    "mpi-job-name",
];

impl Rule for NodeDns {
    fn meta(&self) -> &'static Meta {
        &NODE_DNS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        if !pod.host_network() {
            return;
        }
        let policy = pod.spec.as_ref().and_then(|s| s.dns_policy.as_deref()).unwrap_or("ClusterFirst");
        let labels = pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
        let by_service = labels.is_some_and(|l| BY_SERVICE.iter().any(|key| l.get(key).is_some()));
        if by_service && matches!(policy, "ClusterFirst" | "Default" | "") {
            findings.add(
                "/spec/dnsPolicy",
                format!("with hostNetwork dnsPolicy {policy} is the node's DNS: names of services, such as MASTER_ADDR, do not resolve"),
                "dnsPolicy: ClusterFirstWithHostNet",
            );
        }
    }
}
