//! The pod's own networks and units, counted before anything is planned: a pod that could be scheduled and could
//! start without us still can after injection. Attachments satisfy attachments and units satisfy units, by what they
//! provide and not by their names. The rules and their reasons are in docs/adr/0018-do-no-harm.md.

mod conclude_own_fabric_from_counts;
mod conflict_of_efa_and_verbs;
mod count_attachments;
mod count_units;
mod does_each_resource_fit_some_node;

use conclude_own_fabric_from_counts::conclude_own_fabric_from_counts;
use conflict_of_efa_and_verbs::check_conflict_of_efa_and_verbs;
use count_attachments::{AttachmentKind, Attachments};
pub(super) use count_attachments::{network_that_plan_may_read, rail_resource_that_network_takes};
use count_units::HeldUnits;

use super::WhyNothingPlanned;
use super::target_container_type::Target;
use super::user_fabric_counts::{OwnFabricResult, UserFabric};
use crate::demands::Subject;
use crate::profile::{INJECTED_ANNOTATION, Profile, Rail};
use std::collections::BTreeMap;

/// Counts the pod's own networks and units.
///
/// # Errors
/// [`WhyNothingPlanned`] if the pod's own fields cannot be counted, or if no answer is safe.
pub(super) fn count_user_fabric_or_withhold(
    subject: &Subject<'_>,
    profile: &Profile,
    rails: &[Rail],
    targets: &[Target],
) -> Result<(UserFabric, BTreeMap<String, i64>), WhyNothingPlanned> {
    let units = HeldUnits::count_held_units(subject, profile, targets);
    if units.unread {
        return Err(WhyNothingPlanned::UnreadQuantity);
    }
    let full = subject.pod.annotation(super::INJECT_ANNOTATION) == Some("full");
    let claims = subject.demands.fabric_claims();
    if let Some(claim) = claims.unread.as_ref().filter(|_| !full) {
        return Err(WhyNothingPlanned::UnreadClaim(claim.clone()));
    }
    if full {
        check_conflict_of_efa_and_verbs(subject, profile, &units)?;
    }
    let attachments = Attachments::classify_attachments(subject, profile);
    let mut user_fabric = UserFabric {
        rails: rails.len(),
        own: attachments.count(AttachmentKind::Rail),
        stand_ins: attachments.count(AttachmentKind::StandIn),
        networks: attachments.networks(),
        units: units.counted(),
        completeness: OwnFabricResult::Incomplete,
    };
    if !full {
        user_fabric.completeness =
            conclude_own_fabric_from_counts(subject, profile, rails, targets, &attachments, &units)?;
    }
    if user_fabric.completeness == OwnFabricResult::Incomplete && user_fabric.stand_ins > 0 {
        does_each_resource_fit_some_node::check_each_resource_fits_some_node(subject, rails, &attachments)?;
    }
    let injected = subject.pod.annotation(INJECTED_ANNOTATION).is_some();
    let room = units.most_rails_to_add_per_resource(&attachments, injected);
    Ok((user_fabric, room))
}
