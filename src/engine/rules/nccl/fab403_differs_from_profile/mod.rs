//! FAB403: environment variable whose value differs from the profile's value.

use crate::plan::{is_checked, is_mesh_proxy, unused_interface};
use crate::pod::variable_value::{deciding, value};
use crate::pod::view::{Container, EnvVar};
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Reach, Rule, files};
use crate::text::printable;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

pub(super) static RULE: Rule = Rule {
    id: "FAB403",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, UNREAD), (Severity::Info, "the profile allows other values")],
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reason for a warning.
const UNREAD: &str = "a claim is not known, and the profile holds only if it is for accelerators";

/// Reason for a warning about an entry that is not the last one of its name.
const OPTIONAL: &str = "the entry takes effect only if the optional source of a later entry is missing";

/// A container that a profile is for.
struct Place<'a> {
    container: &'a Container<'a>,
    /// JSON pointer of the container.
    path: String,
    /// Whether the webhook adds the profile's variables to it.
    target: bool,
    /// Whether only a claim that is not known can be for its accelerators, while other containers request some.
    only_unread: bool,
}

/// The containers that get the profile's variables, and those that compute: the list in an annotation says where the webhook
/// adds something, and a job can run in an init container or a native sidecar.
fn places<'a>(context: &'a PodContext<'_>) -> impl Iterator<Item = Place<'a>> {
    let (pod, demands) = (context.pod(), &context.subject.demands);
    let nobody = !demands.any();
    let apps = pod.containers().iter().enumerate().filter_map(move |(index, container)| {
        // A claim that cannot be read may be for accelerators, but hardly a proxy's.
        let unread = demands.is_unread(index) && !is_mesh_proxy(container.name());
        let target = context.is_target(index);
        let computes = target || demands.app(index).any;
        let only_unread = !computes && !nobody;
        (computes || unread).then(|| Place { container, path: paths::container(index), target, only_unread })
    });
    let inits = pod.init_containers().iter().enumerate();
    let inits = inits.filter(move |(index, _)| demands.init(*index).any || demands.is_init_unread(*index));
    let inits = inits.map(move |(index, container)| Place {
        container,
        path: format!("/spec/initContainers/{index}"),
        target: false,
        only_unread: !demands.init(index).any,
    });
    apps.chain(inits)
}

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let own = context.resolution.profile().map(|(profile, _)| &**profile);
    let perhaps = &context.if_accelerated.holding;
    if own.is_none() && context.also_held.is_empty() && perhaps.is_empty() {
        return;
    }
    let held = || context.also_held.iter().map(|p| &**p).chain(own);
    let known = values(held());
    // Of the profiles that may hold, one may be the pod's.
    let perhaps_known = values(perhaps.iter().map(|p| &**p).chain(held()).filter(|_| !perhaps.is_empty()));
    for place in places(context) {
        if findings.is_full() {
            return;
        }
        if !perhaps.is_empty() {
            let open = open(context, place.container, &perhaps_known);
            for profile in perhaps.iter().take_while(|_| !open.is_empty()) {
                let found = &mut findings.because(UNREAD);
                of_nodes(context, profile, (&place, Severity::Warning), (&open, &perhaps_known), found);
            }
        }
        let open = open(context, place.container, &known);
        if place.only_unread {
            continue;
        }
        if let Some(profile) = own {
            of_own(context, profile, &place, findings);
        }
        for profile in context.also_held.iter().take_while(|_| !open.is_empty()) {
            of_nodes(context, profile, (&place, Severity::Error), (&open, &known), findings);
        }
    }
}

/// The values that profiles set, by variable.
type Values<'a> = HashMap<&'a str, HashSet<&'a str>>;

fn values<'a>(profiles: impl Iterator<Item = &'a Profile>) -> Values<'a> {
    let mut values = Values::new();
    for entry in profiles.flat_map(|p| &p.env).filter(|e| e.policy != EnvPolicy::Forbid) {
        values.entry(&entry.name).or_default().insert(&entry.value);
    }
    values
}

fn is_set(known: &Values<'_>, name: &str, value: Option<&str>) -> bool {
    value.is_some_and(|value| known.get(name).is_some_and(|values| values.contains(value)))
}

/// The variables of a container with a value that no profile sets: a pod may have thousands of variables, and hundreds of
/// profiles.
fn open<'c>(context: &PodContext<'_>, container: &'c Container<'_>, known: &Values<'_>) -> HashSet<&'c str> {
    let named = container.env().iter().filter_map(|entry| Some((entry.name.as_deref()?, entry)));
    let open =
        named.filter(|(name, entry)| !is_set(known, name, value_of(context, container, entry).as_deref()));
    open.map(|(name, _)| name).collect()
}

/// Compares a container with the profile of its pod.
fn of_own(
    context: &PodContext<'_>,
    profile: &Profile,
    Place { container, path, target, .. }: &Place<'_>,
    findings: &mut Findings<'_>,
) {
    for entry in profile.env.iter().filter(|e| *target || e.policy != EnvPolicy::Default) {
        let mut entries = deciding(container, &entry.name).peekable();
        if entries.peek().is_none() || !is_checked(entry, container, profile) {
            continue;
        }
        // A value that this pod cannot use is not compared with the user's.
        if unused_interface(entry, &context.plan.unused_interfaces).is_some() {
            continue;
        }
        for (earlier, (nth, own)) in entries.enumerate() {
            let (path, name) = (format!("{path}/env/{nth}"), &entry.name);
            if entry.policy == EnvPolicy::Forbid {
                let message = format!("profile {:?} forbids {name}: {}", profile.name, entry.reason);
                findings.add(path, message, format!("Remove {name}."));
                break;
            }
            let Some(value) = value_of(context, container, own).filter(|v| *v != entry.value) else {
                continue;
            };
            let shown = printable(&value, 60);
            if entry.policy == EnvPolicy::Require {
                let message =
                    format!("{name} is {shown:?}, but profile {:?} requires {}", profile.name, entry.value);
                let fix = format!("Remove {name}, or set it to {}.", entry.value);
                match earlier {
                    0 => findings.add(path, message, fix),
                    _ => findings.because(OPTIONAL).add_as(Severity::Warning, path, message, fix),
                }
            } else {
                let message = format!(
                    "{name}={shown} is not changed, although profile {:?} sets {}",
                    profile.name, entry.value
                );
                let fix = format!("Remove {name} to get the profile's value.");
                findings.add_as(Severity::Info, path, message, fix);
            }
        }
    }
}

/// The value of a variable's entry, as far as the pod shows it.
fn value_of<'e>(
    context: &'e PodContext<'_>,
    container: &Container<'_>,
    entry: &'e EnvVar<'_>,
) -> Option<Cow<'e, str>> {
    value(entry, container, context.pod(), context.subject.namespace)
}

/// Compares a container with a profile of the pod's nodes that is not the pod's own. A value that one of the profiles sets
/// is the platform team's, whoever wrote it into the pod: an injected value looks like one that a user wrote.
fn of_nodes(
    context: &PodContext<'_>,
    profile: &Profile,
    (Place { container, path, .. }, severity): (&Place<'_>, Severity),
    (open, known): (&HashSet<&str>, &Values<'_>),
    findings: &mut Findings<'_>,
) {
    let checked = |e: &&EnvEntry| e.policy != EnvPolicy::Default && open.contains(e.name.as_str());
    for entry in profile.env.iter().filter(checked) {
        // The pod does not have the interfaces of this profile's rails.
        let of_rail = || profile.rails.iter().any(|r| r.interface == entry.value);
        let mut entries = deciding(container, &entry.name).peekable();
        if entries.peek().is_none() || !is_checked(entry, container, profile) || of_rail() {
            continue;
        }
        for (earlier, (nth, variable)) in entries.enumerate() {
            let set = value_of(context, container, variable);
            if is_set(known, &entry.name, set.as_deref()) {
                continue;
            }
            let (path, name) = (format!("{path}/env/{nth}"), &entry.name);
            let nodes = format!("profile {:?} of the pod's nodes", profile.name);
            let away = format!("keep the pod off the nodes of profile {:?}", profile.name);
            match (entry.policy, &set) {
                (EnvPolicy::Forbid, _) => {
                    let message = format!("{nodes} forbids {name}: {}", entry.reason);
                    findings.add_as(severity, path, message, format!("Remove {name}, or {away}."));
                    break;
                }
                (_, Some(value)) => {
                    let message =
                        format!("{name} is {:?}, but {nodes} requires {}", printable(value, 60), entry.value);
                    let fix = format!("Set {name} to {}, or {away}.", entry.value);
                    match earlier {
                        0 => findings.add_as(severity, path, message, fix),
                        _ => findings.because(OPTIONAL).add_as(Severity::Warning, path, message, fix),
                    }
                }
                (_, None) => {}
            }
        }
    }
}
