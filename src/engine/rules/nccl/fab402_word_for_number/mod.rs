//! FAB402: NCCL variable with a word where NCCL expects a number.

use crate::nccl::numbers_as_nccl_reads::{is_read_as_number, starts_with_no_number};
use crate::nccl::variable_table::Reading;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::WhereVariableIsSet;
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB402", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.own_settings_with_known_values() {
            let Some(known) = given.known.filter(|k| is_read_as_number(k) && starts_with_no_number(value))
            else {
                continue;
            };
            if findings.must_stop_reporting() {
                return;
            }
            let acts = match known.reading {
                Reading::One => "NCCL accepts only 1, so this value has no effect",
                _ => "NCCL reads this word as 0",
            };
            let path = match given.place {
                WhereVariableIsSet::Env(_) => format!("{}/value", variables.pointer_of_setting(given)),
                _ => variables.pointer_of_setting(given),
            };
            findings.add(
                path,
                format!(
                    "{}={}{}: {acts}",
                    known.name,
                    escaped_and_cut(value, 40),
                    variables.place_in_words(given)
                ),
                format!("Write a number, or remove {} to get the default.", known.name),
            );
        }
    }
}
