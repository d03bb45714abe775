//! FAB416 and FAB417: settings of a search for a fault, or of another machine, that stayed.

use super::given::{Given, Spoken};
use crate::nccl::number::{is_open, is_word, leading_number};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};

/// FAB416.
pub(super) struct Workarounds;

static WORKAROUNDS: Meta = Meta {
    id: "FAB416",
    severity: Severity::Warning,
    summary: "a workaround that gives up bandwidth",
    what: "`NCCL_P2P_DISABLE=1` in a container with several accelerators. Information, once a container, for \
           `NCCL_SHM_DISABLE=1`, `NCCL_NVLS_ENABLE=0`, `NCCL_PXN_DISABLE=1`, `NCCL_CUMEM_ENABLE=0`, a pinned `NCCL_ALGO` or \
           `NCCL_PROTO`, and `NCCL_GRAPH_FILE`. Values that the profile has, and those of Google's TCPX and TCPXO, whose \
           profiles pin them, are let be.",
    why: "Without peer-to-peer, accelerators of one node talk through its memory, several times slower; it mostly hides PCIe \
          access control that should be off. A pinned algorithm has no fallback from NCCL 2.24 on (`No algorithm/protocol \
          available`), and a graph file fails where the number of GPUs is another. `NCCL_SHM_DISABLE=1` does not lower the need \
          of `/dev/shm`.",
    fix: "Drop it, and see whether the fault it was for is still there.",
    bad: r#"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_P2P_DISABLE, value: "1"}
    resources: {limits: {nvidia.com/gpu: 2}}
    volumeMounts:
    - {name: dshm, mountPath: /dev/shm}
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 16Gi}
"#,
    good: r#"apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  containers:
  - name: trainer
    image: example.com/trainer:1
    env:
    - {name: NCCL_P2P_DISABLE, value: "0"}
    resources: {limits: {nvidia.com/gpu: 2}}
    volumeMounts:
    - {name: dshm, mountPath: /dev/shm}
  volumes:
  - name: dshm
    emptyDir: {medium: Memory, sizeLimit: 16Gi}
"#,
    sources: &[
        "NVIDIA/nccl docs/userguide/source/troubleshooting.rst (PCI Access Control Services)",
        "NVIDIA/nccl#631 (P2P), #317 and #1304 (pinned algorithms), #406 (shared memory), #1008 (a graph file)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB22", "NB23", "NB24", "NB25", "NB26"],
    waiver: Waiver::Allowed,
};

/// A number that NCCL reads from a value, where the value is one.
fn number(given: &Given<'_>) -> Option<i64> {
    let value = given.value.as_deref().filter(|v| !v.is_empty() && !is_open(v) && !is_word(v))?;
    Some(leading_number(value))
}

impl Rule for Workarounds {
    fn meta(&self) -> &'static Meta {
        &WORKAROUNDS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let profile = context.resolution.profile().map(|(p, _)| p);
        for spoken in context.spoken() {
            let own = |name: &str| {
                let planned = profile.is_some_and(|p| p.env.iter().any(|e| e.name == name));
                spoken.said(name).filter(|_| !planned)
            };
            let is = |name: &str, wanted: i64| own(name).filter(|g| number(g) == Some(wanted));
            if let Some(given) =
                is("NCCL_P2P_DISABLE", 1).filter(|_| context.demands.app(spoken.index).whole > 1)
            {
                findings.add(
                    spoken.path(given),
                    format!(
                        "NCCL_P2P_DISABLE=1{}: accelerators of this container talk through the node's memory",
                        spoken.place(given)
                    ),
                    "drop it; where it mends something, look at PCIe access control (ACS) on the node",
                );
            }
            let pinned = |name: &str| {
                let value = |g: &&Given<'_>| {
                    g.value.as_deref().is_some_and(|v| !v.is_empty() && !is_open(v) && !v.starts_with('^'))
                };
                own(name).filter(value).filter(|_| !by_google(spoken))
            };
            let found: Vec<&Given<'_>> = [
                is("NCCL_SHM_DISABLE", 1),
                is("NCCL_NVLS_ENABLE", 0),
                is("NCCL_PXN_DISABLE", 1),
                is("NCCL_CUMEM_ENABLE", 0),
                pinned("NCCL_ALGO"),
                pinned("NCCL_PROTO"),
                pinned("NCCL_GRAPH_FILE"),
            ]
            .into_iter()
            .flatten()
            .collect();
            let Some(first) = found.first() else { continue };
            let set = |g: &&Given<'_>| {
                format!("{}={}", g.name, crate::text::printable(g.value.as_deref().unwrap_or("?"), 12))
            };
            let names: Vec<String> = found.iter().take(4).map(set).collect();
            findings.add_as(
                Severity::Info,
                spoken.path(first),
                format!(
                    "{}{}: takes a choice from NCCL, at a cost where it is left from another machine",
                    names.join(", "),
                    spoken.place(first)
                ),
                "see whether the job runs without",
            );
        }
    }
}

fn by_google(spoken: &Spoken<'_>) -> bool {
    spoken.own().any(|g| g.known.is_some_and(|k| matches!(k.family, "gke-tcpx" | "gke-tcpxo")))
}

/// FAB417.
pub(super) struct Diagnostics;

static DIAGNOSTICS: Meta = Meta {
    id: "FAB417",
    severity: Severity::Warning,
    summary: "NCCL's diagnosis left on",
    what: "`NCCL_TOPO_DUMP_FILE`. Information for `NCCL_GRAPH_DUMP_FILE`, `NCCL_DEBUG=TRACE`, `INFO` or more with \
           `NCCL_DEBUG_SUBSYS=ALL`, and a `NCCL_DEBUG_FILE` without `%p` in a container with several accelerators.",
    why: "While it dumps the topology NCCL does not fuse NICs, so that the job runs slower than it does without. The log of all \
          subsystems grows by gigabytes and rotates the useful lines away. Ranks that write one file overwrite each other.",
    fix: "Drop it where the job is no test; write `%h` and `%p` in file names.",
    bad: pod!("    - {name: NCCL_TOPO_DUMP_FILE, value: /data/topology.xml}\n"),
    good: pod!("    - {name: NCCL_DEBUG, value: WARN}\n"),
    sources: &[
        "NVIDIA/nccl src/graph/topo.cc (ncclTopoGetSystem), src/debug.cc",
        "NVIDIA/nccl docs/userguide/source/env.rst (NCCL_DEBUG_FILE)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB30", "NB31", "NB54"],
    waiver: Waiver::Allowed,
};

impl Rule for Diagnostics {
    fn meta(&self) -> &'static Meta {
        &DIAGNOSTICS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            let set =
                |name: &str| spoken.said(name).filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()));
            for (name, severity, does) in [
                (
                    "NCCL_TOPO_DUMP_FILE",
                    Severity::Warning,
                    "while NCCL dumps the topology it does not fuse NICs",
                ),
                (
                    "NCCL_GRAPH_DUMP_FILE",
                    Severity::Info,
                    "one file, written by one rank of every job that shares it",
                ),
            ] {
                if let Some(given) = set(name) {
                    let message = format!("{name}{}: {does}", spoken.place(given));
                    findings.add_as(
                        severity,
                        spoken.path(given),
                        message,
                        format!("drop {name} once the dump is there"),
                    );
                }
            }
            loud(spoken, findings);
            let several = context.demands.app(spoken.index).whole > 1;
            let one_file = |g: &&Given<'_>| {
                g.value.as_deref().is_some_and(|v| {
                    !v.is_empty() && !v.contains("%p") && !is_open(v) && !v.starts_with("/dev/")
                })
            };
            if let Some(given) = spoken.said("NCCL_DEBUG_FILE").filter(one_file).filter(|_| several) {
                findings.add_as(
                    Severity::Info,
                    spoken.path(given),
                    format!(
                        "NCCL_DEBUG_FILE without %p{}: the ranks of this container overwrite each other",
                        spoken.place(given)
                    ),
                    "write %h and %p into the name",
                );
            }
        }
    }
}

fn loud(spoken: &Spoken<'_>, findings: &mut Findings<'_>) {
    let Some(given) = spoken.said("NCCL_DEBUG") else { return };
    let level = given.value.as_deref().unwrap_or_default();
    let trace = level.eq_ignore_ascii_case("TRACE");
    let all = |v: &str| v.split(',').any(|w| w.eq_ignore_ascii_case("ALL"));
    let all = level.eq_ignore_ascii_case("INFO") && spoken.value("NCCL_DEBUG_SUBSYS").is_some_and(all);
    if trace || all {
        let what = if trace { "NCCL_DEBUG=TRACE" } else { "NCCL_DEBUG=INFO of all subsystems" };
        findings.add_as(
            Severity::Info,
            spoken.path(given),
            format!("{what}{}: floods the log of a long job", spoken.place(given)),
            "write WARN, or INFO with NCCL_DEBUG_SUBSYS=INIT,NET",
        );
    }
}
