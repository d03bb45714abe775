//! FAB411: lists of interfaces and devices that do not say what they look like.

use crate::nccl::list::{Fault, NameList};
use crate::nccl::number::is_open;
use crate::nccl::table::Reading;
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;

/// FAB411.
pub(super) struct NameLists;

static NAME_LISTS: Meta = Meta {
    id: "FAB411",
    severity: Severity::Warning,
    summary: "marks, spaces or quotes in a list of interfaces or devices that NCCL takes as part of a name",
    what: "`NCCL_IB_HCA`, `NCCL_SOCKET_IFNAME` and `NCCL_OOB_NET_IFNAME`: `^` (all but) and then `=` (to the letter) count \
           once, at the start of the whole value; anywhere else they belong to a name, as spaces and quotes do. Also port 0, \
           which no device has, and Gloo's and TensorPipe's variables, which take plain names alone.",
    why: "A name with such a mark matches nothing, without a log line: `^docker,^lo` still uses `lo`, `mlx5_0, mlx5_1` uses \
          one NIC. Where no item matches, NCCL finds no device and goes on over TCP, or ends with `no socket interface found`.",
    fix: "Put the mark once at the start, and no spaces or quotes inside.",
    bad: pod!("    - {name: NCCL_SOCKET_IFNAME, value: \"^docker,^lo\"}\n"),
    good: pod!("    - {name: NCCL_SOCKET_IFNAME, value: \"^docker,lo\"}\n"),
    sources: &[
        "NVIDIA/nccl src/misc/utils.cc (parseStringList, matchIfList)",
        "NVIDIA/nccl#890 (users writing port 0)",
        "pytorch/pytorch torch/csrc/distributed/c10d/ProcessGroupGloo.cpp (createDeviceForInterface)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB12"],
    waiver: Waiver::Allowed,
};

impl Rule for NameLists {
    fn meta(&self) -> &'static Meta {
        &NAME_LISTS
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        for spoken in context.spoken() {
            for (given, value) in spoken.values() {
                let plain = matches!(&*given.name, "GLOO_SOCKET_IFNAME" | "TP_SOCKET_IFNAME");
                if !plain && given.known.is_none_or(|k| k.reading != Reading::Names) || is_open(value) {
                    continue;
                }
                let list = NameList::parse(value);
                let (problem, fix) = if plain && value.starts_with(['^', '=']) {
                    (
                        "it takes plain names, so the mark is part of one".to_owned(),
                        "write the interface, such as eth0".to_owned(),
                    )
                } else if let Some(fault) = list.fault() {
                    (problem(fault), format!("write {}", printable(&list.mended(), 80)))
                } else if *given.name == *"NCCL_IB_HCA"
                    && list.names().any(|n| n.split(':').nth(1) == Some("0"))
                {
                    (
                        "ports count from 1, so port 0 matches nothing".to_owned(),
                        "write :1, or no port".to_owned(),
                    )
                } else {
                    continue;
                };
                let (name, shown) = (&given.name, printable(value, 50));
                let place = spoken.place(given);
                findings.add(spoken.path(given), format!("{name}={shown}{place}: {problem}"), fix);
            }
        }
    }
}

fn problem(fault: Fault<'_>) -> String {
    match fault {
        Fault::Order => "= before ^ makes ^ part of a name".to_owned(),
        Fault::Twice => "the second mark is part of a name, which matches nothing".to_owned(),
        Fault::Mark(item) => {
            format!(
                "a mark counts at the start of the value alone, so {} matches nothing",
                printable(item, 30)
            )
        }
        Fault::Space => "a space is part of the name before or behind it, which matches nothing".to_owned(),
        Fault::Quotes => "the quotes are part of the value, which matches nothing".to_owned(),
        Fault::Alone => "a mark and no name".to_owned(),
    }
}
