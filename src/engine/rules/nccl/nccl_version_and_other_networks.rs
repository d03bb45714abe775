//! The version of NCCL in a container, and networks by other ways than the annotation, for rules on variables.

use crate::nccl::NcclVersion;
use crate::pod::pod_fields::Container;
use crate::rules::pod_context::PodContext;

/// The version of NCCL in a container, by the name of its image, else by the profile.
pub(super) fn nccl_version_of_image_or_profile(
    context: &PodContext<'_>,
    container: &Container<'_>,
) -> Option<NcclVersion> {
    let of_profile = || context.resolution.profile().and_then(|(p, _)| p.nccl_version);
    container.nccl_version_of_image().or_else(of_profile)
}

/// Whether the pod gets networks by other ways than the networks annotation: its interfaces are not known then.
pub(super) fn has_networks_beside_annotation(context: &PodContext<'_>) -> bool {
    let annotations = context.pod().metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let foreign = |key: &str| {
        key.contains("network")
            && key != crate::multus::NETWORKS_ANNOTATION
            && !key.starts_with("fabric-admission.dev/")
    };
    context.subject.demands.claims_network_devices()
        || context.pod().spec.as_ref().is_some_and(|s| s.resource_claims.is_some())
        || annotations.is_some_and(|a| a.iter().any(|(key, _)| foreign(key)))
}
