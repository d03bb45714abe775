//! LimitRanges and ResourceQuotas against what the webhook adds to a pod that uses a whole node.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::what_is_read::{LIMIT_RANGES, NAMESPACES, RESOURCE_QUOTAS, Source};
use crate::pod::Quantity;
use crate::profile::{Profile, units_of_other_resource};
use crate::resolve::namespaces_that_use;
use serde_json::Value;
use std::collections::BTreeMap;

/// Units of each resource that a container with all accelerators of a node gets.
fn units_that_profile_adds(profile: &Profile) -> BTreeMap<&str, i64> {
    let accelerators = profile.accelerators_per_node;
    let rails = profile.rails_for_accelerators(accelerators);
    let mut units: BTreeMap<&str, i64> = BTreeMap::new();
    for resource in rails.iter().filter_map(|rail| rail.resource.as_deref()) {
        *units.entry(resource).or_default() += 1;
    }
    let count = u32::try_from(rails.len()).unwrap_or(u32::MAX);
    for resource in &profile.resources {
        *units.entry(&resource.name).or_default() += units_of_other_resource(resource, accelerators, count);
    }
    units
}

fn quantity(object: &Value, field: &str, key: &str) -> Option<i64> {
    exact(object, field, key).map(Quantity::units_rounded_up)
}

fn exact(object: &Value, field: &str, key: &str) -> Option<Quantity> {
    Quantity::parse(object.pointer(field)?.get(key)?.as_str()?).ok()
}

/// Resources of the monitor that a profile adds. Preflight has those of the training container: a LimitRange treats
/// both alike, and a quota counts an init container only if it is larger than all app containers together (KEP-753).
fn limits_of_monitor(profile: &Profile) -> Vec<(&'static str, &str, Quantity)> {
    let Some(own) = profile.monitor.as_ref().map(|monitor| &monitor.resources) else { return Vec::new() };
    let each = [
        ("cpu", own.cpu.as_str()),
        ("memory", own.memory.as_str()),
        ("ephemeral-storage", own.ephemeral_storage.as_str()),
    ];
    each.into_iter().filter_map(|(name, text)| Some((name, text, Quantity::parse(text).ok()?))).collect()
}

/// What a LimitRange refuses of the monitor: its limits of type `Container` hold for sidecars too
/// (k8s.io/kubernetes plugin/pkg/admission/limitranger).
fn refused_monitor(object: &Value, profile: &Profile) -> Vec<String> {
    let limits = list_at_pointer(object, "/spec/limits")
        .iter()
        .filter(|limit| text_at_pointer(limit, "/type") == "Container");
    let mut refused = Vec::new();
    for limit in limits {
        for (name, own, units) in limits_of_monitor(profile) {
            let least = exact(limit, "/min", name).filter(|least| *least > units);
            let most = exact(limit, "/max", name).filter(|most| *most < units);
            let (bound, field) = match (least, most) {
                (Some(_), _) => ("at least", "min"),
                (None, Some(_)) => ("at most", "max"),
                (None, None) => continue,
            };
            refused.push(format!(
                "LimitRange {} allows {bound} {} {name} for a container, and the monitor of profile {:?} has {own}: the API \
                 server refuses the pod",
                self::name(object),
                text_at_pointer(limit, &format!("/{field}/{name}")),
                profile.name
            ));
        }
    }
    refused
}

/// Each object of a kind with each profile that its namespace uses.
fn objects_with_profiles_of_their_namespace<'a>(
    facts: &'a Facts,
    source: &Source,
) -> Result<Vec<(&'a Value, &'a Profile)>, DoctorCheckOutcome> {
    facts.skip_if_profiles_unread()?;
    facts.skip_if_unread(&NAMESPACES)?;
    let mut by_namespace: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for object in facts.objects_or_skip(source)? {
        by_namespace.entry(text_at_pointer(object, "/metadata/namespace")).or_default().push(object);
    }
    let mut pairs = Vec::new();
    for profile in facts.snapshot.profiles() {
        for namespace in namespaces_that_use(profile, &facts.snapshot) {
            let objects = by_namespace.get(namespace).into_iter().flatten();
            pairs.extend(objects.map(|object| (*object, &**profile)));
        }
    }
    Ok(pairs)
}

fn name(object: &Value) -> String {
    format!(
        "{}/{}",
        text_at_pointer(object, "/metadata/namespace"),
        text_at_pointer(object, "/metadata/name")
    )
}

pub(super) fn check_limit_ranges(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let mut problems = Vec::new();
    for (object, profile) in objects_with_profiles_of_their_namespace(facts, &LIMIT_RANGES)? {
        for (resource, units) in units_that_profile_adds(profile) {
            let limits = list_at_pointer(object, "/spec/limits").iter();
            let most = limits.filter_map(|limit| quantity(limit, "/max", resource)).min();
            if let Some(most) = most.filter(|most| *most < units) {
                problems.push(format!(
                    "LimitRange {} allows {most} {resource}, and profile {:?} adds {units}: the API server refuses the pod",
                    name(object),
                    profile.name
                ));
            }
        }
        problems.extend(refused_monitor(object, profile));
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        "Change the bound of this resource in the LimitRange. For the monitor, set monitor.resources in the profile instead.",
    ))
}

pub(super) fn check_resource_quotas(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let mut problems = Vec::new();
    for (object, profile) in objects_with_profiles_of_their_namespace(facts, &RESOURCE_QUOTAS)? {
        for (resource, units) in units_that_profile_adds(profile) {
            // Quotas of extended resources are of requests only (kubernetes.io, Resource Quotas).
            let key = format!("requests.{resource}");
            let Some(hard) = quantity(object, "/spec/hard", &key) else { continue };
            let left = hard - quantity(object, "/status/used", &key).unwrap_or(0);
            if left < units {
                problems.push(format!(
                    "ResourceQuota {} has {left} of {hard} {resource} left, and profile {:?} adds {units} to a pod: the API \
                     server refuses the pod",
                    name(object),
                    profile.name
                ));
            }
        }
        problems.extend(monitor_over_quota(object, profile));
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        "Raise the quota of this resource, or wait until pods of the namespace end.",
    ))
}

/// Where a quota has no room for the monitor. A quota of a resource requires a value of every container, so the monitor
/// has one too. `cpu` and `memory` are requests (kubernetes.io, Resource Quotas).
fn monitor_over_quota(object: &Value, profile: &Profile) -> Vec<String> {
    let mut problems = Vec::new();
    for (resource, own, units) in limits_of_monitor(profile) {
        for key in [resource.to_owned(), format!("requests.{resource}"), format!("limits.{resource}")] {
            let Some(hard) = exact(object, "/spec/hard", &key) else { continue };
            let used = exact(object, "/status/used", &key).unwrap_or(Quantity::from_units(0));
            if used.saturating_add(units) > hard {
                let shown = |field: &str| object.pointer(field).and_then(|of| of.get(&key)?.as_str());
                problems.push(format!(
                    "ResourceQuota {} has {} of {} {key} in use, and the monitor of profile {:?} adds {own} to a pod: the API \
                     server refuses the pod",
                    name(object),
                    shown("/status/used").unwrap_or("0"),
                    shown("/spec/hard").unwrap_or_default(),
                    profile.name
                ));
            }
        }
    }
    problems
}
