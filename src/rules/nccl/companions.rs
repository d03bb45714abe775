//! FAB423 to FAB425: Open MPI, NVSHMEM, libfabric and PyTorch.

use crate::nccl::number::{is_open, leading_number};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB423.
pub(super) struct OpenMpi;

static OPEN_MPI: Meta = Meta {
    id: "FAB423",
    severity: Severity::Warning,
    summary: "Open MPI's choice of interfaces contradicts itself or uses the loopback",
    what: "`OMPI_MCA_btl_tcp_if_include` beside `OMPI_MCA_btl_tcp_if_exclude` (and the same for `oob_tcp`), or an `exclude` that \
           does not leave out the loopback.",
    why: "The two exclude each other, and Open MPI refuses to start its TCP transport. An `exclude` of one's own replaces the \
          default, which leaves out `lo`: peers are then given 127.0.0.1, and the job hangs.",
    fix: "Keep `include`, such as `eth0`; or add `lo` to `exclude`.",
    bad: pod!("    - {name: OMPI_MCA_btl_tcp_if_exclude, value: docker0}\n"),
    good: pod!("    - {name: OMPI_MCA_btl_tcp_if_exclude, value: \"lo,docker0\"}\n"),
    sources: &["open-mpi/ompi docs/tuning-apps/networking/tcp.rst (btl_tcp_if_include, btl_tcp_if_exclude)"],
    since: "0.1.0",
    kinds: &[],
    also: &["NB43"],
    waiver: Waiver::Allowed,
};

impl Rule for OpenMpi {
    fn meta(&self) -> &'static Meta {
        &OPEN_MPI
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (include, exclude) in [
                ("OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"),
                ("OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_oob_tcp_if_exclude"),
            ] {
                let Some(given) = spoken.said(exclude) else {
                    continue;
                };
                let Some(value) = given.value.as_deref().filter(|v| !v.is_empty() && !is_open(v)) else {
                    continue;
                };
                let place = spoken.place(given);
                let loopback = |item: &str| item.starts_with("lo") || item.starts_with("127.");
                if spoken.last(include).is_some_and(|g| g.value.as_deref().is_none_or(|v| !v.is_empty())) {
                    findings.add(
                        spoken.path(given),
                        format!("{exclude}{place} beside {include}: Open MPI takes one of them alone"),
                        format!("drop {exclude}"),
                    );
                } else if !value.split(',').map(str::trim).any(loopback) {
                    findings.add(
                        spoken.path(given),
                        format!("{exclude}={}{place}: the loopback is used then", printable(value, 40)),
                        "add lo",
                    );
                }
            }
        }
    }
}

/// FAB424.
pub(super) struct NvshmemDevices;

static NVSHMEM_DEVICES: Meta = Meta {
    id: "FAB424",
    severity: Severity::Warning,
    summary: "NVSHMEM_HCA_LIST that is not used",
    what: "`NVSHMEM_HCA_LIST` where `NVSHMEM_ENABLE_NIC_PE_MAPPING` is not 1.",
    why: "NVSHMEM maps devices to ranks by the list only where the mapping is switched on; else it goes by the topology and the \
          list stays unread.",
    fix: "Set `NVSHMEM_ENABLE_NIC_PE_MAPPING=1`, or drop the list.",
    bad: pod!("    - {name: NVSHMEM_HCA_LIST, value: \"mlx5_0:1,mlx5_1:1\"}\n"),
    good: pod!(
        "    - {name: NVSHMEM_HCA_LIST, value: \"mlx5_0:1,mlx5_1:1\"}\n    - {name: NVSHMEM_ENABLE_NIC_PE_MAPPING, value: \"1\"}\n"
    ),
    sources: &[
        "NVIDIA/nvshmem src/include/internal/host_transport/env_defs.h (HCA_LIST, ENABLE_NIC_PE_MAPPING)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB45"],
    waiver: Waiver::Allowed,
};

impl Rule for NvshmemDevices {
    fn meta(&self) -> &'static Meta {
        &NVSHMEM_DEVICES
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        const MAPPING: &str = "NVSHMEM_ENABLE_NIC_PE_MAPPING";
        for spoken in context.spoken() {
            let listed =
                spoken.said("NVSHMEM_HCA_LIST").filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()));
            let Some(given) = listed else { continue };
            let off = |v: &str| matches!(v.to_ascii_lowercase().as_str(), "0" | "n" | "no" | "false" | "off");
            let unused = spoken.lacks(MAPPING) || spoken.value(MAPPING).is_some_and(off);
            if unused {
                findings.add(
                    spoken.path(given),
                    format!("NVSHMEM_HCA_LIST{}: not used without {MAPPING}=1", spoken.place(given)),
                    format!("set {MAPPING}=1, or drop the list"),
                );
            }
        }
    }
}

/// FAB425.
pub(super) struct NoBenefit;

static NO_BENEFIT: Meta = Meta {
    id: "FAB425",
    severity: Severity::Info,
    summary: "a setting of libfabric or PyTorch that does not help, or works against another",
    what: "`FI_EFA_FORK_SAFE=1`, and `TORCH_NCCL_BLOCKING_WAIT=1` beside `TORCH_NCCL_ASYNC_ERROR_HANDLING` of 1 to 3.",
    why: "Kernels from 5.13 on copy what is pinned at a fork, so that the first has no use any more, and it keeps the provider \
          from using huge pages. Waiting by blocking and handling errors beside the work report the same timeout: the one takes \
          the other's place.",
    fix: "Drop `FI_EFA_FORK_SAFE`; choose one of PyTorch's two.",
    bad: pod!("    - {name: FI_EFA_FORK_SAFE, value: \"1\"}\n"),
    good: pod!("    - {name: TORCH_NCCL_ASYNC_ERROR_HANDLING, value: \"1\"}\n"),
    sources: &[
        "ofiwg/libfabric prov/efa/docs, fi_efa(7) (FI_EFA_FORK_SAFE)",
        "pytorch/pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (blockingWait_, asyncErrorHandling_)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB51", "NB52"],
    waiver: Waiver::Allowed,
};

impl Rule for NoBenefit {
    fn meta(&self) -> &'static Meta {
        &NO_BENEFIT
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            let number = |name: &str| spoken.value(name).filter(|v| !is_open(v)).map(leading_number);
            if let Some(given) = spoken.said("FI_EFA_FORK_SAFE").filter(|g| g.value.as_deref() == Some("1")) {
                findings.add(
                    spoken.path(given),
                    format!("FI_EFA_FORK_SAFE=1{}: of no use on kernels from 5.13 on, and huge pages are off with it", spoken.place(given)),
                    "drop it",
                );
            }
            let (wait, handling) = ("TORCH_NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING");
            let both = number(wait) == Some(1) && number(handling).is_some_and(|n| (1..=3).contains(&n));
            if let Some(given) = spoken.said(wait).filter(|_| both) {
                findings.add(
                    spoken.path(given),
                    format!("{wait}=1 beside {handling}{}: one takes the other's place", spoken.place(given)),
                    "keep one of them",
                );
            }
        }
    }
}
