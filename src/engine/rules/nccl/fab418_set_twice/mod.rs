//! FAB418: NCCL variable with two values.

use crate::pod::shell::How;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{Given, Place};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB418",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a pod may override its ConfigMap on purpose")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for variables in context.variables() {
        // By name, what counts more comes later.
        let mut env: Option<(&Given<'_>, &str)> = None;
        let mut reported = "";
        for (given, value) in variables.values() {
            let name = &*given.name;
            let before = env.filter(|(g, before)| g.name == name && reported != name && *before != value);
            let found =
                before.and_then(|(first, before)| Some((first, before, which_setting_wins(first, given)?)));
            if let Some((first, before, (severity, wins))) = found {
                reported = name;
                // A secret stays out of messages.
                let shown = |text: &str| match name.ends_with("_PSK") {
                    true => "…".to_owned(),
                    false => printable(text, 30),
                };
                let message = format!(
                    "{name} has two values, {} and {}{}: {wins}",
                    shown(before),
                    shown(value),
                    variables.place(given)
                );
                findings.add_as(severity, variables.path(first), message, "Keep only one of the two values.");
            }
            if matches!(given.place, Place::Env(_) | Place::EnvFrom(..)) {
                env = Some((given, value));
            }
        }
    }
}

fn which_setting_wins(first: &Given<'_>, second: &Given<'_>) -> Option<(Severity, &'static str)> {
    Some(match (first.place, second.place, second.how) {
        (Place::Env(_), Place::Env(_), _) => (Severity::Warning, "the last entry of env wins"),
        (Place::EnvFrom(..), Place::EnvFrom(..), _) => (Severity::Info, "the last source of envFrom wins"),
        (Place::EnvFrom(..), Place::Env(_), _) => (Severity::Info, "env wins over the ConfigMap of envFrom"),
        (Place::Env(_) | Place::EnvFrom(..), Place::Text(..) | Place::Script(..), How::Sets) => {
            (Severity::Warning, "the value that the command sets wins")
        }
        _ => return None,
    })
}
