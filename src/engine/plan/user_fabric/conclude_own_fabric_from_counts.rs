//! Whether a pod has a whole fabric of its own: networks for all rails, or another fabric.

use super::count_attachments::{AttachmentKind, Attachments};
use super::count_units::HeldUnits;
use crate::demands::Subject;
use crate::plan::WhyNothingPlanned;
use crate::plan::target_container_type::{Target, sum_of_accelerators};
use crate::plan::user_fabric_counts::{OtherFabric, OwnFabricResult};
use crate::profile::schema::{Inject, Per};
use crate::profile::{INJECTED_ANNOTATION, Profile, Rail, UnknownClaims};

pub(super) fn conclude_own_fabric_from_counts(
    subject: &Subject<'_>,
    profile: &Profile,
    rails: &[Rail],
    targets: &[Target],
    attachments: &Attachments<'_>,
    units: &HeldUnits<'_>,
) -> Result<OwnFabricResult, WhyNothingPlanned> {
    let other = |found| Ok(OwnFabricResult::OtherFabric(found));
    let claims = subject.demands.fabric_claims();
    if let Some(claim) = &claims.nic {
        return other(OtherFabric::Claim(claim.clone()));
    }
    if let Some(claim) = claims.unknown.as_ref().filter(|_| profile.unknown_claims == UnknownClaims::Block) {
        return other(OtherFabric::UnknownClaim(claim.clone()));
    }
    // This level adds only what networks of the pod need; it proves nothing about a fabric.
    if profile.inject == Inject::Networks && rails.is_empty() {
        return Ok(OwnFabricResult::Incomplete);
    }
    let own = attachments.count(AttachmentKind::Rail);
    let stand_ins = attachments.count(AttachmentKind::StandIn);
    // With every rail attached only units can be missing, and without them the pod cannot start.
    let attached = own > 0 && own >= rails.len();
    if let Some(resource) = units.rdma_resource_outside_profile(subject, profile).filter(|_| !attached) {
        return other(OtherFabric::Unit(resource.to_owned()));
    }
    // With a unit from the profile: before that, the pod's own network was not a fabric.
    let injected = subject.pod.annotation(INJECTED_ANNOTATION).is_some();
    if own + stand_ins == 0
        && !injected
        && let Some(child) = attachments.first_network_of_kind(AttachmentKind::Child)
        && let Some(resource) = units.rdma_resource_held_by_targets(subject, profile)
    {
        return other(OtherFabric::Child(child, resource.to_owned()));
    }
    let accelerators = usize::try_from(sum_of_accelerators(targets)).unwrap_or(usize::MAX).max(1);
    let enough = if rails.is_empty() { accelerators } else { rails.len().min(accelerators) };
    let absent = attachments.count(AttachmentKind::Absent);
    if stand_ins > 0 && own + stand_ins >= enough && absent == 0 {
        return Ok(OwnFabricResult::Complete);
    }
    // Once the cluster's networks are listed, a missing one may be created at any moment, and the pod's peers will be
    // planned with it. Its resource must not decide between them, so nothing is added unless the units decide.
    let of_rails = usize::try_from(units.running_units_of_rails()).unwrap_or(0);
    if absent > 0 {
        let listed = absent + own + stand_ins + attachments.count(AttachmentKind::Unknown);
        let complete = listed >= enough && of_rails >= listed;
        return match complete || attached && of_rails >= own {
            true if complete => Ok(OwnFabricResult::CompleteByUnits),
            true => Ok(OwnFabricResult::Incomplete),
            false => Err(WhyNothingPlanned::UnknownNetworks(absent)),
        };
    }
    let unknown = attachments.count(AttachmentKind::Unknown);
    if own > 0 {
        // A unit for each of them: the unknown ones are the other rails.
        let complete = unknown > 0 && !attached && of_rails >= own + stand_ins + unknown;
        return Ok(if complete { OwnFabricResult::CompleteByUnits } else { OwnFabricResult::Incomplete });
    }
    let foreign = attachments.count(AttachmentKind::Foreign);
    let (beside, beside_name) = units.running_units_outside_profile(profile);
    let beside = usize::try_from(beside).unwrap_or(0);
    // One function beside one accelerator may be for management; with its own unit it counts as the rail.
    if foreign > 0 && foreign >= enough && (enough > 1 || beside >= foreign) {
        let resource = attachments.resource_of(AttachmentKind::Foreign).unwrap_or_default();
        return other(OtherFabric::Networks(foreign, resource));
    }
    if unknown == 0 {
        return Ok(OwnFabricResult::Incomplete);
    }
    // A unit that serves every attachment of its container counts once for all of them.
    let per_container =
        |name: &str| profile.resources.iter().any(|r| r.name == name && r.per == Per::Container);
    let listed = unknown + stand_ins + foreign;
    if of_rails >= listed || units.names().any(per_container) {
        return Ok(OwnFabricResult::CompleteByUnits);
    }
    if let Some(resource) = beside_name.filter(|_| beside >= listed) {
        return other(OtherFabric::Networks(listed, resource.to_owned()));
    }
    // As many as there are rails may be the rails, and would be doubled; one beside one accelerator may be for
    // management. A profile without rails doubles nothing.
    match unknown >= enough && enough > 1 && !rails.is_empty() {
        true => Err(WhyNothingPlanned::UnknownNetworks(unknown)),
        false => Ok(OwnFabricResult::Incomplete),
    }
}
