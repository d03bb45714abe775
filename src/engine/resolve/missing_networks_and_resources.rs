//! Whether the networks and resources of a profile exist in the cluster, by the known facts.

use crate::profile::Profile;
use crate::snapshot::Snapshot;

/// Something of a profile that the cluster does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingNetworkOrResource {
    /// A NetworkAttachmentDefinition, `namespace/name`.
    Network(String),
    /// An extended resource that no node of the profile offers.
    Resource(String),
}

/// Networks and resources of a profile that do not exist, for a pod in `namespace`. Nothing is missing without facts:
/// networks count once a list of them was given, resources once a node of the profile is known with its extended
/// resources. If a plugin restarts, its resource stays listed with 0 units (kubernetes/kubernetes
/// pkg/kubelet/cm/devicemanager/manager.go, `GetCapacity`) and is not missing.
#[must_use]
pub fn missing_networks_and_resources(
    profile: &Profile,
    namespace: &str,
    snapshot: &Snapshot,
) -> Vec<MissingNetworkOrResource> {
    find_missing(profile, Some(namespace), snapshot)
}

/// The same for pods of any namespace, without networks of the pod's own namespace.
#[must_use]
pub fn missing_for_every_namespace(profile: &Profile, snapshot: &Snapshot) -> Vec<MissingNetworkOrResource> {
    find_missing(profile, None, snapshot)
}

fn find_missing(
    profile: &Profile,
    namespace: Option<&str>,
    snapshot: &Snapshot,
) -> Vec<MissingNetworkOrResource> {
    let mut missing: Vec<MissingNetworkOrResource> = Vec::new();
    let mut add = |what: MissingNetworkOrResource| {
        if !missing.contains(&what) {
            missing.push(what);
        }
    };
    // The rails of a profile are nearly always on one network, or in one namespace.
    let mut last = None;
    for rail in &profile.rails {
        let Some(namespace) = rail.network.namespace.as_deref().or(namespace) else { continue };
        if last.replace((namespace, &rail.network.name)) == Some((namespace, &rail.network.name)) {
            continue;
        }
        if snapshot.knows_all_networks_of(namespace)
            && snapshot.network(namespace, &rail.network.name).is_none()
        {
            add(MissingNetworkOrResource::Network(format!("{namespace}/{}", rail.network.name)));
        }
    }
    // The scheduler allocates a claim for a resource that a DeviceClass provides; nodes do not list it
    // (kubernetes/enhancements KEP-5004). A device plugin may provide it too, on other nodes.
    let claimed = |name: &str| snapshot.cluster_facts_for_audience().device_class_of_resource(name).is_some();
    for resource in
        snapshot.catalog().resources_on_none_of_its_nodes(&profile.name).iter().filter(|name| !claimed(name))
    {
        add(MissingNetworkOrResource::Resource(resource.clone()));
    }
    missing
}

impl std::fmt::Display for MissingNetworkOrResource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Network(name) => write!(f, "network {name}"),
            Self::Resource(name) => write!(f, "resource {name}"),
        }
    }
}
