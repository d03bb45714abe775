//! `explain`: a rule, a variable, an annotation or a line of a log.

mod annotation;
mod log_line;
mod preflight_check;
mod rule;
mod variable;

use super::Exit;
use crate::cli::lines_on_stderr::write_error;
use crate::nccl::{all_variables, find_variable, why_name_is_unread};
use crate::preflight::checks::{self, CHECKS};
use crate::rules::{self, RULES};
use crate::text::nearest_if_probably_meant;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Id of a rule (FAB301) or of a preflight check (PF101), an environment variable (NCCL_IB_HCA), an annotation
    /// (fabric-admission.dev/profile), or the text of an error or log line ("NET/IB : No device found")
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    // A line without quotes comes in as its words.
    let what = arguments.what.join(" ");
    let what = what.trim();
    if let Some(variable) = find_variable(what) {
        return variable::explain_known_variable(variable, out);
    }
    if let Some(rule) = rules::find_rule(what) {
        return rule::explain(rule, out);
    }
    if let Some(check) = checks::find(what) {
        return preflight_check::explain(check, out);
    }
    if let Some(annotation) = annotation::find(what) {
        return annotation::explain(annotation, out);
    }
    let lines = log_line::find(what);
    if !lines.is_empty() {
        return log_line::explain(&lines, out);
    }
    if let Some(unread) = why_name_is_unread(what) {
        return variable::explain_unread_variable(what, unread, err);
    }
    write_error(err, format_args!("{}", unknown(what)))?;
    Ok(Exit::Usage)
}

/// The end of the search, with the nearest name where one is near.
fn unknown(what: &str) -> String {
    if what.contains(' ') {
        let near = log_line::nearest(what);
        let near = near.map(|line| format!("; did you mean {:?}?", line.quoted()));
        let near = near.unwrap_or_else(|| ".".to_owned());
        return format!(
            "no known line of a log has these words{near} Quote the part of the line that names the failure, without times, \
             addresses and names."
        );
    }
    if what.contains('/') {
        let near = nearest_if_probably_meant(what, annotation::names());
        let near = near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"));
        return format!("unknown annotation {what:?}{near} docs/pod-authors.md lists the annotations.");
    }
    let kind = if what.contains('_') { "variable" } else { "rule" };
    if what.to_uppercase().starts_with("PF") && kind == "rule" {
        return format!("unknown check {what:?}{} docs/preflight.md lists the checks.", hint(what));
    }
    format!("unknown {kind} {what:?}{} To list all rules, run fabric-admission rules list.", hint(what))
}

/// The end of the sentence, with a similar name if there is one.
fn hint(id: &str) -> String {
    let id = id.to_uppercase();
    // A well-formed id is not misspelt: FAB999 does not mean FAB109.
    let well_formed =
        id.strip_prefix("FAB").is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()));
    let by_number = rules::find_rule(&format!("FAB{id}")).map(|rule| rule.id);
    let checks = || CHECKS.iter().map(|check| check.id);
    if id.starts_with("PF") {
        return nearest_if_probably_meant(&id, checks())
            .map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"));
    }
    let names = || RULES.iter().map(|r| r.id).chain(all_variables().map(|variable| variable.name));
    let near = by_number.or_else(|| nearest_if_probably_meant(&id, names())).filter(|_| !well_formed);
    near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"))
}
