//! Signs of a fabric on a pod, with or without accelerators: networks and settings in annotations, devices in
//! resources and claims, variables. Rules look at every pod that has one.

use super::pod_fields::{Container, Metadata, PodView};
use crate::json::types_of_decoded_fields::{Pairs, Quantities};

/// Domain of our own annotations and labels, with the slash.
pub const OWN_DOMAIN: &str = "fabric-admission.dev/";
/// Annotations that set findings aside: this and the id of the rule.
pub const IGNORE_PREFIX: &str = "fabric-admission.dev/ignore.";
/// End of the domain of Multus' annotations: `k8s.v1.cni.cncf.io`, and what people write for it.
const MULTUS_DOMAIN: &str = "cni.cncf.io";
/// Domain of the annotation that replaces the cluster's network for one pod.
const MULTUS_DEFAULT_NETWORK_DOMAIN: &str = "v1.multus-cni.io/";
/// Prefixes of the variables of NCCL, UCX and libfabric.
const VARIABLE_PREFIXES: [&str; 3] = ["NCCL_", "UCX_", "FI_"];

/// The signs on one pod.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FabricSigns {
    /// One of our or Multus' annotations, or one of our labels.
    pub annotation: bool,
    /// A claim, or a resource that is not one of Kubernetes' own.
    pub device: bool,
    /// A variable of NCCL, UCX or libfabric.
    pub variable: bool,
}

impl FabricSigns {
    /// Reads them.
    #[must_use]
    pub fn of(pod: &PodView<'_>) -> Self {
        let claims = pod.spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
        let mut containers = pod.containers().iter().chain(pod.init_containers());
        Self {
            annotation: pod.metadata.as_ref().is_some_and(annotated),
            device: !claims.is_empty() || containers.clone().any(has_device),
            variable: containers.any(has_variable),
        }
    }
}

fn annotated(metadata: &Metadata<'_>) -> bool {
    let annotations = metadata.annotations.iter().flat_map(Pairs::iter).map(|(key, _)| key);
    let mut labels = metadata.labels.iter().flat_map(Pairs::iter);
    let ours = |key: &str| key.starts_with(OWN_DOMAIN);
    let multus = |key: &str| key.contains(MULTUS_DOMAIN) || key.starts_with(MULTUS_DEFAULT_NETWORK_DOMAIN);
    annotations.into_iter().any(|key| ours(key) || multus(key)) || labels.any(|(key, _)| ours(key))
}

fn has_device(container: &Container<'_>) -> bool {
    let Some(resources) = &container.resources else { return false };
    let lists = resources.limits.iter().chain(&resources.requests);
    resources.claims.as_deref().is_some_and(|claims| !claims.is_empty())
        || lists.flat_map(Quantities::iter).any(|(name, _)| !is_native_resource(name))
}

fn has_variable(container: &Container<'_>) -> bool {
    let names = container.env().iter().filter_map(|entry| entry.name.as_deref());
    names.into_iter().any(|name| VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether a container's resource is one of Kubernetes' own (kubernetes/kubernetes pkg/apis/core/helper,
/// IsStandardContainerResourceName).
#[must_use]
pub fn is_native_resource(resource: &str) -> bool {
    matches!(resource, "cpu" | "memory" | "ephemeral-storage") || resource.starts_with("hugepages-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(json: &str) -> FabricSigns {
        FabricSigns::of(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn of_annotations_devices_and_variables() {
        let none = FabricSigns::default();
        let annotation = FabricSigns { annotation: true, ..none };
        let device = FabricSigns { device: true, ..none };
        let variable = FabricSigns { variable: true, ..none };
        for (json, expected) in [
            (r#"{"metadata":{"annotations":{"k8s.v1.cni.cncf.io/network":"a"}}}"#, annotation),
            (r#"{"metadata":{"annotations":{"v1.multus-cni.io/default-network":""}}}"#, annotation),
            (r#"{"metadata":{"annotations":{"fabric-admission.dev/profil":"a"}}}"#, annotation),
            (r#"{"metadata":{"labels":{"fabric-admission.dev/mode":"a"}}}"#, annotation),
            (r#"{"metadata":{"labels":{"k8s.v1.cni.cncf.io/networks":"a"}}}"#, none),
            (r#"{"spec":{"resourceClaims":[{"name":"a"}]}}"#, device),
            (r#"{"spec":{"containers":[{"resources":{"claims":[{"name":"a"}]}}]}}"#, device),
            (r#"{"spec":{"initContainers":[{"resources":{"requests":{"a.io/b":null}}}]}}"#, device),
            (r#"{"spec":{"containers":[{"resources":{"limits":{"gpu":1}}}]}}"#, device),
            (r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":1,"hugepages-2Mi":0}}}]}}"#, none),
            (r#"{"spec":{"containers":[{"env":[{"name":"UCX_TLS"}]}]}}"#, variable),
            (r#"{"spec":{"containers":[{"env":[{"name":"MY_NCCL_DEBUG","value":"NCCL_"}]}]}}"#, none),
            ("{}", none),
        ] {
            assert_eq!(signs(json), expected, "{json}");
        }
    }
}
