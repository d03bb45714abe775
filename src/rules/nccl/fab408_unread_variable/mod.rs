//! FAB408: a variable that nothing reads.

use super::pod::version;
use crate::nccl::{KNOWN_UP_TO, Status, Unread, unread};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule =
    Rule { id: "FAB408", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Names of one pod that are compared with the known ones. A real pod has one or two that are unknown.
const MAX_NAMES: usize = 64;

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
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
