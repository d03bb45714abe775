//! Other ways in which a pod may get an RDMA device.

use crate::pod::nic_resource_names::names_rdma_device;
use crate::rules::pod_context::PodContext;

/// Whether the pod has or may have an RDMA device that does not come from its networks.
pub(super) fn others_may_bring_rdma(context: &PodContext<'_>) -> bool {
    let pod = context.pod();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    if !claims.is_empty() {
        return true;
    }
    if context.devices().held.iter().any(|held| held.fact.rdma != Some(false)) {
        return true;
    }
    let unknown = |name: &str| names_rdma_device(name) && context.subject.snapshot.resource(name).is_none();
    pod.containers()
        .iter()
        .enumerate()
        .any(|(index, container)| container.privileged() || context.resource_names(index).any(unknown))
}
