//! FAB411: misplaced '^', '=', spaces or quotes in a list of interfaces or devices.

use crate::nccl::interface_and_device_lists::{ListFault, NameList};
use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::nccl::variable_table::Reading;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB411", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.own_settings_with_known_values() {
            let plain = matches!(&*given.name, "GLOO_SOCKET_IFNAME" | "TP_SOCKET_IFNAME");
            if !plain && given.known.is_none_or(|k| k.reading != Reading::Names) || has_unknown_part(value) {
                continue;
            }
            if findings.must_stop_reporting() {
                return;
            }
            let list = NameList::parse(value);
            let (problem, fix) = if plain && value.starts_with(['^', '=']) {
                (
                    "this variable accepts only plain names, so the mark becomes part of a name".to_owned(),
                    "Write a plain interface name, such as eth0.".to_owned(),
                )
            } else if let Some(fault) = list.first_mistake() {
                (problem(fault), format!("Write {}.", escaped_and_cut(&list.corrected(), 80)))
            } else if *given.name == *"NCCL_IB_HCA" && list.names().any(|n| n.split(':').nth(1) == Some("0"))
            {
                (
                    "port numbers start at 1, so port 0 matches nothing".to_owned(),
                    "Write :1 in place of :0, or remove the port.".to_owned(),
                )
            } else {
                continue;
            };
            let (name, shown) = (&given.name, escaped_and_cut(value, 50));
            let place = variables.place_in_words(given);
            findings.add(
                variables.pointer_of_setting(given),
                format!("{name}={shown}{place}: {problem}"),
                fix,
            );
        }
    }
}

fn problem(fault: ListFault<'_>) -> String {
    match fault {
        ListFault::Order => {
            "'=' before '^' makes '^' part of a name, and this name matches nothing".to_owned()
        }
        ListFault::Twice => {
            "the second '^' or '=' becomes part of a name, and this name matches nothing".to_owned()
        }
        ListFault::Mark(item) => {
            format!(
                "'^' or '=' may stand only at the start of the list, so {} matches nothing",
                escaped_and_cut(item, 30)
            )
        }
        ListFault::Space => "a space becomes part of a name, and this name matches nothing".to_owned(),
        ListFault::Quotes => "the quotes become part of the value, and the value matches nothing".to_owned(),
        ListFault::Alone => "'^' or '=' has no name after it".to_owned(),
    }
}
