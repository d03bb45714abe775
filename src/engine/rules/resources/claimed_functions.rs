//! SR-IOV functions that a pod gets by claim (dra-driver-sriov).

use crate::demands::claimed::look_up;
use crate::facts::DeviceClaim;
use crate::facts::device_class::is_function;
use crate::rules::pod::PodContext;

/// Claims of a pod on VFs: their places, and the known facts about them.
pub(super) fn functions<'a>(context: &PodContext<'a>) -> Vec<(usize, &'a DeviceClaim)> {
    let claims = context.pod().spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    let known = claims.iter().enumerate().filter_map(|(index, claim)| {
        Some((index, look_up(claim, context.subject.namespace, context.subject.snapshot)?))
    });
    let asks = |claim: &DeviceClaim| {
        let mut options = claim.requests.iter().flat_map(|r| &r.options);
        options.any(|ask| is_function(&ask.class, context.subject.snapshot.device_class(&ask.class)))
    };
    known.filter(|(_, claim)| asks(claim)).collect()
}
