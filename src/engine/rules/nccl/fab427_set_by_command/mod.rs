//! FAB427: variable of the profile that the container's own settings override.

use crate::plan::OwnSetting;
use crate::pod::pod_fields::Container;
use crate::pod::shell::sets_variable;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::names_in_sentence;
use std::collections::BTreeMap;

pub(super) static RULE: Rule =
    Rule { id: "FAB427", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

/// Names in one message.
const SHOWN: usize = 4;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    let mut by_command: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for set in &context.plan.set_by_pod {
        match set.by {
            OwnSetting::Command => by_command.entry(set.container).or_default().push(&set.name),
            // FAB819 reports it.
            OwnSetting::HostNetwork => {}
            OwnSetting::Reference => {
                let (index, name) = (set.container, &set.name);
                let own = context.pod().containers().get(index).and_then(|c| c.last_entry_of_variable(name));
                let path = own.map_or_else(
                    || pointers_in_pod::container(index),
                    |(nth, _)| pointers_in_pod::in_container(index, format_args!("env/{nth}")),
                );
                findings.add(
                    path,
                    format!("the webhook does not set {name} of profile {:?}: the pod sets {name} with valueFrom", profile.name),
                    format!("Remove {name} to get the profile's value. If this is intended, ignore the finding."),
                );
            }
            OwnSetting::Plugin => findings.add(
                pointers_in_pod::container(set.container),
                format!(
                    "the webhook does not set {} of profile {:?}: NCCL_NET_PLUGIN names a plugin with its own transport",
                    set.name, profile.name
                ),
                "Remove NCCL_NET_PLUGIN to use NCCL's own transport. If this is intended, ignore the finding.",
            ),
        }
    }
    for (index, names) in by_command {
        let Some(container) = context.pod().containers().get(index) else { continue };
        let first = names.first().copied().unwrap_or_default();
        let more = names.len().saturating_sub(SHOWN);
        let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>();
        let shown = match more {
            0 => names_in_sentence(&shown),
            _ => format!("{} and {more} more", shown.join(", ")),
        };
        let (them, what) = match names.len() {
            1 => ("this variable", "the variable from the command to get the profile's value"),
            _ => ("these variables", "the variables from the command to get the profile's values"),
        };
        findings.add(
            pointer_of_word_that_sets(container, index, first),
            format!(
                "the webhook does not set {shown} of profile {:?}: the command already sets {them}",
                profile.name
            ),
            format!("Remove {what}. If this is intended, ignore the finding."),
        );
    }
}

/// Pointer of the element of `command` or `args` that sets a variable.
fn pointer_of_word_that_sets(container: &Container<'_>, index: usize, name: &str) -> String {
    let command = container.command.as_ref().map_or(0, |list| list.0.len());
    let at = container.command_and_argument_words().position(|text| sets_variable(text, name));
    match at {
        Some(at) if at < command => pointers_in_pod::in_container(index, format_args!("command/{at}")),
        Some(at) => pointers_in_pod::in_container(index, format_args!("args/{}", at - command)),
        None => pointers_in_pod::container(index),
    }
}
