//! A network by name, and what is known of it: the extended resource whose devices its CNI plugin needs.

use super::{RESOURCE_ANNOTATION, annotation};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A NetworkAttachmentDefinition by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkRef {
    /// Namespace; `None` means the pod's own.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

impl NetworkRef {
    /// Reads `namespace/name` or `name`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        let valid = annotation::is_subdomain(name) && namespace.is_none_or(annotation::is_label);
        valid.then(|| Self { namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }

    /// Whether it is the network `name` in `namespace`, for a pod in `pod_namespace`.
    #[must_use]
    pub fn is(&self, namespace: &str, name: &str, pod_namespace: &str) -> bool {
        self.name == name && self.namespace.as_deref().unwrap_or(pod_namespace) == namespace
    }
}

impl fmt::Display for NetworkRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// An extended resource, of which the prefix may be unknown: SriovNetwork names it without one, and the
/// operator's chart decides (`openshift.io` by default, `nvidia.com` under the NVIDIA Network Operator).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceName {
    /// `domain/name`.
    Full(String),
    /// The name behind an unknown prefix.
    Suffix(String),
}

impl ResourceName {
    /// Whether a resource that a container asks for is this one.
    #[must_use]
    pub fn matches(&self, resource: &str) -> bool {
        match self {
            Self::Full(name) => name == resource,
            Self::Suffix(name) => resource.split_once('/').is_some_and(|(_, n)| n == name),
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(name) => f.write_str(name),
            Self::Suffix(name) => write!(f, "*/{name}"),
        }
    }
}

/// What is known of one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFact {
    /// Resource whose devices Multus hands to the CNI plugin, one an attachment.
    pub resource: Option<ResourceName>,
    /// Whether its CNI plugin takes one device an attachment; `None` where the plugin is not known. A shared HCA
    /// behind macvlan or IPoIB is a slot of the pod, not a device of an attachment.
    pub takes_device: Option<bool>,
    /// Kind of the object that says so.
    pub origin: &'static str,
}

/// Whether a CNI plugin takes a device, by its `type`.
fn takes_device(cni_type: &str) -> Option<bool> {
    match cni_type {
        "sriov" | "ib-sriov" | "host-device" | "ovs" => Some(true),
        "macvlan" | "ipvlan" | "ipoib" | "bridge" | "ptp" | "vlan" => Some(false),
        _ => None,
    }
}

/// The `type` of the first plugin of a CNI configuration, single or list.
fn cni_type(config: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Config {
        #[serde(default, rename = "type")]
        cni_type: Option<String>,
        #[serde(default)]
        plugins: Option<Vec<Config>>,
    }
    let config: Config = serde_json::from_str(config).ok()?;
    config.cni_type.or_else(|| config.plugins?.into_iter().next()?.cni_type)
}

/// The part of a network object that decides its NetworkAttachmentDefinition.
#[derive(Debug, Deserialize)]
pub struct NetworkObject {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    spec: NetworkSpec,
}

#[derive(Debug, Default, Deserialize)]
struct ObjectMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, Option<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NetworkSpec {
    #[serde(default)]
    network_namespace: Option<String>,
    #[serde(default)]
    resource_name: Option<String>,
    #[serde(default)]
    config: Option<String>,
}

/// The NetworkAttachmentDefinition that an object is, or that its operator renders from it: namespace, name
/// and what is known. `None` where the object makes no network, or where its name is missing.
///
/// Rendering follows sriov-network-operator (api/v1/helper.go) and Mellanox/network-operator
/// (pkg/state/state_*network.go): the name is the CR's; SR-IOV kinds default to the CR's namespace, Macvlan
/// and IPoIB to `default`, HostDevice to nothing.
#[must_use]
pub fn render(
    group: &str,
    kind: &str,
    object: &NetworkObject,
    default_namespace: &str,
) -> Option<(String, String, NetworkFact)> {
    let name = object.metadata.name.clone()?;
    let own = object.metadata.namespace.as_deref().unwrap_or(default_namespace);
    let target = object.spec.network_namespace.as_deref().filter(|n| !n.is_empty());
    let bare = object.spec.resource_name.as_deref().filter(|n| !n.is_empty());
    let suffix = || bare.map(|r| ResourceName::Suffix(r.to_owned()));
    let (namespace, resource, origin) = match (group, kind) {
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition") => {
            let annotations = object.metadata.annotations.as_ref();
            let resource =
                annotations.and_then(|a| a.get(RESOURCE_ANNOTATION)?.clone()).filter(|r| !r.is_empty());
            (own, resource.map(ResourceName::Full), "NetworkAttachmentDefinition")
        }
        ("sriovnetwork.openshift.io", "SriovNetwork") => (target.unwrap_or(own), suffix(), "SriovNetwork"),
        ("sriovnetwork.openshift.io", "SriovIBNetwork") => {
            (target.unwrap_or(own), suffix(), "SriovIBNetwork")
        }
        ("sriovnetwork.openshift.io", "OVSNetwork") => (target.unwrap_or(own), suffix(), "OVSNetwork"),
        ("mellanox.com", "MacvlanNetwork") => (target.unwrap_or("default"), None, "MacvlanNetwork"),
        ("mellanox.com", "IPoIBNetwork") => (target.unwrap_or("default"), None, "IPoIBNetwork"),
        ("mellanox.com", "HostDeviceNetwork") => {
            let full = bare.map(|r| format!("nvidia.com/{}", r.strip_prefix("nvidia.com/").unwrap_or(r)));
            (target?, full.map(ResourceName::Full), "HostDeviceNetwork")
        }
        _ => return None,
    };
    let takes_device = match origin {
        "NetworkAttachmentDefinition" => {
            object.spec.config.as_deref().and_then(cni_type).and_then(|cni_type| takes_device(&cni_type))
        }
        "MacvlanNetwork" | "IPoIBNetwork" => Some(false),
        _ => Some(true),
    };
    Some((namespace.to_owned(), name, NetworkFact { resource, takes_device, origin }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(group: &str, kind: &str, json: &str) -> Option<(String, String, NetworkFact)> {
        render(group, kind, &serde_json::from_str(json).unwrap(), "default")
    }

    #[test]
    fn a_nad_names_its_resource_in_an_annotation() {
        let (ns, name, fact) = rendered(
            "k8s.cni.cncf.io",
            "NetworkAttachmentDefinition",
            r#"{"metadata":{"name":"a","namespace":"n","annotations":{"k8s.v1.cni.cncf.io/resourceName":"x.com/y"}}}"#,
        )
        .unwrap();
        assert_eq!((ns.as_str(), name.as_str()), ("n", "a"));
        assert_eq!(fact.resource, Some(ResourceName::Full("x.com/y".into())));
    }

    #[test]
    fn an_sriov_network_renders_into_its_target_namespace() {
        let (ns, name, fact) = rendered(
            "sriovnetwork.openshift.io",
            "SriovNetwork",
            r#"{"metadata":{"name":"a","namespace":"op"},"spec":{"networkNamespace":"team","resourceName":"r"}}"#,
        )
        .unwrap();
        assert_eq!((ns.as_str(), name.as_str()), ("team", "a"));
        let resource = fact.resource.unwrap();
        assert!(
            resource.matches("openshift.io/r") && resource.matches("nvidia.com/r") && !resource.matches("r")
        );
    }

    #[test]
    fn host_device_has_a_fixed_prefix_and_no_default_namespace() {
        let with =
            r#"{"metadata":{"name":"a"},"spec":{"networkNamespace":"default","resourceName":"hostdev"}}"#;
        let fact = rendered("mellanox.com", "HostDeviceNetwork", with).unwrap().2;
        assert_eq!(fact.resource, Some(ResourceName::Full("nvidia.com/hostdev".into())));
        assert!(
            rendered("mellanox.com", "HostDeviceNetwork", r#"{"metadata":{"name":"a"},"spec":{}}"#).is_none()
        );
    }

    #[test]
    fn reads_references() {
        assert!(NetworkRef::parse("ns/net").unwrap().is("ns", "net", "other"));
        assert!(NetworkRef::parse("net").unwrap().is("pod-ns", "net", "pod-ns"));
        for bad in ["", "/a", "a/", "a/b/c", "A", "a b"] {
            assert!(NetworkRef::parse(bad).is_none(), "{bad}");
        }
    }
}
