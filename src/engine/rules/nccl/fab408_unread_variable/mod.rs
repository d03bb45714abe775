//! FAB408: environment variable that no library reads.

use super::nccl_version_and_other_networks::nccl_version_of_image_or_profile;
use crate::nccl::{NEWEST_RELEASE_IN_TABLE, Status, Unread, why_name_is_unread};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule = Rule {
    id: "FAB408",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "another release of NCCL or another program may read the variable")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Most names of one pod that are compared with the known ones. A real pod has one or two unknown ones.
const MAX_NAMES: usize = 64;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let mut judged: BTreeMap<&str, Option<Unread>> = BTreeMap::new();
    for variables in context.variables() {
        let mut reported: BTreeSet<&str> = BTreeSet::new();
        let version = nccl_version_of_image_or_profile(context, variables.container);
        for given in variables.own_settings() {
            let name = &*given.name;
            if reported.contains(name) {
                continue;
            }
            let mut say = |severity, message: String, fix: String| {
                if reported.insert(name) {
                    let place = variables.place_in_words(given);
                    findings.add_with_severity(
                        severity,
                        variables.pointer_of_setting(given),
                        format!("{}{place} {message}", escaped_and_cut(name, 60)),
                        fix,
                    );
                }
            };
            if let Some(known) = given.known.filter(|k| k.status != Status::Removed) {
                if known.status == Status::Deprecated {
                    let instead = known.instead.unwrap_or("another");
                    say(
                        Severity::Info,
                        format!("is deprecated; {instead} replaces this variable"),
                        format!("Write {instead}."),
                    );
                } else if let Some(version) = version.filter(|v| known.is_newer_than_release(*v)) {
                    let since = known.since.unwrap_or("a later version");
                    say(
                        Severity::Info,
                        format!(
                            "has no effect: NCCL reads this variable since {since}, but this container has NCCL {version}"
                        ),
                        "Use an image with a later NCCL, or remove the variable.".to_owned(),
                    );
                }
                continue;
            }
            if !judged.contains_key(name) && judged.len() == MAX_NAMES {
                continue;
            }
            let judge =
                || context.deadline.take_unknown_variable().then(|| why_name_is_unread(name)).flatten();
            let Some(what) = *judged.entry(name).or_insert_with(judge) else { continue };
            let (severity, message, fix) = severity_message_and_fix(what);
            say(severity, message, fix);
        }
    }
}

fn severity_message_and_fix(what: Unread) -> (Severity, String, String) {
    let warning = |message: String, fix: String| (Severity::Warning, message, fix);
    match what {
        Unread::Removed(v) => {
            let who = match v.until {
                Some(until) => format!("versions after {until} do"),
                None => "the library does".to_owned(),
            };
            let fix = v.instead.map_or("Remove the variable.".to_owned(), |i| {
                format!("Remove the variable. If you need the setting, use {i}, which has other values.")
            });
            warning(format!("has no effect: {who} not read this variable"), fix)
        }
        Unread::Misname(v) | Unread::Typo(v) => warning(
            format!("has no effect: no library reads this variable; did you mean {}?", v.name),
            format!("Write {}, or remove the variable.", v.name),
        ),
        Unread::Opposite(v) => warning(
            format!("has no effect: no library reads this variable; {} has the opposite meaning", v.name),
            format!("Write {} with the opposite value, or remove the variable.", v.name),
        ),
        Unread::Unknown => (
            Severity::Info,
            format!(
                "may have no effect: NCCL up to {NEWEST_RELEASE_IN_TABLE} and its plugins do not know this variable"
            ),
            "Check the name. Keep the variable only if your own script reads it.".to_owned(),
        ),
    }
}
