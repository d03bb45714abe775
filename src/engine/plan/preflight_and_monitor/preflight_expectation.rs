//! What the profile expects of the pod, for preflight.

use super::preflight_resources::extended_units_of_targets;
use super::which_containers_are_added::ContainersToAdd;
use crate::demands::Subject;
use crate::multus;
use crate::nccl::Transport;
use crate::plan::annotation_names_and_paths::NCCL_CONF;
use crate::plan::{Edit, Plan, nccl_conf_and_small_files, nccl_conf_format};
use crate::pod::which_containers_webhook_added::PROGRAM_VOLUME_PATH;
use crate::preflight::expectation_document::{Expectation, Policy};
use crate::profile::{CheckVerdict, PreflightVerdict, Profile, injected_mark_of};

/// The expectation for a pod that gets this plan.
pub(super) fn expectation_of_preflight(
    subject: &Subject<'_>,
    profile: &Profile,
    plan: &Plan,
    place: &ContainersToAdd<'_>,
) -> Expectation {
    let preflight = profile.preflight.as_ref();
    let checks = preflight.into_iter().flat_map(|p| &p.checks);
    let policy = |verdict: &CheckVerdict| match verdict {
        CheckVerdict::Warn => Policy::Warn,
        CheckVerdict::Fail => Policy::Fail,
        CheckVerdict::Skip => Policy::Skip,
    };
    let planned = plan.changes_of_pod_itself().iter().find_map(|c| match &c.edit {
        Edit::File { name, text, .. } if name == NCCL_CONF => Some(text.as_str()),
        _ => None,
    });
    let lines = planned
        .or_else(|| nccl_conf_and_small_files::file_annotation_of_pod(subject.pod, NCCL_CONF))
        .unwrap_or_default();
    let shm = plan.changes_of_pod_itself().iter().find_map(|c| match &c.edit {
        Edit::ShmVolume { size, .. } => u64::try_from(*size).ok(),
        _ => None,
    });
    // Slices and shares of accelerators are not whole ones, and an unknown number is none.
    let gpus = subject.accelerators.filter(|_| plan.targets.iter().all(|t| t.nccl));
    Expectation {
        profile: Some(injected_mark_of(profile)),
        transport: Some(profile.transport),
        devices: expected_devices(subject, profile, plan),
        interfaces: interfaces(subject, profile, plan),
        gpus: gpus.filter(|n| *n > 0 && *n == plan.accelerators),
        rate: preflight.and_then(|p| p.rate),
        shm,
        checks: checks.map(|(id, verdict)| (id.clone(), policy(verdict))).collect(),
        default: Some(match preflight.map(|p| p.verdict).unwrap_or_default() {
            PreflightVerdict::Warn => Policy::Warn,
            PreflightVerdict::Fail => Policy::Fail,
        }),
        write: place.nccl_conf_of_preflight().map(|_| format!("{PROGRAM_VOLUME_PATH}/{NCCL_CONF}")),
        facts: Some(format!("{PROGRAM_VOLUME_PATH}/facts.json")),
        conf: nccl_conf_format::first_variables_of_conf(lines)
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
        peers: preflight.map(|p| p.peers.clone()).unwrap_or_default(),
        ..Expectation::default()
    }
}

/// RDMA devices of the targets: the units of the rails, or the units of EFA. A slot of a shared HCA says nothing of the
/// number of devices.
fn expected_devices(subject: &Subject<'_>, profile: &Profile, plan: &Plan) -> Option<u32> {
    if !profile.transport.is_verbs() && profile.transport != Transport::Efa {
        return None;
    }
    let held = extended_units_of_targets(subject.pod, plan);
    let of_rail = |name: &str| profile.rails.iter().any(|r| r.resource.as_deref() == Some(name));
    let efa = profile.transport == Transport::Efa;
    let counts = |name: &str| of_rail(name) || efa && profile.has_resource(name);
    let sum = held.iter().filter(|(name, _)| counts(name)).fold(0_i64, |sum, (_, n)| sum.saturating_add(*n));
    u32::try_from(sum).ok().filter(|n| *n > 0)
}

/// Interfaces of the profile's rails in the final annotation.
fn interfaces(subject: &Subject<'_>, profile: &Profile, plan: &Plan) -> Vec<String> {
    let planned = plan.changes_of_pod_itself().iter().find_map(|c| match &c.edit {
        Edit::Networks { value, .. } => multus::parse_within_limit(value).ok(),
        _ => None,
    });
    let Some(networks) = planned.as_ref().or(subject.readable_networks()) else { return Vec::new() };
    let rails = networks.items.iter().filter(|item| {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        profile.first_rail_on_network(namespace, &item.name, subject.namespace).is_some()
    });
    rails.filter_map(|item| item.interface.as_deref().map(str::to_owned)).collect()
}
