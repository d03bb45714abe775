//! Which variables of a profile the plan adds: each that is absent from the container's `env` and from the shell text of
//! its command, by the carrier that reaches the ranks. Which it leaves out, and why.

use super::annotation_names_and_paths::FILES_PATH;
use super::does_variable_name_interface::name_or_value_has_interface;
use super::is_variable_for_nccl_version::{
    Applies, applies_to_nccl_of_container, known_nccl_version_and_source,
};
use super::nccl_conf_and_small_files;
use super::nccl_conf_format::ConfFile;
use super::variables_to_add_type::VariablesOfTarget;
use super::{
    Change, Edit, EnvRefusal, FileRefusal, OwnSetting, Target, VariableSetByPod, VariableWithoutInterface,
    VariablesLeftOut, nccl_conf_format,
};
use crate::demands::Subject;
use crate::nccl::variable_table::may_set_known_variable;
use crate::pod::PodView;
use crate::pod::pod_fields::{Container, EnvVar};
use crate::pod::shell::{all_assigned_names, sets_variable};
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use std::cell::LazyCell;
use std::collections::BTreeSet;

fn does_container_name_net_plugin(pod: &PodView<'_>, container: &Container<'_>, conf: &ConfFile) -> bool {
    let plugin = container.last_entry_of_variable("NCCL_NET_PLUGIN");
    plugin.is_some_and(|(_, e)| e.literal_or_empty().is_none_or(|v| !v.is_empty() && v != "none"))
        || container
            .command_and_argument_words()
            .any(|text| may_set_known_variable(text) && sets_variable(text, "NCCL_NET_PLUGIN"))
        || nccl_conf_and_small_files::mounts_our_nccl_conf(pod, container)
            && conf.value("NCCL_NET_PLUGIN").is_some()
}

/// The unused interface that a variable of the profile names, as its whole value or as an exact match (`=rail0`).
pub(crate) fn unused_interface_named_by_variable<'a>(
    entry: &EnvEntry,
    unused: &'a [String],
) -> Option<&'a str> {
    let named = entry.name.ends_with("SOCKET_IFNAME");
    let value = entry.value.strip_prefix('=').unwrap_or(&entry.value);
    unused.iter().find(|interface| named && *interface == value).map(String::as_str)
}

/// Whether a variable names one of the profile's files.
fn points_to_file(entry: &EnvEntry) -> bool {
    entry.value.strip_prefix(FILES_PATH).is_some_and(|rest| rest.starts_with('/'))
}

/// What every target lacks, in the order of the targets. `unused`: interfaces of rails that the pod does not get.
/// `conf`: the pod's own `nccl.conf`; `conf_readers`: targets that read that of preflight.
pub(super) fn decide_variables_of_targets<'p>(
    subject: &Subject<'_>,
    profile: &'p Profile,
    targets: &[Target],
    unused: &[String],
    (conf, conf_readers): (&ConfFile, Option<&BTreeSet<usize>>),
) -> Vec<VariablesOfTarget<'p>> {
    let in_time = targets.iter().take_while(|_| !subject.deadline.is_over());
    let mut all: Vec<VariablesOfTarget<'p>> = in_time
        .filter_map(|target| decide_variables_of_target(subject, profile, *target, (unused, conf)))
        .collect();
    // One file serves all containers: a line that one of its readers must not have is none for the others either.
    let has_conf = |v: &VariablesOfTarget<'_>| {
        subject
            .pod
            .containers()
            .get(v.container)
            .is_some_and(|c| nccl_conf_and_small_files::mounts_our_nccl_conf(subject.pod, c))
    };
    let will_have =
        |v: &VariablesOfTarget<'_>| conf_readers.is_some_and(|readers| readers.contains(&v.container));
    let readers = all.iter().filter(|v| !v.by_file.is_empty() || will_have(v) || has_conf(v));
    let never: BTreeSet<&str> = readers.flat_map(|v| v.never.iter().copied()).collect();
    for variables in &mut all {
        let (kept, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut variables.by_file).into_iter().partition(|e| !never.contains(&*e.name));
        if !left.is_empty() {
            variables.file_refusal = Some(FileRefusal::Shared);
        }
        variables.by_file = kept;
        variables.left.extend(left);
    }
    all
}

/// Variables of the profile that the container's command sets by itself.
fn variables_set_by_command<'c>(container: &'c Container<'_>, profile: &Profile) -> BTreeSet<&'c str> {
    // Nearly every name differs in length from the profile's, and a command may have hundreds of thousands.
    let bit = |name: &str| 1_u64 << name.len().min(63);
    let lengths = profile.env.iter().fold(0, |lengths, e| lengths | bit(&e.name));
    let ours = |name: &&str| lengths & bit(name) != 0 && profile.env.iter().any(|e| *e.name == **name);
    container.command_and_argument_words().flat_map(all_assigned_names).filter(ours).collect()
}

fn decide_variables_of_target<'p>(
    subject: &Subject<'_>,
    profile: &'p Profile,
    target: Target,
    (unused, conf): (&[String], &ConfFile),
) -> Option<VariablesOfTarget<'p>> {
    let mut unknown_version = Vec::new();
    let container = subject.pod.containers().get(target.index)?;
    let plugin = LazyCell::new(|| does_container_name_net_plugin(subject.pod, container, conf));
    // Where the profile's files are not, what points to them would point to nothing.
    let reaches_files =
        LazyCell::new(|| nccl_conf_and_small_files::can_profile_files_reach(subject.pod, container, profile));
    let by_command = variables_set_by_command(container, profile);
    let (mut absent, mut set_by_pod) = (Vec::new(), Vec::new());
    let entries = profile
        .env
        .iter()
        .filter(|e| e.policy != EnvPolicy::Forbid)
        .filter(|e| target.nccl || !(e.name.starts_with("NCCL_") || e.name.starts_with("RCCL_")));
    for entry in entries.take_while(|_| !subject.deadline.is_over()) {
        let applies = applies_to_nccl_of_container(entry, container, profile);
        let own = container.last_entry_of_variable(&entry.name).map(|(_, own)| own);
        // The user's value does not reach ranks that sshd starts; where it is the profile's, the file brings it. FAB403
        // compares the two.
        let replaced = own
            .and_then(EnvVar::literal_or_empty)
            .is_some_and(|own| !subject.ranks_over_ssh || *own != *entry.value);
        let pointless = points_to_file(entry) && !*reaches_files;
        if applies == Applies::No || replaced || pointless {
            continue;
        }
        let by = match &*entry.name {
            _ if own.is_some_and(|own| own.literal_or_empty().is_none()) => Some(OwnSetting::Reference),
            _ if subject.pod.host_network() && name_or_value_has_interface(entry) => {
                Some(OwnSetting::HostNetwork)
            }
            name if by_command.contains(name) => Some(OwnSetting::Command),
            // A plugin that the user names brings its own transport; pinning IB would bypass it.
            "NCCL_NET" if *plugin => Some(OwnSetting::Plugin),
            _ => None,
        };
        match by {
            Some(by) => set_by_pod.push(VariableSetByPod {
                container: target.index,
                name: entry.name.to_string(),
                by,
            }),
            None if applies == Applies::Unknown => unknown_version.push(entry.name.to_string()),
            None => absent.push(entry),
        }
    }
    // The name of an interface that the pod does not have would stop NCCL: `no socket interface found`.
    let (absent, without): (Vec<_>, Vec<_>) =
        absent.into_iter().partition(|e| unused_interface_named_by_variable(e, unused).is_none());
    let without = without.into_iter().filter_map(|e| {
        let interface = unused_interface_named_by_variable(e, unused)?.to_owned();
        Some(VariableWithoutInterface { container: target.index, name: e.name.to_string(), interface })
    });
    let without_interface = without.collect();
    let own_differs = |e: &EnvEntry| {
        subject.ranks_over_ssh
            && container
                .last_entry_of_variable(&e.name)
                .is_some_and(|(_, own)| own.value.as_deref() != Some(&*e.value))
    };
    let never = profile.env.iter().filter(|e| {
        own_differs(e)
            || points_to_file(e) && !*reaches_files
            || applies_to_nccl_of_container(e, container, profile) != Applies::Yes
            || &*e.name == "NCCL_NET" && *plugin
    });
    let never = never.map(|e| &*e.name).collect();
    let mut variables = VariablesOfTarget {
        container: target.index,
        never,
        unknown_version,
        without_interface,
        set_by_pod,
        ..VariablesOfTarget::default()
    };
    // sshd starts ranks with an environment of its own: a variable in `env` would look right and change nothing.
    // `env` beats `envFrom`: setting a variable there could change one that a ConfigMap sets. A file changes no
    // variable that the process has, and ranks read it however they were started.
    variables.why = if subject.ranks_over_ssh {
        Some(EnvRefusal::Ssh)
    } else if container.env_from.as_deref().is_some_and(|sources| !sources.is_empty()) {
        Some(EnvRefusal::EnvFrom)
    } else {
        None
    };
    if variables.why.is_none() {
        let has_conf = nccl_conf_and_small_files::mounts_our_nccl_conf(subject.pod, container);
        // The user's line stays as it is, but what the profile requires does not depend on a text of the user's.
        let stays =
            |e: &EnvEntry| e.policy != EnvPolicy::Require && has_conf && conf.value(&e.name).is_some();
        variables.by_env = absent.into_iter().filter(|e| !stays(e)).collect();
        return Some(variables);
    }
    variables.file_refusal = nccl_conf_and_small_files::conf_refusal(subject.pod, container, profile);
    // What `envFrom` brings is not known: a plugin of the user's, or InfiniBand switched off on purpose, would be
    // stopped by a transport that is pinned.
    let pinned = |e: &EnvEntry| variables.why == Some(EnvRefusal::EnvFrom) && &*e.name == "NCCL_NET";
    let by_file = |e: &&EnvEntry| {
        variables.file_refusal.is_none() && nccl_conf_format::can_conf_line_carry(e) && !pinned(e)
    };
    (variables.by_file, variables.left) = absent.into_iter().partition(by_file);
    Some(variables)
}

/// The variables of one container, and those that no carrier takes.
pub(super) fn plan_env_and_left_out(
    pod: &PodView<'_>,
    profile: &Profile,
    variables: &VariablesOfTarget<'_>,
    files: &nccl_conf_and_small_files::PlannedFiles,
) -> (Vec<Change>, Option<VariablesLeftOut>) {
    let Some(container) = pod.containers().get(variables.container) else { return (Vec::new(), None) };
    let first = container.env().len();
    let without_files = files.refusal.is_some();
    let by_env = variables.by_env.iter().filter(|e| !without_files || !points_to_file(e));
    let change = |(nth, entry): (usize, &&EnvEntry)| Change {
        edit: Edit::Env {
            container: variables.container,
            name: entry.name.clone(),
            value: entry.value.clone(),
            index: first + nth,
        },
        reason: match entry
            .from
            .or(entry.before)
            .and_then(|_| known_nccl_version_and_source(container, profile))
        {
            Some((version, by)) => format!("{} (NCCL {version}, {by})", entry.reason).into(),
            None => (&entry.reason).into(),
        },
    };
    let changes = by_env.enumerate().map(change).collect();
    let Some(why) = variables.why else { return (changes, None) };
    let lost = variables.by_file.iter().filter(|_| files.refusal.is_some());
    let names: Vec<String> = variables.left.iter().chain(lost).map(|e| e.name.to_string()).collect();
    if names.is_empty() {
        return (changes, None);
    }
    let file = variables.file_refusal.clone().or_else(|| files.refusal.clone());
    (changes, Some(VariablesLeftOut { container: variables.container, why, names, file }))
}
