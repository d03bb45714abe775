//! FAB130, FAB131: addresses that several pods get.

use super::attached::attached;
use super::network::IpamText;
use crate::multus::ipam::Allocator;
use crate::rules::paths::annotation_path;
use crate::rules::{Findings, Meta, ObjectContext, PodContext, Rule, Severity, Waiver};

/// Network objects with an `ipam`.
pub(super) const WITH_IPAM: &[(&str, &str)] = &[
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
    ("mellanox.com", "MacvlanNetwork"),
    ("mellanox.com", "IPoIBNetwork"),
    ("mellanox.com", "HostDeviceNetwork"),
    ("sriovnetwork.openshift.io", "SriovNetwork"),
    ("sriovnetwork.openshift.io", "SriovIBNetwork"),
    ("sriovnetwork.openshift.io", "OVSNetwork"),
];

/// Plugins whose interfaces reach other nodes; those of `bridge` and `ptp` do not.
const ACROSS_NODES: [&str; 7] = ["sriov", "ib-sriov", "host-device", "macvlan", "ipvlan", "ipoib", "ovs"];

/// FAB130.
pub(super) struct HostLocal;

static HOST_LOCAL: Meta = Meta {
    id: "FAB130",
    severity: Severity::Warning,
    summary: "host-local addresses on a network of several nodes",
    what: "`ipam.type: host-local` in a network whose interfaces reach other nodes (`sriov`, `ib-sriov`, `host-device`, \
           `macvlan`, `ipvlan`, `ipoib`, `ovs`), and pods that attach such a network and are of a job of several pods.",
    why: "host-local keeps its leases in files of one node and begins at the same address on each: pods on different nodes \
          get the same address. RDMA connection setup reaches the pod itself or another one, and NCCL hangs or stops with \
          `connection refused`.",
    fix: "Use nv-ipam or whereabouts, which share one range among the nodes; host-local is for a single node.",
    bad: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"type": "sriov", "ipam": {"type": "host-local", "subnet": "10.56.217.0/24"}}'
"#,
    good: r#"apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: rdma-net
  annotations: {k8s.v1.cni.cncf.io/resourceName: nvidia.com/rdma_vf}
spec:
  config: '{"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.56.217.0/24"}}'
"#,
    sources: &[
        "containernetworking/plugins plugins/ipam/host-local",
        "k8snetworkplumbingwg/multus-cni #640, #1150, k8snetworkplumbingwg/sriov-network-device-plugin #338",
        "k8snetworkplumbingwg/ovs-cni #222",
    ],
    since: "0.1.0",
    kinds: WITH_IPAM,
    also: &["IPM-001"],
    waiver: Waiver::Allowed,
};

const USE: &str = "use nv-ipam or whereabouts, which share one range among the nodes";

impl Rule for HostLocal {
    fn meta(&self) -> &'static Meta {
        &HOST_LOCAL
    }
    fn object(&self, context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
        let Some(ipam) = IpamText::read(context) else { return };
        let host_local = ipam.object.get("type").and_then(serde_json::Value::as_str) == Some("host-local");
        if host_local && ACROSS_NODES.contains(&ipam.plugin.as_str()) {
            ipam.tell(
                findings,
                Severity::Warning,
                "/type",
                "host-local begins at the same address on every node: pods on two nodes get one address",
                USE,
            );
        }
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let local = |f: &crate::multus::NetworkFact| {
            f.addressing.ipam.as_ref().is_some_and(|i| i.allocator == Allocator::HostLocal)
                && f.class.plugin.as_deref().is_some_and(|p| ACROSS_NODES.contains(&p))
        };
        let Some(first) = attached(context).find(|a| a.fact.is_some_and(local)) else { return };
        let together = context.gang().filter(|g| g.several).map(|g| g.words);
        if let Some(words) = together.or_else(|| context.copies()) {
            findings.add(
                annotation_path(),
                format!(
                    "network {} has host-local addresses, the same on every node, and the pod is one of several ({words})",
                    first.told(),
                ),
                USE,
            );
        }
    }
}

/// FAB131.
pub(super) struct Fixed;

static FIXED: Meta = Meta {
    id: "FAB131",
    severity: Severity::Warning,
    summary: "one fixed address for several pods",
    what: "A pod that is one of several, by its labels or by the workload around its template, asks for `ips` in the networks annotation, or attaches a network \
           with `ipam.type: static` and `addresses` in it.",
    why: "All pods of a workload are made from one template, so each asks for the same address. The second is on the wire \
          with an address that another pod has: connections break and come back at random.",
    fix: "Let nv-ipam or whereabouts choose the address, or make each pod from a template of its own.",
    bad: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer-0
  labels: {jobset.sigs.k8s.io/jobset-name: train}
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rdma-net", "ips": ["10.1.0.7/16"]}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata:
  name: trainer-0
  labels: {jobset.sigs.k8s.io/jobset-name: train}
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "rdma-net"}]'
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "containernetworking/plugins plugins/ipam/static",
        "k8snetworkplumbingwg/multus-cni docs/how-to-use.md",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["IPM-002"],
    waiver: Waiver::Allowed,
};

impl Rule for Fixed {
    fn meta(&self) -> &'static Meta {
        &FIXED
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let mut told = attached(context).filter_map(|a| {
            let asked = a.item.requests.as_ref().and_then(|r| r.ips.first());
            let of_network = a.fact.and_then(|f| f.addressing.ipam.as_ref()).is_some_and(|i| i.fixed);
            match asked {
                Some(ip) => Some(format!("item {} asks for address {ip}", a.place)),
                None if of_network => Some(format!("network {} gives every pod the same address", a.told())),
                None => None,
            }
        });
        let Some(first) = told.next() else { return };
        if let Some(words) = context.copies() {
            findings.add(
                annotation_path(),
                format!("{first}, and the pod is one of several ({words})"),
                "let nv-ipam or whereabouts choose the address",
            );
        }
    }
}
