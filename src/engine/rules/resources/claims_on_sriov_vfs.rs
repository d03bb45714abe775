//! SR-IOV functions that a pod gets by claim (dra-driver-sriov).

use crate::demands::answers_per_fact::PerFact;
use crate::demands::claimed_devices::{claims_within_device_limit, find_known_claim_or_template};
use crate::facts::DeviceClaim;
use crate::rules::pod_context::PodContext;

/// A claim of a pod on VFs.
pub(super) struct ClaimOnVfs<'a> {
    /// Place in `spec.resourceClaims`.
    pub(super) index: usize,
    /// The known facts about the claim.
    pub(super) claim: &'a DeviceClaim,
    /// What the configurations of the claim set.
    pub(super) says: VfConfigsOfClaim,
}

/// What the configurations of a claim set.
#[derive(Debug, Clone, Copy)]
pub(super) struct VfConfigsOfClaim {
    /// A configuration names a network.
    pub(super) network: bool,
    /// A configuration binds the VF to `vfio-pci`.
    pub(super) vfio: bool,
}

/// Claims of a pod on VFs.
pub(super) fn claims_on_vfs<'a>(context: &PodContext<'a>) -> Vec<ClaimOnVfs<'a>> {
    let snapshot = context.subject.snapshot;
    let claims = claims_within_device_limit(context.pod(), context.subject.namespace, snapshot);
    let asks = |claim: &DeviceClaim| {
        let mut options = claim.requests.iter().flat_map(|r| &r.options);
        options.any(|ask| ask.is_for_sriov_vfs(snapshot.device_class(&ask.class)))
    };
    let says = |claim: &DeviceClaim| VfConfigsOfClaim {
        network: claim.functions.iter().any(|f| f.network.is_some()),
        vfio: claim.functions.iter().any(|f| f.vfio),
    };
    let mut known: PerFact<'_, _, Option<VfConfigsOfClaim>> = PerFact::default();
    let claims = claims.iter().enumerate().filter_map(|(index, claim)| {
        let claim = find_known_claim_or_template(claim, context.subject.namespace, snapshot)?;
        let says = (*known.get(claim, || asks(claim).then(|| says(claim))))?;
        Some(ClaimOnVfs { index, claim, says })
    });
    claims.collect()
}
