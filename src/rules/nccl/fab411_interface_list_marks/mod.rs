//! FAB411: marks, spaces or quotes in a list of interfaces or devices that NCCL takes as part of a name.

use crate::nccl::list::{Fault, NameList};
use crate::nccl::number::is_open;
use crate::nccl::table::Reading;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB411", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
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
            } else if *given.name == *"NCCL_IB_HCA" && list.names().any(|n| n.split(':').nth(1) == Some("0"))
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
