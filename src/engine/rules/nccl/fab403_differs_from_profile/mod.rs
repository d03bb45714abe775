//! FAB403: environment variable whose value differs from the profile's value.

mod own_values;
mod which_containers_are_compared;
mod which_profiles_refuse_value;

use self::own_values::{OwnVariable, WhereOwnVariableIsSet, own_variables};
use self::which_containers_are_compared::{ComparedContainer, compared_containers};
use self::which_profiles_refuse_value::{
    ProfilesCompared, ProfilesThatSetRefusedValues, RestrictedVariable, RestrictingEntry,
    refusing_entries_in_order, variables_of_container,
};
use crate::plan::{is_checked_by_nccl_version, unused_interface_named_by_variable};
use crate::profile::schema::EnvPolicy;
use crate::profile::{EnvEntry, Profile};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::iter;

pub(super) static RULE: Rule = Rule {
    id: "FAB403",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, UNREAD), (Severity::Info, "the profile allows other values")],
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Reason for a warning.
const UNREAD: &str =
    "a claim of the pod is not known, and the profile applies only if this claim is for accelerators";

/// Reason for a warning about an entry that is not the last one of its name.
const OPTIONAL: &str = "a later env entry from an optional source may override this value";

fn check<'a>(context: &'a PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let own = context.resolution.profile().map(|(profile, _)| &**profile);
    let (perhaps, also) = (&context.if_accelerated.holding, context.also_held);
    if own.is_none() && also.is_empty() && perhaps.is_empty() {
        return;
    }
    let also = || also.iter().map(|p| &**p);
    let catalog = context.subject.snapshot.catalog();
    if !compared_containers(context).any(|place| variables_of_container(context, &place).next().is_some()) {
        return;
    }
    let held = also().next().map(|_| ProfilesCompared::compare_with(catalog, own, also(), iter::empty()));
    let perhaps = (!perhaps.is_empty()).then(|| {
        let perhaps = perhaps.iter().map(|p| &**p);
        ProfilesCompared::compare_with(catalog, own, perhaps, also())
    });
    // A pod without a profile could name one of these.
    let as_named = |held: &ProfilesCompared<'a>, unread: bool| {
        let mut setters = ProfilesThatSetRefusedValues::default();
        let mut places = compared_containers(context).filter(|place| unread || !place.only_unread);
        let mut keep = |place: ComparedContainer<'a>| {
            held.restricted_variables_of_container(context, &place)
                .all(|v| setters.keep_profiles_that_set_value(&v))
        };
        own.is_none() && places.all(|place| !context.deadline.is_over() && keep(place))
    };
    let held = held.filter(|held| !as_named(held, false));
    let perhaps = perhaps.filter(|perhaps| !as_named(perhaps, true));
    for place in compared_containers(context) {
        if findings.must_stop_reporting() {
            return;
        }
        if let Some(perhaps) = &perhaps {
            compare_with_profiles_of_nodes(
                context,
                perhaps,
                (&place, Severity::Warning),
                &mut findings.with_reason_for_lower_severity(UNREAD),
            );
        }
        if place.only_unread {
            continue;
        }
        if let Some(profile) = own {
            compare_with_own_profile(context, profile, &place, findings);
        }
        if let Some(held) = &held {
            compare_with_profiles_of_nodes(context, held, (&place, Severity::Error), findings);
        }
    }
}

/// Compares a container with the profile of its pod.
fn compare_with_own_profile(
    context: &PodContext<'_>,
    profile: &Profile,
    place: &ComparedContainer<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    for entry in profile.env.iter().filter(|e| place.target || e.policy != EnvPolicy::Default) {
        // A value that this pod cannot use is not compared with the user's.
        let compared = || {
            is_checked_by_nccl_version(entry, place.container, profile)
                && unused_interface_named_by_variable(entry, &context.plan.unused_interfaces).is_none()
        };
        for own in own_variables(context, place, &entry.name).filter(|_| compared()) {
            report_difference_from_profile(profile, entry, (own, &place.path()), findings);
        }
    }
}

/// Compares a variable of a container with the pod's profile.
fn report_difference_from_profile(
    profile: &Profile,
    entry: &EnvEntry,
    (own, container): (OwnVariable<'_>, &str),
    findings: &mut FindingsOfRule<'_>,
) {
    let (name, policy) = (&entry.name, entry.policy);
    if policy == EnvPolicy::Forbid {
        let message = format!("profile {:?} forbids {name}: {}", profile.name, entry.reason);
        let fix = format!("Remove {name}{}.", own.last.origin_in_words());
        findings.add(own.last.path(container), message, fix);
        return;
    }
    let Some(value) = own.value.filter(|v| *v.text != *entry.value) else { return };
    let (path, shown) = (value.entry.path(container), escaped_and_cut(&value.text, 60));
    if policy == EnvPolicy::Require {
        let at = value.entry.place_in_words();
        let message =
            format!("{name} is {shown:?}{at}, but profile {:?} requires {}", profile.name, entry.value);
        let fix = format!("Remove {name}{}, or set it to {}.", value.entry.origin_in_words(), entry.value);
        match value.earlier {
            false => findings.add(path, message, fix),
            true => findings.with_reason_for_lower_severity(OPTIONAL).add_with_severity(
                Severity::Warning,
                path,
                message,
                fix,
            ),
        }
    } else if value.entry != WhereOwnVariableIsSet::File {
        let message = format!(
            "{name} is {shown:?}, but profile {:?} sets {}: the webhook keeps the pod's value",
            profile.name, entry.value
        );
        let fix = format!("Remove {name} to get the profile's value.");
        findings.add_with_severity(Severity::Info, path, message, fix);
    }
}

/// Compares a container with profiles of the pod's nodes that are not the pod's own. A value that the pod's own profile
/// sets is the platform team's, whoever wrote it into the pod: an injected value looks like one that a user wrote.
fn compare_with_profiles_of_nodes<'a>(
    context: &'a PodContext<'_>,
    held: &ProfilesCompared<'a>,
    (place, severity): (&ComparedContainer<'a>, Severity),
    findings: &mut FindingsOfRule<'_>,
) {
    if !findings.may_still_report(severity) {
        return;
    }
    let variables: Vec<RestrictedVariable<'_, '_>> =
        held.restricted_variables_of_container(context, place).collect();
    // There may be thousands of pairs, of which fifty are reported: no text is made for the others.
    let (mut takes, mut takes_warnings) = (true, true);
    for (RestrictingEntry { profile, entry, .. }, own) in refusing_entries_in_order(&variables) {
        let earlier = entry.policy != EnvPolicy::Forbid && own.value.as_ref().is_some_and(|v| v.earlier);
        let (as_severity, open) = match earlier {
            false => (severity, &mut takes),
            true => (Severity::Warning, &mut takes_warnings),
        };
        *open = *open && findings.may_still_report(as_severity);
        if !*open {
            continue;
        }
        let name = &entry.name;
        let nodes = format!("profile {:?} of the pod's nodes", profile.name);
        let away = format!("do not run the pod on the nodes of profile {:?}", profile.name);
        if entry.policy == EnvPolicy::Forbid {
            let message = format!("{nodes} forbids {name}: {}", entry.reason);
            let fix = format!("Remove {name}{}, or {away}.", own.last.origin_in_words());
            findings.add_with_severity(severity, own.last.path(&place.path()), message, fix);
        } else if let Some(value) = &own.value {
            let shown = escaped_and_cut(&value.text, 60);
            let at = value.entry.place_in_words();
            let message = format!("{name} is {shown:?}{at}, but {nodes} requires {}", entry.value);
            let (path, fix) =
                (value.entry.path(&place.path()), format!("Set {name} to {}, or {away}.", entry.value));
            match value.earlier {
                false => findings.add_with_severity(severity, path, message, fix),
                true => findings.with_reason_for_lower_severity(OPTIONAL).add_with_severity(
                    Severity::Warning,
                    path,
                    message,
                    fix,
                ),
            }
        }
    }
}
