//! The pod's own networks and units, counted before anything is planned: a pod that could be scheduled and could
//! start without us still can after injection. Attachments satisfy attachments and units satisfy units, by what they
//! provide and not by their names. The rules and their reasons are in docs/adr/0018-do-no-harm.md.

mod attachments;
mod nodes;
mod units;

use attachments::{Attachments, Kind as AttachmentKind};
pub(super) use attachments::{of_rails, visible};
use units::Units;

use super::Withheld;
use super::target::{Target, accelerators};
use super::user_fabric_result::{Completeness, OtherFabric, UserFabric};
use crate::demands::Subject;
use crate::pod::nic::names_efa;
use crate::profile::schema::{Inject, Per, Transport};
use crate::profile::{INJECTED_ANNOTATION, Profile, Rail, UnknownClaims};
use std::collections::BTreeMap;

/// Counts the pod's own networks and units.
///
/// # Errors
/// [`Withheld`] if the pod's own fields cannot be counted, or if no answer is safe.
pub(super) fn assess(
    subject: &Subject<'_>,
    profile: &Profile,
    rails: &[Rail],
    targets: &[Target],
) -> Result<(UserFabric, BTreeMap<String, i64>), Withheld> {
    let units = Units::of(subject, profile, targets);
    if units.unread {
        return Err(Withheld::UnreadQuantity);
    }
    let full = subject.pod.annotation(super::INJECT_ANNOTATION) == Some("full");
    let claims = subject.demands.fabric_claims();
    if let Some(claim) = claims.unread.as_ref().filter(|_| !full) {
        return Err(Withheld::UnreadClaim(claim.clone()));
    }
    if full {
        conflict(subject, profile, &units)?;
    }
    let attachments = Attachments::of(subject, profile);
    let mut user_fabric = UserFabric {
        rails: rails.len(),
        own: attachments.count(AttachmentKind::Rail),
        stand_ins: attachments.count(AttachmentKind::StandIn),
        networks: attachments.networks(),
        units: units.counted(),
        completeness: Completeness::Incomplete,
    };
    if !full {
        user_fabric.completeness = completeness(subject, profile, rails, targets, &attachments, &units)?;
    }
    if user_fabric.completeness == Completeness::Incomplete && user_fabric.stand_ins > 0 {
        nodes::hold(subject, rails, &attachments)?;
    }
    let injected = subject.pod.annotation(INJECTED_ANNOTATION).is_some();
    let room = units.room(&attachments, injected);
    Ok((user_fabric, room))
}

fn completeness(
    subject: &Subject<'_>,
    profile: &Profile,
    rails: &[Rail],
    targets: &[Target],
    attachments: &Attachments<'_>,
    units: &Units<'_>,
) -> Result<Completeness, Withheld> {
    let other = |found| Ok(Completeness::OtherFabric(found));
    let claims = subject.demands.fabric_claims();
    if let Some(claim) = &claims.nic {
        return other(OtherFabric::Claim(claim.clone()));
    }
    if let Some(claim) = claims.unknown.as_ref().filter(|_| profile.unknown_claims == UnknownClaims::Block) {
        return other(OtherFabric::UnknownClaim(claim.clone()));
    }
    // This level adds only what networks of the pod need; it proves nothing about a fabric.
    if profile.inject == Inject::Networks && rails.is_empty() {
        return Ok(Completeness::Incomplete);
    }
    let own = attachments.count(AttachmentKind::Rail);
    let stand_ins = attachments.count(AttachmentKind::StandIn);
    // With every rail attached only units can be missing, and without them the pod cannot start.
    let attached = own > 0 && own >= rails.len();
    if let Some(resource) = units.of_another_fabric(subject, profile).filter(|_| !attached) {
        return other(OtherFabric::Unit(resource.to_owned()));
    }
    // With a unit from the profile: before that, the pod's own network was not a fabric.
    let injected = subject.pod.annotation(INJECTED_ANNOTATION).is_some();
    if own + stand_ins == 0
        && !injected
        && let Some(child) = attachments.first(AttachmentKind::Child)
        && let Some(resource) = units.rdma_of_targets(subject, profile)
    {
        return other(OtherFabric::Child(child, resource.to_owned()));
    }
    let accelerators = usize::try_from(accelerators(targets)).unwrap_or(usize::MAX).max(1);
    let enough = if rails.is_empty() { accelerators } else { rails.len().min(accelerators) };
    if stand_ins > 0 && own + stand_ins >= enough {
        return Ok(Completeness::Complete);
    }
    // Once the cluster's networks are listed, a missing one may be created at any moment, and the pod's peers will be
    // planned with it. Its resource must not decide between them, so nothing is added unless the units decide.
    let absent = attachments.count(AttachmentKind::Absent);
    let of_rails = usize::try_from(units.of_rails()).unwrap_or(0);
    if absent > 0 {
        let listed = absent + own + stand_ins + attachments.count(AttachmentKind::Unknown);
        let complete = listed >= enough && of_rails >= listed;
        return match complete || attached && of_rails >= own {
            true if complete => Ok(Completeness::CompleteByUnits),
            true => Ok(Completeness::Incomplete),
            false => Err(Withheld::UnknownNetworks(absent)),
        };
    }
    let unknown = attachments.count(AttachmentKind::Unknown);
    if own > 0 {
        // A unit for each of them: the unknown ones are the other rails.
        let complete = unknown > 0 && !attached && of_rails >= own + stand_ins + unknown;
        return Ok(if complete { Completeness::CompleteByUnits } else { Completeness::Incomplete });
    }
    let foreign = attachments.count(AttachmentKind::Foreign);
    let (beside, beside_name) = units.not_of(profile);
    let beside = usize::try_from(beside).unwrap_or(0);
    // One function beside one accelerator may be for management; with its own unit it counts as the rail.
    if foreign > 0 && foreign >= enough && (enough > 1 || beside >= foreign) {
        let resource = attachments.resource_of(AttachmentKind::Foreign).unwrap_or_default();
        return other(OtherFabric::Networks(foreign, resource));
    }
    if unknown == 0 {
        return Ok(Completeness::Incomplete);
    }
    // A unit that serves every attachment of its container counts once for all of them.
    let per_container =
        |name: &str| profile.resources.iter().any(|r| r.name == name && r.per == Per::Container);
    let listed = unknown + stand_ins + foreign;
    if of_rails >= listed || units.names().any(per_container) {
        return Ok(Completeness::CompleteByUnits);
    }
    if let Some(resource) = beside_name.filter(|_| beside >= listed) {
        return other(OtherFabric::Networks(listed, resource.to_owned()));
    }
    // As many as there are rails may be the rails, and would be doubled; one beside one accelerator may be for
    // management. A profile without rails doubles nothing.
    match unknown >= enough && enough > 1 && !rails.is_empty() {
        true => Err(Withheld::UnknownNetworks(unknown)),
        false => Ok(Completeness::Incomplete),
    }
}

/// Whether the pod requests the profile beside a fabric that cannot share a pod with it. NCCL uses one network plugin
/// for all devices: EFA's drives no verbs NIC, and NCCL's own transport drives no EFA adapter (aws/aws-ofi-nccl).
fn conflict(subject: &Subject<'_>, profile: &Profile, units: &Units<'_>) -> Result<(), Withheld> {
    let claimed = subject.demands.fabric_claims().nic.as_ref().map(|claim| claim.class.as_str());
    let claims_efa = |class: &&str| class.starts_with("efa");
    let efa = units.names().find(|name| names_efa(name) && !profile.serves_resource(name));
    let verbs = units.of_another_fabric(subject, profile).filter(|name| !names_efa(name));
    let found = match profile.transport {
        Transport::Roce | Transport::Infiniband => efa.or(claimed.filter(claims_efa)),
        Transport::Efa => verbs.or(claimed.filter(|class| !claims_efa(class))),
        Transport::Ethernet | Transport::Tcpx | Transport::Tcpxo => None,
    };
    found.map_or(Ok(()), |name| Err(Withheld::Conflict(name.to_owned())))
}
