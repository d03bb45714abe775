//! FAB410: NCCL variable with a number out of range.

use crate::nccl::misread_values::number_outside_range;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB410", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.own_settings_with_known_values() {
            let Some(known) = given.known else { continue };
            let Some(number) = number_outside_range(known, value) else { continue };
            if findings.must_stop_reporting() {
                return;
            }
            let place = variables.place_in_words(given);
            let bounds = match known.range {
                (Some(least), Some(most)) => format!("{least} to {most}"),
                (Some(least), None) => format!("{least} or more"),
                (None, most) => format!("at most {}", most.unwrap_or_default()),
            };
            let does = match known.name {
                "NCCL_IB_TIMEOUT" => {
                    "this value means no time limit, so a dead link hangs the job".to_owned()
                }
                _ => format!("the value is out of range ({bounds})"),
            };
            let default = known.default.filter(|d| *d != "auto");
            let default = default.map_or(String::new(), |d| format!(" ({d})"));
            findings.add(
                variables.pointer_of_setting(given),
                format!("{}={number}{place}: {does}", known.name),
                format!("Write a number ({bounds}), or remove the variable to get the default{default}."),
            );
        }
    }
}
