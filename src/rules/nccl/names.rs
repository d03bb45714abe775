//! FAB408: names that nothing reads.

use crate::nccl::{KNOWN_UP_TO, Status, Unread, unread};
use crate::rules::{Findings, Meta, PodContext, Rule, Severity, Waiver};
use crate::text::printable;
use std::collections::{BTreeMap, BTreeSet};

use super::pod::version;

/// FAB408.
pub(super) struct UnreadName;

static UNREAD_NAME: Meta = Meta {
    id: "FAB408",
    severity: Severity::Warning,
    summary: "a variable that nothing reads",
    what: "Names that begin as NCCL's or a companion's do and that nothing reads: slips of the pen where one known name \
           alone is near, names that people write for another one, switches that exist only the other way round, and names \
           that NCCL gave up. Information for names that a later one is to replace, that the image's NCCL is too old for, \
           or that are not known at all. Names of scripts and images (`NCCL_VERSION`, `NCCL_TESTS_…`) are let be.",
    why: "An unknown variable is passed over without a log line: the setting that looks made is not.",
    fix: "Write the name that is suggested, or drop the variable.",
    bad: pod!("    - {name: NCCL_SOCKET_INFAME, value: eth0}\n"),
    good: pod!("    - {name: NCCL_SOCKET_IFNAME, value: eth0}\n"),
    sources: &[
        "NVIDIA/nccl src, every release from 2.3.5 to 2.30.7 (NCCL_PARAM, ncclGetEnv)",
        "NVIDIA/nvshmem src/include/internal/host_transport/env_defs.h",
        "pytorch/pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp (TORCH_NCCL_)",
    ],
    since: "0.1.0",
    kinds: &[],
    also: &["NB32", "NB33", "NB44", "NB46"],
    waiver: Waiver::Allowed,
};

/// Names of one pod that are compared with the known ones. A real pod has one or two that are unknown.
const MAX_NAMES: usize = 64;

impl Rule for UnreadName {
    fn meta(&self) -> &'static Meta {
        &UNREAD_NAME
    }
    fn pod(&self, context: &PodContext<'_>, findings: &mut Findings<'_>) {
        let mut judged: BTreeMap<&str, Option<Unread>> = BTreeMap::new();
        for spoken in context.spoken() {
            let mut told: BTreeSet<&str> = BTreeSet::new();
            let version = version(context, spoken.container);
            for given in spoken.own() {
                let name = &*given.name;
                let mut say = |severity, message: String, fix: String| {
                    if told.insert(name) {
                        let place = spoken.place(given);
                        findings.add_as(
                            severity,
                            spoken.path(given),
                            format!("{}{place}: {message}", printable(name, 60)),
                            fix,
                        );
                    }
                };
                if let Some(known) = given.known.filter(|k| k.status != Status::Removed) {
                    if known.status == Status::Deprecated {
                        let instead = known.instead.unwrap_or("another");
                        say(
                            Severity::Info,
                            format!("still read, but {instead} takes its place"),
                            format!("write {instead}"),
                        );
                    } else if let Some(version) = version.filter(|v| known.is_later_than(*v)) {
                        let since = known.since.unwrap_or("a later one");
                        say(
                            Severity::Info,
                            format!("NCCL {version} of this container does not read it; {since} does"),
                            "take an image with a later NCCL, or drop it".to_owned(),
                        );
                    }
                    continue;
                }
                if !judged.contains_key(name) && judged.len() == MAX_NAMES {
                    continue;
                }
                let Some(what) = *judged.entry(name).or_insert_with(|| unread(name)) else { continue };
                let (severity, message, fix) = words(what);
                say(severity, message, fix);
            }
        }
    }
}

fn words(what: Unread) -> (Severity, String, String) {
    let warning = |message: String, fix: String| (Severity::Warning, message, fix);
    match what {
        Unread::Removed(v) => {
            let until = v.until.map_or(String::new(), |until| format!(", the last that did was {until}"));
            let fix = v.instead.map_or("drop it".to_owned(), |i| format!("see {i}, or drop it"));
            warning(format!("not read any more{until}"), fix)
        }
        Unread::Misname(v) | Unread::Typo(v) => warning(
            format!("nothing reads it; is {} meant?", v.name),
            format!("write {}, or drop it", v.name),
        ),
        Unread::Opposite(v) => warning(
            format!("nothing reads it; the switch is {}", v.name),
            format!("write {} with the opposite value, or drop it", v.name),
        ),
        Unread::Unknown => (
            Severity::Info,
            format!("not known to be read by NCCL up to {KNOWN_UP_TO} or its plugins"),
            "check the name; if a script of yours reads it, all is well".to_owned(),
        ),
    }
}
