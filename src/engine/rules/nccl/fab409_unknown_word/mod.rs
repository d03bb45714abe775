//! FAB409: NCCL variable with a value that NCCL does not know.

use crate::nccl::misread_values::unknown_word;
use crate::nccl::variable_table::Reading;
use crate::nccl::variable_table::Variable;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule =
    Rule { id: "FAB409", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.own_settings_with_known_values() {
            let Some(known) = given.known else { continue };
            let Some(word) = unknown_word(known, value) else { continue };
            // Off, by a word with the same effect as any other.
            if known.name == "NCCL_DEBUG" && (word.eq_ignore_ascii_case("none") || word == "0") {
                continue;
            }
            if findings.must_stop_reporting() {
                return;
            }
            let shown = escaped_and_cut(word, 40);
            let does = effect(known);
            let place = variables.place_in_words(given);
            findings.add(
                variables.pointer_of_setting(given),
                format!("{}={shown}{place}: {does}", known.name),
                fix(known, word),
            );
        }
    }
}

fn effect(known: &Variable) -> &'static str {
    match (known.name, known.reading) {
        ("NCCL_DEBUG", _) => "NCCL does not know this level, and logs nothing",
        (_, Reading::Functions) => "NCCL does not know this value; NCCL 2.24 and later fail at start-up",
        _ => "NCCL does not know this value, and uses the default",
    }
}

fn fix(known: &Variable, word: &str) -> String {
    let meant = known.accepted_words().find(|w| w.eq_ignore_ascii_case(word.trim()));
    let family =
        || known.accepted_words().find(|w| w.starts_with("AF_") && w.ends_with('6') == word.contains('6'));
    match meant.or_else(family) {
        Some(meant) => format!("Write {meant}."),
        None if known.reading == Reading::Range => "Write a range such as 10.0.0.0/16.".to_owned(),
        None if known.name == "NCCL_DEBUG" => "Write WARN or INFO.".to_owned(),
        None => {
            let words: Vec<&str> =
                known.accepted_words().filter(|w| w.bytes().any(|b| b.is_ascii_alphabetic())).collect();
            format!("Write one of {}.", words.join(", "))
        }
    }
}
