//! FAB418: NCCL variable with two values.

use crate::pod::shell::SettingEffect;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::variables_of_pod::{VariableSetting, WhereVariableIsSet};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB418",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "a pod may override its ConfigMap on purpose")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        // By name, what counts more comes later.
        let mut env: Option<(&VariableSetting<'_>, &str)> = None;
        let mut reported = "";
        for (given, value) in variables.own_settings_with_known_values() {
            let name = &*given.name;
            let before = env.filter(|(g, before)| g.name == name && reported != name && *before != value);
            let found =
                before.and_then(|(first, before)| Some((first, before, which_setting_wins(first, given)?)));
            if let Some((first, before, (severity, wins))) = found {
                reported = name;
                // A secret stays out of messages.
                let shown = |text: &str| match name.ends_with("_PSK") {
                    true => "…".to_owned(),
                    false => escaped_and_cut(text, 30),
                };
                let message = format!(
                    "{name} has two values, {} and {}{}: {wins}",
                    shown(before),
                    shown(value),
                    variables.place_in_words(given)
                );
                findings.add_with_severity(
                    severity,
                    variables.pointer_of_setting(first),
                    message,
                    "Keep only one of the two values.",
                );
            }
            if matches!(given.place, WhereVariableIsSet::Env(_) | WhereVariableIsSet::EnvFrom(..)) {
                env = Some((given, value));
            }
        }
    }
}

fn which_setting_wins(
    first: &VariableSetting<'_>,
    second: &VariableSetting<'_>,
) -> Option<(Severity, &'static str)> {
    Some(match (first.place, second.place, second.how) {
        (WhereVariableIsSet::Env(_), WhereVariableIsSet::Env(_), _) => {
            (Severity::Warning, "the last entry of env wins")
        }
        (WhereVariableIsSet::EnvFrom(..), WhereVariableIsSet::EnvFrom(..), _) => {
            (Severity::Info, "the last source of envFrom wins")
        }
        (WhereVariableIsSet::EnvFrom(..), WhereVariableIsSet::Env(_), _) => {
            (Severity::Info, "env wins over the ConfigMap of envFrom")
        }
        (
            WhereVariableIsSet::Env(_) | WhereVariableIsSet::EnvFrom(..),
            WhereVariableIsSet::Text(..) | WhereVariableIsSet::Script(..),
            SettingEffect::Sets,
        ) => (Severity::Warning, "the value that the command sets wins"),
        _ => return None,
    })
}
