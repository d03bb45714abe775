//! Whether a pod that requests a profile has a unit of a fabric that cannot share a pod with it.

use super::count_units::HeldUnits;
use crate::demands::Subject;
use crate::plan::WhyNothingPlanned;
use crate::pod::nic_resource_names::is_efa_resource;
use crate::profile::Profile;
use crate::profile::schema::Transport;

/// Whether the pod requests the profile beside a fabric that cannot share a pod with it. NCCL uses one network plugin
/// for all devices: EFA's drives no verbs NIC, and NCCL's own transport drives no EFA adapter (aws/aws-ofi-nccl).
pub(super) fn check_conflict_of_efa_and_verbs(
    subject: &Subject<'_>,
    profile: &Profile,
    units: &HeldUnits<'_>,
) -> Result<(), WhyNothingPlanned> {
    let claimed = subject.demands.fabric_claims().nic.as_ref().map(|claim| claim.class.as_str());
    let claims_efa = |class: &&str| class.starts_with("efa");
    let efa = units.names().find(|name| is_efa_resource(name) && !profile.has_resource(name));
    let verbs = units.rdma_resource_outside_profile(subject, profile).filter(|name| !is_efa_resource(name));
    let found = match profile.transport {
        Transport::Roce | Transport::Infiniband => efa.or(claimed.filter(claims_efa)),
        Transport::Efa => verbs.or(claimed.filter(|class| !claims_efa(class))),
        Transport::Ethernet | Transport::Tcpx | Transport::Tcpxo => None,
    };
    found.map_or(Ok(()), |name| Err(WhyNothingPlanned::Conflict(name.to_owned())))
}
