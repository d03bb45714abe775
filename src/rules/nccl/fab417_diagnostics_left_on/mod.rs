//! FAB417: NCCL's diagnosis left on.

use super::given::{Given, Spoken};
use crate::nccl::number::is_open;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB417", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        let set = |name: &str| spoken.said(name).filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()));
        for (name, severity, does) in [
            ("NCCL_TOPO_DUMP_FILE", Severity::Warning, "while NCCL dumps the topology it does not fuse NICs"),
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
            g.value
                .as_deref()
                .is_some_and(|v| !v.is_empty() && !v.contains("%p") && !is_open(v) && !v.starts_with("/dev/"))
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
