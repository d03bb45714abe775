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
    for place in places(context) {
        for profile in perhaps {
            let found = &mut findings.because(UNREAD);
            of_nodes(context, own, profile, (&place, Severity::Warning), found);
        }
        if place.only_unread {
            continue;
        }
        if let Some(profile) = own {
            of_own(context, profile, &place, findings);
        }
        for profile in context.also_held {
            of_nodes(context, own, profile, (&place, Severity::Error), findings);
        }
    }
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
    own: Option<&Profile>,
    profile: &Profile,
    (Place { container, path, .. }, severity): (&Place<'_>, Severity),
    findings: &mut Findings<'_>,
) {
    for entry in profile.env.iter().filter(|e| e.policy != EnvPolicy::Default) {
        // The pod does not have the interfaces of this profile's rails.
        let of_rail = || profile.rails.iter().any(|r| r.interface == entry.value);
        let mut entries = deciding(container, &entry.name).peekable();
        if entries.peek().is_none() || !is_checked(entry, container, profile) || of_rail() {
            continue;
        }
        for (earlier, (nth, variable)) in entries.enumerate() {
            let set = value_of(context, container, variable);
            // Of the profiles that may hold, one may be the pod's.
            let perhaps = context.if_accelerated.holding.iter().filter(|_| severity == Severity::Warning);
            let others = context.also_held.iter().chain(perhaps).map(|p| &**p).chain(own);
            let sets = |p: &Profile| {
                let same = |e: &&EnvEntry| e.name == entry.name && e.policy != EnvPolicy::Forbid;
                p.env.iter().filter(same).any(|e| set.as_deref() == Some(e.value.as_str()))
            };
            if others.into_iter().any(sets) {
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
