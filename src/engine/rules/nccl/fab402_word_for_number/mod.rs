//! FAB402: NCCL variable with a word where NCCL expects a number.

use crate::nccl::numbers_as_nccl_reads::{is_no_number, reads_number};
use crate::nccl::variable_table::Reading;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::Place;
use crate::text::printable;

pub(super) static RULE: Rule =
    Rule { id: "FAB402", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.values() {
            let Some(known) = given.known.filter(|k| reads_number(k) && is_no_number(value)) else {
                continue;
            };
            let acts = match known.reading {
                Reading::One => "NCCL accepts only 1, so this value has no effect",
                _ => "NCCL reads this word as 0",
            };
            let path = match given.place {
                Place::Env(_) => format!("{}/value", variables.path(given)),
                _ => variables.path(given),
            };
            findings.add(
                path,
                format!("{}={}{}: {acts}", known.name, printable(value, 40), variables.place(given)),
                format!("Write a number, or remove {} to get the default.", known.name),
            );
        }
    }
}
