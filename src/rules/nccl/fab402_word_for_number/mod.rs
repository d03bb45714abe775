//! FAB402: a word where NCCL reads a number.

use super::given::Place;
use crate::nccl::Reading;
use crate::nccl::number::{is_word, reads_number};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB402", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        for (given, value) in spoken.values() {
            let Some(known) = given.known.filter(|k| reads_number(k) && is_word(value)) else { continue };
            let acts = match known.reading {
                Reading::One => "NCCL acts on 1 alone, so it has no effect",
                _ => "NCCL reads it as 0",
            };
            let path = match given.place {
                Place::Env(_) => format!("{}/value", spoken.path(given)),
                _ => spoken.path(given),
            };
            findings.add(
                path,
                format!("{}={}{}: {acts}", known.name, printable(value, 40), spoken.place(given)),
                format!("write {} as a number, or drop it for the default", known.name),
            );
        }
    }
}
