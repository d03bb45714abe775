//! Variables: each one that is absent from the container's `env` and from the shell text of its command.

use super::{Change, Edit, EnvRefusal, Plan, Scene, Target, WithoutInterface};
use crate::fabric::profile::EnvPolicy;
use crate::fabric::{EnvEntry, Profile};
use crate::pod::shell::sets_variable;
use crate::pod::view::Container;

fn names_plugin(container: &Container<'_>) -> bool {
    let plugin = container.env_var("NCCL_NET_PLUGIN");
    plugin.is_some_and(|(_, e)| e.literal().is_none_or(|v| !v.is_empty() && v != "none"))
        || container.shell_text().any(|text| sets_variable(text, "NCCL_NET_PLUGIN"))
}

/// The unused interface that a variable of the profile names, alone or as an exact match (`=rail0`).
pub(crate) fn unused_interface<'a>(entry: &EnvEntry, unused: &'a [String]) -> Option<&'a str> {
    let named = entry.name.ends_with("SOCKET_IFNAME");
    let value = entry.value.strip_prefix('=').unwrap_or(&entry.value);
    unused.iter().find(|interface| named && *interface == value).map(String::as_str)
}

pub(super) fn plan(scene: Scene<'_>, profile: &Profile, target: Target, plan: &mut Plan) {
    let Some(container) = scene.pod.containers().get(target.index) else { return };
    let absent: Vec<_> = profile
        .env
        .iter()
        .filter(|e| e.policy != EnvPolicy::Forbid)
        .filter(|e| container.env_var(&e.name).is_none())
        // A plugin that the user names brings its own transport; pinning IB would bypass it.
        .filter(|e| e.name != "NCCL_NET" || !names_plugin(container))
        .filter(|e| !container.shell_text().any(|text| sets_variable(text, &e.name)))
        .collect();
    if absent.is_empty() {
        return;
    }
    // sshd starts ranks with an environment of its own: a variable here would look right and change nothing.
    if scene.ranks_over_ssh {
        plan.env_refusals.push((target.index, EnvRefusal::Ssh));
        return;
    }
    // `env` beats `envFrom`: setting a variable here could change one that a ConfigMap sets.
    if container.env_from.as_deref().is_some_and(|sources| !sources.is_empty()) {
        plan.env_refusals.push((target.index, EnvRefusal::EnvFrom));
        return;
    }
    // The name of an interface that the pod does not have would stop NCCL: `no socket interface found`.
    let (absent, without): (Vec<_>, Vec<_>) =
        absent.into_iter().partition(|e| unused_interface(e, &plan.unused_interfaces).is_none());
    let without = without.into_iter().filter_map(|e| {
        let interface = unused_interface(e, &plan.unused_interfaces)?.to_owned();
        Some(WithoutInterface { container: target.index, name: e.name.clone(), interface })
    });
    let without: Vec<_> = without.collect();
    plan.without_interface.extend(without);
    let first = container.env().len();
    for (nth, entry) in absent.into_iter().enumerate() {
        plan.changes.push(Change {
            edit: Edit::Env {
                container: target.index,
                name: entry.name.clone(),
                value: entry.value.clone(),
                index: first + nth,
            },
            reason: entry.reason.clone(),
        });
    }
}
