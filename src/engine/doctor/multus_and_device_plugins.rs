//! Multus and device plugins.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::what_is_read::{DAEMON_SETS, NETWORKS, NODES};
use crate::resolve::{MissingNetworkOrResource, missing_for_every_namespace};
use crate::text::count_with_noun;
use serde_json::Value;

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Whether a DaemonSet runs Multus: its name differs from installer to installer, its image has the name.
fn is_multus(set: &Value) -> bool {
    let images =
        list_at_pointer(set, "/spec/template/spec/containers").iter().map(|c| text_at_pointer(c, "/image"));
    text_at_pointer(set, "/metadata/name").contains("multus")
        || images.into_iter().any(|image| image.contains("multus"))
}

pub(super) fn check_multus_runs(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let sets: Vec<&Value> =
        facts.objects_or_skip(&DAEMON_SETS)?.iter().filter(|set| is_multus(set)).collect();
    if sets.is_empty() {
        return Ok(DoctorCheckOutcome::warning(
            "no DaemonSet runs Multus: pods keep their networks annotation, and get no interface from it",
            "Install Multus, or ignore this if the profiles attach no networks, or if a distribution runs Multus outside \
             of DaemonSets.",
        ));
    }
    let mut problems = Vec::new();
    let places: u64 = sets.iter().map(|set| number(set, "/status/desiredNumberScheduled")).sum();
    if places == 0 {
        facts.skip_if_unread(&NODES)?;
        let nodes = super::nodes_with_accelerators::count_accelerator_nodes_without_profile(facts).total;
        if nodes > 0 {
            return Ok(DoctorCheckOutcome::warning(
                format!(
                    "the DaemonSet of Multus selects no node, and {} accelerators: their pods get no interface from \
                     their networks annotation",
                    if nodes == 1 { "1 node has".to_owned() } else { format!("{nodes} nodes have") }
                ),
                "Compare the node selector and the tolerations of the DaemonSet with the labels and taints of these nodes.",
            ));
        }
    }
    for set in sets {
        let (ready, wanted) =
            (number(set, "/status/numberReady"), number(set, "/status/desiredNumberScheduled"));
        if ready < wanted {
            let (namespace, name) =
                (text_at_pointer(set, "/metadata/namespace"), text_at_pointer(set, "/metadata/name"));
            problems.push(format!(
                "DaemonSet {namespace}/{name} is ready on {ready} of {wanted} nodes: pods on the other nodes do not start"
            ));
        }
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        "Look at the pods of this DaemonSet that are not ready: kubectl describe, kubectl logs.",
    ))
}

fn profiles_that_lack(facts: &Facts, wanted: fn(&MissingNetworkOrResource) -> bool) -> Vec<String> {
    let of_profile = |profile: &crate::profile::Profile| {
        let missing = missing_for_every_namespace(profile, &facts.snapshot);
        missing
            .into_iter()
            .filter(wanted)
            .map(|what| format!("{what} of profile {:?}", profile.name))
            .collect()
    };
    facts.snapshot.profiles().flat_map(|profile| -> Vec<String> { of_profile(profile) }).collect()
}

/// Networks that profiles name.
pub(super) fn check_networks_of_profiles_exist(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_profiles_unread()?;
    facts.skip_if_unread(&NETWORKS)?;
    let problems: Vec<String> =
        profiles_that_lack(facts, |what| matches!(what, MissingNetworkOrResource::Network(_)))
            .into_iter()
            .map(|what| format!("{what} does not exist: the webhook does not inject the profile"))
            .collect();
    Ok(DoctorCheckOutcome::error_if_any(
        &problems,
        "Create the NetworkAttachmentDefinition, or the object of the operator that creates it, or correct \
         spec.rails of the profile.",
    ))
}

/// Resources that profiles request.
pub(super) fn check_resources_of_profiles_are_on_nodes(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_profiles_unread()?;
    facts.skip_if_unread(&NODES)?;
    let problems: Vec<String> =
        profiles_that_lack(facts, |what| matches!(what, MissingNetworkOrResource::Resource(_)))
            .into_iter()
            .map(|what| {
                format!("{what} is on none of the profile's nodes: pods with the profile stay Pending")
            })
            .collect();
    Ok(DoctorCheckOutcome::error_if_any(
        &problems,
        "Check the device plugin on these nodes (kubectl describe node shows allocatable resources), and the \
         resource's name in the profile.",
    ))
}

/// Before an installation: whether there is anything to fit.
pub(super) fn check_any_node_has_accelerators(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&NODES)?;
    let nodes = super::nodes_with_accelerators::count_accelerator_nodes_without_profile(facts);
    Ok(match nodes.total {
        0 => DoctorCheckOutcome::warning(
            "no node has an accelerator now: the webhook changes only pods that request one",
            "Install the device plugin of the accelerators, or ignore this if the node pools are at zero.",
        ),
        total => DoctorCheckOutcome::success_with(count_with_noun(total, "node")),
    })
}
