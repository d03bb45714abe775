//! FAB403: environment variable whose value differs from the profile's value.

use crate::plan::{is_checked, is_mesh_proxy, unused_interface};
use crate::pod::view::Container;
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
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

/// A container that a profile is for.
struct Place<'a> {
    container: &'a Container<'a>,
    /// JSON pointer of the container.
    path: String,
    /// Whether the webhook adds the profile's variables to it.
    target: bool,
}

/// The containers that get the profile's variables, and those that compute: the list in an annotation says where the webhook
/// adds something, and a job can run in an init container or a native sidecar.
fn places<'a>(context: &'a PodContext<'_>) -> impl Iterator<Item = Place<'a>> {
    let (pod, demands) = (context.pod(), &context.subject.demands);
    let nobody = !demands.any();
    let apps = pod.containers().iter().enumerate().filter_map(move |(index, container)| {
        // Where no other container requests accelerators, a claim that cannot be read may be for them, but hardly a proxy's.
        let unread = || nobody && demands.is_unread(index) && !is_mesh_proxy(container.name());
        let target = context.is_target(index);
        let computes = target || demands.app(index).any || unread();
        computes.then(|| Place { container, path: paths::container(index), target })
    });
    let inits = pod.init_containers().iter().enumerate().filter(move |(index, _)| demands.init(*index).any);
    let inits = inits.map(|(index, container)| Place {
        container,
        path: format!("/spec/initContainers/{index}"),
        target: false,
    });
    apps.chain(inits)
}

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let own = context.resolution.profile().map(|(profile, _)| &**profile);
    if own.is_none() && context.also_held.is_empty() {
        return;
    }
    for place in places(context) {
        if let Some(profile) = own {
            of_own(context, profile, &place, findings);
        }
        for profile in context.also_held {
            of_nodes(context, own, profile, &place, findings);
        }
    }
}

/// Compares a container with the profile of its pod.
fn of_own(
    context: &PodContext<'_>,
    profile: &Profile,
    Place { container, path, target }: &Place<'_>,
    findings: &mut Findings<'_>,
) {
    for entry in profile.env.iter().filter(|e| *target || e.policy != EnvPolicy::Default) {
        let Some((nth, own)) = container.env_var(&entry.name) else { continue };
        if !is_checked(entry, container, profile) {
            continue;
        }
        // A value that this pod cannot use is not compared with the user's.
        if unused_interface(entry, &context.plan.unused_interfaces).is_some() {
            continue;
        }
        let (path, name) = (format!("{path}/env/{nth}"), &entry.name);
        if entry.policy == EnvPolicy::Forbid {
            let message = format!("profile {:?} forbids {name}: {}", profile.name, entry.reason);
            findings.add(path, message, format!("Remove {name}."));
            continue;
        }
        let Some(value) = own.literal().filter(|v| *v != entry.value) else { continue };
        let shown = printable(value, 60);
        if entry.policy == EnvPolicy::Require {
            let message =
                format!("{name} is {shown:?}, but profile {:?} requires {}", profile.name, entry.value);
            findings.add(path, message, format!("Remove {name}, or set it to {}.", entry.value));
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

/// Compares a container with a profile of the pod's nodes that is not the pod's own. A value that one of the profiles sets
/// is the platform team's, whoever wrote it into the pod: an injected value looks like one that a user wrote.
fn of_nodes(
    context: &PodContext<'_>,
    own: Option<&Profile>,
    profile: &Profile,
    Place { container, path, .. }: &Place<'_>,
    findings: &mut Findings<'_>,
) {
    for entry in profile.env.iter().filter(|e| e.policy != EnvPolicy::Default) {
        let Some((nth, variable)) = container.env_var(&entry.name) else { continue };
        // The pod does not have the interfaces of this profile's rails.
        let of_rail = || profile.rails.iter().any(|r| r.interface == entry.value);
        if !is_checked(entry, container, profile) || of_rail() {
            continue;
        }
        let literal = variable.literal();
        let others = context.also_held.iter().map(|p| &**p).chain(own);
        let sets = |p: &Profile| {
            let same = |e: &&EnvEntry| e.name == entry.name && e.policy != EnvPolicy::Forbid;
            p.env.iter().filter(same).any(|e| literal == Some(e.value.as_str()))
        };
        let (path, name) = (format!("{path}/env/{nth}"), &entry.name);
        let nodes = format!("profile {:?} of the pod's nodes", profile.name);
        let away = format!("keep the pod off the nodes of profile {:?}", profile.name);
        match (entry.policy, literal) {
            _ if others.into_iter().any(sets) => {}
            (EnvPolicy::Forbid, _) => {
                let message = format!("{nodes} forbids {name}: {}", entry.reason);
                findings.add(path, message, format!("Remove {name}, or {away}."));
            }
            (_, Some(value)) => {
                let message =
                    format!("{name} is {:?}, but {nodes} requires {}", printable(value, 60), entry.value);
                findings.add(path, message, format!("Set {name} to {}, or {away}.", entry.value));
            }
            (_, None) => {}
        }
    }
}
