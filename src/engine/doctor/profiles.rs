//! FabricProfiles, by the same findings as their status.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, text_at_pointer};
use super::nodes_with_accelerators;
use super::what_is_read::{CONFIG_MAPS, NODES, PROFILES};
use crate::profile::{FabricProfileStatus, Problem};
use crate::resolve::profile_status::{ProfileUse, Statuses};
use crate::text::count_with_noun;

/// The status of every profile object, by name.
fn compute_statuses(
    facts: &Facts,
) -> Result<Vec<(String, FabricProfileStatus, ProfileUse)>, DoctorCheckOutcome> {
    facts.skip_if_profiles_unread()?;
    let objects = facts.objects_or_skip(&PROFILES)?.iter();
    let statuses = Statuses::index_namespaces_for_statuses(&facts.snapshot);
    let status = |object: &serde_json::Value| {
        let (status, used) = statuses.of_object(&object.to_string());
        (text_at_pointer(object, "/metadata/name").to_owned(), status, used)
    };
    Ok(objects.map(status).collect())
}

fn problem(name: &str, found: &Problem) -> String {
    format!("profile {name:?}, {}: {}", found.pointer, found.message)
}

pub(super) fn check_any_profile_exists(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&PROFILES)?;
    let count_of = facts.snapshot.profiles().count();
    if count_of == 0 {
        // The profiles may be in files.
        facts.skip_if_unread(&CONFIG_MAPS)?;
    }
    Ok(match count_of {
        0 => DoctorCheckOutcome::warning(
            "no FabricProfile exists: the webhook changes no pod, and each pod with accelerators gets one warning (FAB803)",
            "Write a FabricProfile (docs/profiles.md), try it with fabric-admission review, and apply it.",
        ),
        some => DoctorCheckOutcome::success_with(count_with_noun(some, "profile")),
    })
}

pub(super) fn check_profiles_can_be_used(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let all = compute_statuses(facts)?;
    let broken = all.iter().filter(|(_, _, used)| *used != ProfileUse::Used);
    let fields = broken.flat_map(|(name, status, _)| status.problems.iter().map(|p| problem(name, p)));
    let files = facts.broken_files.iter().cloned();
    let problems: Vec<String> = files.chain(fields).collect();
    Ok(DoctorCheckOutcome::error_if_any(
        &problems,
        "Correct the field or the file. Until then the server does not use the profile.",
    ))
}

/// Problems of profiles in use at one field.
fn problems_at_pointer(facts: &Facts, pointer: &str) -> Result<Vec<String>, DoctorCheckOutcome> {
    let all = compute_statuses(facts)?;
    let used = all.iter().filter(|(_, _, used)| *used == ProfileUse::Used);
    let found = used.flat_map(|(name, status, _)| {
        status.problems.iter().filter(|p| p.pointer == pointer).map(|p| problem(name, p))
    });
    Ok(found.collect())
}

pub(super) fn check_profiles_select_nodes(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&NODES)?;
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems_at_pointer(facts, "/spec/nodeSelector")?,
        "Compare spec.nodeSelector with kubectl get nodes --show-labels. Ignore this if the node pool is at zero.",
    ))
}

pub(super) fn check_priorities_are_not_tied(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_unread(&NODES)?;
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems_at_pointer(facts, "/spec/priority")?,
        "Give one of these profiles a higher spec.priority, or let spec.nodeSelector select different nodes.",
    ))
}

pub(super) fn check_profiles_select_all_accelerators(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    facts.skip_if_profiles_unread()?;
    facts.skip_if_unread(&NODES)?;
    let nodes = nodes_with_accelerators::count_accelerator_nodes_without_profile(facts);
    Ok(match nodes.without {
        0 => DoctorCheckOutcome::success_with("none"),
        some => DoctorCheckOutcome::warning(
            format!(
                "no profile selects {} of {} with accelerators ({}): pods on these nodes get no RDMA network",
                some,
                count_with_noun(nodes.total, "node"),
                nodes.names.join(", ")
            ),
            "Add a FabricProfile whose spec.nodeSelector selects these nodes, or ignore this if they have no fabric.",
        ),
    })
}
