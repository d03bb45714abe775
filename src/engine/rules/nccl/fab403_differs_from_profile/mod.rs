//! FAB403: environment variable whose value differs from the profile's value.

use crate::plan::{Applies, applies, unused_interface};
use crate::profile::schema::EnvPolicy;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB403",
    severity: Severity::Error,
    lesser: &[(Severity::Info, "the profile allows other values")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for target in &context.plan.targets {
        let Some(container) = context.pod().containers().get(target.index) else { continue };
        for entry in &profile.env {
            let Some((nth, own)) = container.env_var(&entry.name) else { continue };
            if applies(entry, container, profile) != Applies::Yes {
                continue;
            }
            // A value that this pod cannot use is not compared with the user's.
            if unused_interface(entry, &context.plan.unused_interfaces).is_some() {
                continue;
            }
            let path = paths::in_container(target.index, format_args!("env/{nth}"));
            let name = &entry.name;
            if entry.policy == EnvPolicy::Forbid {
                findings.add(
                    path,
                    format!("profile {:?} forbids {name}: {}", profile.name, entry.reason),
                    format!("Remove {name}."),
                );
                continue;
            }
            let Some(value) = own.literal().filter(|v| *v != entry.value) else { continue };
            let shown = printable(value, 60);
            let message = format!(
                "{name}={shown} is not changed, although profile {:?} sets {}",
                profile.name, entry.value
            );
            if entry.policy == EnvPolicy::Require {
                let message =
                    format!("{name} is {shown:?}, but profile {:?} requires {}", profile.name, entry.value);
                findings.add(path, message, format!("Remove {name}, or set it to {}.", entry.value));
            } else {
                findings.add_as(
                    Severity::Info,
                    path,
                    message,
                    format!("Remove {name} to get the profile's value."),
                );
            }
        }
    }
}
