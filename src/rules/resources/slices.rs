//! FAB229: slices of an accelerator beside RDMA devices.

use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB229.
pub(super) struct Slices;

macro_rules! slice {
    ($limits:literal) => {
        concat!(
            "apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    resources: {limits: {",
            $limits,
            "}}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
"
        )
    };
}

static SLICES: Meta = Meta {
    id: "FAB229",
    severity: Severity::Info,
    summary: "slices or shares of an accelerator beside an RDMA device",
    what: "A container asks slices of accelerators (MIG) or shares of them in time, no whole one, and holds an RDMA \
           device.",
    why: "NCCL takes one rank for each GPU: two slices of one GPU in a communicator end in `Duplicate GPU detected`, and \
          shares of one GPU wait for one another. The RDMA device is gone for a pod that could use it.",
    fix: "Ask whole accelerators for training over several nodes; drop the RDMA device otherwise.",
    bad: slice!("nvidia.com/mig-1g.10gb: 1, rdma/ib: 1"),
    good: slice!("nvidia.com/gpu: 1, rdma/ib: 1"),
    sources: &[
        "NVIDIA/nccl src/init.cc (Duplicate GPU detected)",
        "NVIDIA MIG user guide, application considerations",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["XOB-021"],
    waiver: Waiver::Allowed,
};

impl Rule for Slices {
    fn meta(&self) -> &'static Meta {
        &SLICES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for (index, container) in context.pod().containers().iter().enumerate() {
            let demand = context.demands.app(index);
            if demand.any && demand.whole == 0 && !demand.unknown && context.has_rdma(index) {
                findings.add(
                    format!("/spec/containers/{index}/resources"),
                    format!(
                        "{} has an RDMA device beside slices of accelerators",
                        printable(container.name(), 63)
                    ),
                    "ask whole accelerators, or drop the RDMA device",
                );
            }
        }
    }
}
