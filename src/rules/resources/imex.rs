//! FAB251: accelerators of one NVLink domain without a channel between their nodes.

use crate::nodes::{Relation, Requirement, Values};
use crate::plan::overlay::Variable;
use crate::pod::gang::multi_node;
use crate::rules::placement::landing::with_accelerators;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB251.
pub(super) struct NoChannel;

/// Label of nodes whose accelerators are in one NVLink domain (NVIDIA/k8s-device-plugin, gpu-feature-discovery).
const CLIQUE: &str = "nvidia.com/gpu.clique";

macro_rules! on_rack {
    ($claims:literal, $used:literal) => {
        concat!(
            "apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {kubernetes.io/hostname: gpu-1, nvidia.com/gpu.clique: 4a1e.1}}
status: {allocatable: {nvidia.com/gpu: '4'}}
---
apiVersion: v1
kind: Pod
metadata:
  name: trainer
  labels: {jobset.sigs.k8s.io/jobset-name: llm}
spec:
",
            $claims,
            "  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {nvidia.com/gpu: 1}",
            $used,
            "}
"
        )
    };
}

static NO_CHANNEL: Meta = Meta {
    id: "FAB251",
    severity: Severity::Warning,
    summary: "pods of a gang on NVLink racks without a ComputeDomain channel",
    what: "All nodes that the pod can land on are in NVLink domains over several nodes (label `nvidia.com/gpu.clique`), the \
           pod is one of several, and it has no claim at all, so none on an IMEX channel. Silent where \
           `NCCL_MNNVL_ENABLE` is 0.",
    why: "Without a channel a process cannot map memory of another node: NCCL leaves NVLink between nodes unused and takes \
          the NICs, at a tenth of the bandwidth; with `NCCL_MNNVL_ENABLE=1` it stops.",
    fix: "Make a ComputeDomain for the job and claim its channel template, or set `NCCL_MNNVL_ENABLE=0` to say that the \
          NICs are meant.",
    bad: on_rack!("", ""),
    good: on_rack!(
        "  resourceClaims: [{name: channel, resourceClaimTemplateName: llm-channel}]\n",
        ", claims: [{name: channel}]"
    ),
    sources: &["NVIDIA/k8s-dra-driver-gpu README.md (ComputeDomain)", "NVIDIA/nccl src/mnnvl.cc"],
    since: "0.1.0",
    kinds: &[],
    also: &["DRA-008"],
    waiver: Waiver::Allowed,
};

impl Rule for NoChannel {
    fn meta(&self) -> &'static Meta {
        &NO_CHANNEL
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let pod = context.pod();
        let classes = context.snapshot.nodes().classes();
        let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        if !classes.has_key(CLIQUE) || !claims.is_empty() {
            return;
        }
        let off = |(index, container)| {
            matches!(
                context.overlay.variable(index, container, "NCCL_MNNVL_ENABLE"),
                Some(Variable::Value("0"))
            )
        };
        let Some(gang) = multi_node(pod).filter(|gang| gang.several) else { return };
        if pod.containers().iter().enumerate().any(off) {
            return;
        }
        let Some(set) = with_accelerators(context) else { return };
        let mut racks = set.clone();
        let exists = Requirement { key: CLIQUE, relation: Relation::Exists, values: Values::Texts(&[]) };
        classes.retain(&mut racks, exists);
        if racks == set {
            findings.add(
                "/spec",
                format!(
                    "{}, on nodes with {CLIQUE}, without a claim on an IMEX channel: no NVLink between nodes",
                    gang.words
                ),
                "claim the channel of a ComputeDomain, or set NCCL_MNNVL_ENABLE=0",
            );
        }
    }
}
