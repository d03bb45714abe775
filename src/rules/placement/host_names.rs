//! FAB704: pods of one job that share a node and its host name.

use crate::pod::PodView;
use crate::pod::view::Ignored;
use crate::rules::{Findings, Meta, Rule, Severity, Waiver, WorkloadContext};
use crate::text::printable;

/// FAB704.
pub(super) struct HostNames;

static HOST_NAMES: Meta = Meta {
    id: "FAB704",
    severity: Severity::Warning,
    summary: "pods of one workload may share a node and a host name",
    what: "A workload makes several pods that run on the node's network (`hostNetwork`) or have a fixed `hostname`, each \
           with at most half of a node's accelerators as its profile counts them, and nothing keeps two of them from one \
           node: no required pod anti-affinity and, on the node's network, no port that both would take. Pods with \
           `NCCL_HOSTID` are left alone.",
    why: "NCCL tells hosts apart by host name and boot id. It takes the two pods for one host and tries peer-to-peer \
          access between containers that cannot see each other's devices; and both bind the same ports, such as 29500.",
    fix: "Give each pod a whole node, keep them apart by a required pod anti-affinity on `kubernetes.io/hostname`, or set \
          `NCCL_HOSTID` from `metadata.name` by `fieldRef` and ports of their own.",
    bad: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {transport: roce, attachment: host-network}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    metadata:
      annotations: {fabric-admission.dev/profile: site}
    spec:
      hostNetwork: true
      dnsPolicy: ClusterFirstWithHostNet
      restartPolicy: Never
      containers:
      - name: trainer
        image: example.com/trainer:1
        securityContext: {capabilities: {add: [IPC_LOCK]}}
        resources: {limits: {nvidia.com/gpu: 1}}
"#,
    good: r#"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: site}
spec: {transport: roce, attachment: host-network}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    metadata:
      labels: {app: train}
      annotations: {fabric-admission.dev/profile: site}
    spec:
      hostNetwork: true
      dnsPolicy: ClusterFirstWithHostNet
      restartPolicy: Never
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector: {matchLabels: {app: train}}
      containers:
      - name: trainer
        image: example.com/trainer:1
        securityContext: {capabilities: {add: [IPC_LOCK]}}
        resources: {limits: {nvidia.com/gpu: 1}}
"#,
    sources: &[
        "NVIDIA/nccl src/misc/utils.cc (getHostHash), issues 326 and 1647",
        "kubernetes/kubernetes pkg/scheduler/framework/plugins/nodeports",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB53", "HNT-004"],
    waiver: Waiver::Allowed,
};

impl Rule for HostNames {
    fn meta(&self) -> &'static Meta {
        &HOST_NAMES
    }
    fn workload(&self, context: &WorkloadContext<'_>, findings: &mut Findings<'_>) {
        for (template, asked) in context.asked() {
            let Some(pods) = template.pods.filter(|pods| *pods > 1) else { continue };
            let pod = template.pod;
            let hostname = pod.spec.as_ref().and_then(|s| s.hostname.as_deref()).filter(|h| !h.is_empty());
            // The controller of an indexed Job writes a host name of its own into each pod.
            let fixed = hostname.filter(|_| context.maker.kind != "Job" && context.maker.kind != "CronJob");
            if !pod.host_network() && fixed.is_none() {
                continue;
            }
            let Some((profile, _)) = asked.resolution.profile() else { continue };
            let whole = profile.accelerators_per_node;
            let Some(each) = asked.demands.whole().filter(|n| *n > 0 && n.saturating_mul(2) <= whole) else {
                continue;
            };
            let named = |(index, c)| asked.overlay.variable(index, c, "NCCL_HOSTID").is_some();
            if kept_apart(pod) || pod.containers().iter().enumerate().any(named) {
                continue;
            }
            let (path, shared) = match fixed.filter(|_| !pod.host_network()) {
                Some(name) => ("/spec/hostname", format!("all have the host name {:?}", printable(name, 63))),
                None => ("/spec/hostNetwork", "have the node's host name and ports".to_owned()),
            };
            findings.add(
                format!("{}{path}", template.pointer),
                format!(
                    "{pods} pods with {each} of a node's {whole} accelerators (profile {}) may share a node, and {shared}",
                    profile.name
                ),
                "keep them apart by a required pod anti-affinity, or set NCCL_HOSTID from metadata.name",
            );
        }
    }
}

/// Whether the scheduler puts no two of these pods on one node. On the node's network every port that a container names
/// is one of the node's.
fn kept_apart(pod: &PodView<'_>) -> bool {
    let given = |list: &[Ignored]| !list.is_empty();
    let apart = pod.affinity().and_then(|a| a.pod_anti_affinity.as_ref()?.required.as_deref());
    let ports = pod.containers().iter().any(|c| c.ports.as_deref().is_some_and(given));
    apart.is_some_and(given) || pod.host_network() && ports
}
