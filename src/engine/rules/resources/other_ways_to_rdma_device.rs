//! Other ways in which a pod may get an RDMA device.

use crate::pod::nic_resource_names::is_rdma_device_by_name;
use crate::rules::pod_context::PodContext;

/// Whether the pod has or may have an RDMA device that does not come from its networks.
pub(super) fn may_have_rdma_without_networks(context: &PodContext<'_>) -> bool {
    let pod = context.pod();
    let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    if !claims.is_empty() {
        return true;
    }
    if context.devices().held.iter().any(|held| held.fact.rdma != Some(false)) {
        return true;
    }
    let unknown =
        |name: &str| is_rdma_device_by_name(name) && context.subject.snapshot.resource(name).is_none();
    pod.containers().iter().enumerate().any(|(index, container)| {
        container.privileged() || context.own_and_planned_resource_names(index).any(unknown)
    })
}
