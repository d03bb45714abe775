//! A network by name, and the known facts about it: the extended resource whose devices its CNI plugin needs.

use super::{NetworkClass, parse_networks_annotation};
use crate::multus::cni_config::Capabilities;
use crate::multus::ipam::Ipam;
use std::fmt;

/// A NetworkAttachmentDefinition by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkRef {
    /// Namespace; `None` for the pod's own.
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
        let valid = parse_networks_annotation::is_dns_subdomain(name)
            && namespace.is_none_or(parse_networks_annotation::is_dns_label);
        valid.then(|| Self { namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }

    /// Whether it is the network `name` in `namespace`, for a pod in `pod_namespace`.
    #[must_use]
    pub fn is_network(&self, namespace: &str, name: &str, pod_namespace: &str) -> bool {
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

/// An extended resource whose prefix may be unknown: SriovNetwork names it without one, and the operator's chart
/// decides (`openshift.io` by default, `nvidia.com` under the NVIDIA Network Operator).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceName {
    /// `domain/name`.
    Full(String),
    /// The name behind an unknown prefix.
    Suffix(String),
}

impl ResourceName {
    /// The same, borrowed.
    #[must_use]
    pub fn borrowed(&self) -> ResourceRef<'_> {
        match self {
            Self::Full(name) => ResourceRef::Full(name),
            Self::Suffix(name) => ResourceRef::Suffix(name),
        }
    }

    /// Whether a resource that a container requests is this one.
    #[must_use]
    pub fn matches(&self, resource: &str) -> bool {
        self.borrowed().matches(resource)
    }

    /// The whole name, if it is known.
    #[must_use]
    pub fn full_if_known(&self) -> Option<&str> {
        self.borrowed().full()
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrowed().fmt(f)
    }
}

/// A [`ResourceName`] of another object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceRef<'a> {
    /// `domain/name`.
    Full(&'a str),
    /// The name behind an unknown prefix.
    Suffix(&'a str),
}

impl<'a> ResourceRef<'a> {
    /// Whether a resource that a container requests is this one.
    #[must_use]
    pub fn matches(self, resource: &str) -> bool {
        match self {
            Self::Full(name) => name == resource,
            Self::Suffix(name) => resource.split_once('/').is_some_and(|(_, n)| n == name),
        }
    }

    /// The whole name, if it is known.
    #[must_use]
    pub fn full(self) -> Option<&'a str> {
        match self {
            Self::Full(name) => Some(name),
            Self::Suffix(_) => None,
        }
    }
}

impl fmt::Display for ResourceRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(name) => f.write_str(name),
            Self::Suffix(name) => write!(f, "*/{name}"),
        }
    }
}

/// A label that a network requires of its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeLabel<'a> {
    /// Key.
    pub key: &'a str,
    /// Value; may be empty.
    pub value: &'a str,
}

impl<'a> NodeLabel<'a> {
    /// Reads `key=value`, or `key` for an empty value. `None` if it is not a label: the API server would refuse the
    /// pod (k8s.io/apimachinery pkg/util/validation, `IsQualifiedName`, `IsValidLabelValue`).
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (key, value) = text.trim().split_once('=').unwrap_or((text.trim(), ""));
        let part = |text: &str| {
            let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
            let edge = |c: char| c.is_ascii_alphanumeric();
            text.len() <= 63 && text.bytes().all(inner) && text.starts_with(edge) && text.ends_with(edge)
        };
        let (domain, name) = key.split_once('/').map_or((None, key), |(domain, name)| (Some(domain), name));
        let valid = part(name)
            && domain.is_none_or(parse_networks_annotation::is_dns_subdomain)
            && (value.is_empty() || part(value));
        valid.then_some(Self { key, value })
    }
}

/// Whether a container can request a resource of this name: an extended one, `domain/name` (kubernetes/kubernetes
/// pkg/apis/core/v1/helper, `IsExtendedResourceName`).
#[must_use]
pub fn is_extended_resource(name: &str) -> bool {
    let own = |domain: &str| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io");
    name.split_once('/').is_some_and(|(domain, rest)| {
        !own(domain)
            && !domain.starts_with("requests.")
            && !rest.contains('/')
            && NodeLabel::parse(name).is_some_and(|label| label.value.is_empty() && label.key == name)
    })
}

/// The known facts about one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFact {
    /// Resource whose devices Multus passes to the CNI plugin, one per attachment.
    pub resource: Option<ResourceName>,
    /// Whether its CNI plugin takes one device per attachment; `None` if the plugin is not known. A shared HCA behind
    /// macvlan or IPoIB is a slot of the pod, not a device of an attachment.
    pub takes_device: Option<bool>,
    /// Whether its configuration names a device: then an attachment also works without a unit of the resource.
    pub own_device: bool,
    /// Label of its nodes, by its definition; not checked.
    pub node_selector: Option<String>,
    /// Kind of the object with the label.
    pub origin: &'static str,
    /// Facts from its CNI configuration.
    pub class: NetworkClass,
    /// Facts about its addresses.
    pub addressing: AddressFacts,
}

/// The addresses of a network's attachments, by its CNI configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressFacts {
    /// Whether there is a readable configuration.
    pub known: bool,
    /// The source of addresses; `None` if there are none, or the source is not known.
    pub ipam: Option<Box<Ipam>>,
    /// Requests that a pod may make.
    pub capabilities: Capabilities,
    /// Whether the chain separates the pod's interfaces, so that several of them may be in one subnet.
    pub keeps_apart: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_labels_of_nodes() {
        let read = |text| NodeLabel::parse(text).map(|l| (l.key, l.value));
        assert_eq!(read("kubernetes.io/hostname=n1"), Some(("kubernetes.io/hostname", "n1")));
        assert_eq!(read(" rack "), Some(("rack", "")));
        assert_eq!(read("rack="), Some(("rack", "")));
        for bad in ["", "=", "=a", "a=b=c", "a b", "a=-", "/a=b", "A/a=b", "a/b/c=d", "a=b,c=d"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn knows_extended_resources() {
        assert!(is_extended_resource("example.com/foo") && is_extended_resource("openshift.io/x_1"));
        for bad in [
            "foo",
            "cpu",
            "kubernetes.io/x",
            "a.kubernetes.io/x",
            "a/b/c",
            "requests.a.io/b",
            "a.io/",
            "a.io/b=c",
            "a.io/b=",
            " a.io/b",
        ] {
            assert!(!is_extended_resource(bad), "{bad}");
        }
    }

    #[test]
    fn reads_references() {
        assert!(NetworkRef::parse("ns/net").unwrap().is_network("ns", "net", "other"));
        assert!(NetworkRef::parse("net").unwrap().is_network("pod-ns", "net", "pod-ns"));
        for bad in ["", "/a", "a/", "a/b/c", "A", "a b"] {
            assert!(NetworkRef::parse(bad).is_none(), "{bad}");
        }
    }
}
