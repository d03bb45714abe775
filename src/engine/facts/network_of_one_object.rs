//! The NetworkAttachmentDefinition that an object is, or that its operator renders from it.
//!
//! Rendering follows sriov-network-operator (api/v1/helper.go, `RenderNetAttDef`) and Mellanox/network-operator
//! (pkg/state/state_*network.go, manifests/state-*-network): the name is the custom resource's; SR-IOV kinds default
//! to its namespace, Macvlan and IPoIB to `default`, HostDevice to nothing.

use super::FactKind;
use crate::json::as_go_reads;
use crate::json::maps_of_request::texts_of_keys;
use crate::json::types_of_decoded_fields::optional_struct;
use crate::multus::cni_config::{Capabilities, CniConfig, Plugin};
use crate::multus::ipam::Ipam;
use crate::multus::{
    AddressFacts, NODE_SELECTOR_ANNOTATION, NetworkClass, NetworkFact, RESOURCE_ANNOTATION, ResourceName,
    classify_cni_config,
};
use crate::text::{cut_to_bytes, parse_document_within_limit, refuse_long_cni_document};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Most bytes of the name of a resource: a domain, `/` and a name (k8s.io/apimachinery pkg/util/validation,
/// `IsQualifiedName`).
const MAX_RESOURCE_NAME_LENGTH: usize = 253 + 1 + 63;
/// Most bytes of the label of a network's nodes that are kept. Tenants write networks, and every network is kept.
const MAX_NODE_LABEL_LENGTH: usize = 4 << 10;
/// Most bytes of the name of a plugin or of an interface that are kept: more than a file, an interface or an object can
/// have in its name, so that a longer text is not the name of another one when it is cut.
const MAX_PLUGIN_OR_INTERFACE_LENGTH: usize = 256;

fn cut_long_text(text: String) -> String {
    if text.len() > MAX_PLUGIN_OR_INTERFACE_LENGTH {
        cut_to_bytes(&text, MAX_PLUGIN_OR_INTERFACE_LENGTH).to_owned()
    } else {
        text
    }
}

/// The part of a network object that decides its NetworkAttachmentDefinition.
#[derive(Debug, Default, Deserialize)]
pub struct NetworkObject {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<ObjectMeta>,
    #[serde(default, deserialize_with = "optional_struct")]
    spec: Option<NetworkSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMeta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    resource_version: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "read_annotations")]
    annotations: BTreeMap<&'static str, String>,
}

fn read_annotations<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<&'static str, String>, D::Error> {
    texts_of_keys(d, &[RESOURCE_ANNOTATION, NODE_SELECTOR_ANNOTATION])
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
    #[serde(default)]
    master: Option<String>,
    #[serde(default)]
    meta_plugins: Option<String>,
    #[serde(default)]
    ipam: Option<String>,
    #[serde(default)]
    capabilities: Option<String>,
}

/// A network under the name that pods use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkFromObject {
    /// Namespace of the NetworkAttachmentDefinition.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The known facts about it.
    pub fact: NetworkFact,
}

impl NetworkObject {
    /// Name of the object itself.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.metadata.as_ref()?.name.as_deref().filter(|n| !n.is_empty())
    }

    /// Namespace of the object itself, if it names one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.metadata.as_ref()?.namespace.as_deref().filter(|n| !n.is_empty())
    }

    /// Version of the object.
    pub(super) fn version(&self) -> Option<String> {
        super::object_shape::text_of_resource_version(self.metadata.as_ref()?.resource_version.as_deref())
    }

    /// `spec.config` of a NetworkAttachmentDefinition; `None` if it is missing or empty.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.spec.as_ref()?.config.as_deref().filter(|c| !c.is_empty())
    }
}

/// The network of an object; `None` if the object defines none, or if its name is missing.
#[must_use]
pub fn network_of_object(
    kind: FactKind,
    object: &NetworkObject,
    default_namespace: &str,
) -> Option<NetworkFromObject> {
    let name = object.name()?.to_owned();
    let own = object.namespace().unwrap_or(default_namespace);
    let empty = NetworkSpec::default();
    let spec = object.spec.as_ref().unwrap_or(&empty);
    let target = spec.network_namespace.as_deref().filter(|n| !n.is_empty());
    let bare = spec.resource_name.as_deref().filter(|n| !n.is_empty());
    // The operator adds its own prefix to the name (`RESOURCE_PREFIX` of its deployment); the custom resource does
    // not contain it.
    let suffix = || bare.map(|r| ResourceName::Suffix(r.to_owned()));
    let annotation = |key: &str| {
        let annotations = object.metadata.as_ref().map(|m| &m.annotations);
        annotations.and_then(|a| a.get(key).cloned()).filter(|text| !text.is_empty())
    };
    // A text that is too long for a label is still not a label when it is cut.
    let label = |text: String| match text.len() > MAX_NODE_LABEL_LENGTH {
        true => cut_to_bytes(text.trim(), MAX_NODE_LABEL_LENGTH).to_owned(),
        false => text,
    };
    let node_selector = annotation(NODE_SELECTOR_ANNOTATION)
        .filter(|_| kind == FactKind::NetworkAttachmentDefinition)
        .map(label);
    let (namespace, resource, config) = match kind {
        FactKind::NetworkAttachmentDefinition => {
            let resource =
                annotation(RESOURCE_ANNOTATION).filter(|name| name.len() <= MAX_RESOURCE_NAME_LENGTH);
            let config = object.config().and_then(|c| CniConfig::parse(c).ok());
            (own, resource.map(ResourceName::Full), config)
        }
        FactKind::SriovNetwork => {
            (target.unwrap_or(own), suffix(), cni_config_operator_writes("sriov", spec))
        }
        FactKind::SriovIbNetwork => {
            (target.unwrap_or(own), suffix(), cni_config_operator_writes("ib-sriov", spec))
        }
        FactKind::OvsNetwork => (target.unwrap_or(own), suffix(), cni_config_operator_writes("ovs", spec)),
        FactKind::MacvlanNetwork => {
            (target.unwrap_or("default"), None, cni_config_operator_writes("macvlan", spec))
        }
        FactKind::IpoibNetwork => {
            (target.unwrap_or("default"), None, cni_config_operator_writes("ipoib", spec))
        }
        FactKind::HostDeviceNetwork => {
            let full = bare.map(|r| format!("nvidia.com/{}", r.strip_prefix("nvidia.com/").unwrap_or(r)));
            (target?, full.map(ResourceName::Full), cni_config_operator_writes("host-device", spec))
        }
        _ => return None,
    };
    let mut class: NetworkClass = config.as_ref().map(classify_cni_config).unwrap_or_default();
    for text in class.plugin.iter_mut().chain(&mut class.interface) {
        *text = cut_long_text(std::mem::take(text));
    }
    let own_device = config.as_ref().is_some_and(|c| c.plugins.iter().any(|p| p.names_device));
    let takes_device = class.takes_device();
    let addressing = config.map(addressing_of_chain).unwrap_or_default();
    let origin = kind.name();
    let fact = NetworkFact { resource, takes_device, own_device, node_selector, origin, class, addressing };
    Some(NetworkFromObject { namespace: namespace.to_owned(), name, fact })
}

/// The configuration that an operator writes: its own plugin first, then `metaPlugins`, the text of one JSON object
/// or of several separated by commas. `None` if a text is too long to be read: then nothing is known of the network.
fn cni_config_operator_writes(cni_type: &str, spec: &NetworkSpec) -> Option<CniConfig> {
    let meta = format!("{{\"plugins\":[{}]}}", spec.meta_plugins.as_deref().unwrap_or_default());
    let texts = [spec.ipam.as_deref(), spec.capabilities.as_deref(), Some(&*meta)];
    if texts.into_iter().flatten().any(|text| refuse_long_cni_document(text).is_err()) {
        return None;
    }
    let object = |text: &Option<String>| match as_go_reads::read_cni_and_respell_keys(text.as_deref()?) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    };
    // libcni reads capabilities as a map.
    let map = |text: &Option<String>| match parse_document_within_limit(text.as_deref()?) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    };
    // Only the kinds of the SR-IOV operator have the field.
    let capable = matches!(cni_type, "sriov" | "ib-sriov" | "ovs");
    let capabilities = map(&spec.capabilities).filter(|_| capable);
    let own = Plugin {
        cni_type: cni_type.to_owned(),
        interface: spec.master.clone().filter(|m| !m.is_empty()),
        ipam: object(&spec.ipam).as_ref().and_then(Ipam::read),
        capabilities: capabilities.as_ref().map(Capabilities::read).unwrap_or_default(),
        ..Plugin::default()
    };
    let mut plugins = vec![own];
    // IPoIBNetwork has no such field.
    if let Ok(config) = CniConfig::parse(&meta)
        && cni_type != "ipoib"
    {
        plugins.extend(config.plugins);
    }
    Some(CniConfig { plugins })
}

/// The addresses of the chain as a whole.
fn addressing_of_chain(config: CniConfig) -> AddressFacts {
    let capabilities = config.plugins.iter().fold(Capabilities::default(), |all, p| all.or(p.capabilities));
    let keeps_apart = config.plugins.iter().any(|p| p.keeps_apart);
    let ipam = config.plugins.into_iter().find_map(|p| p.ipam).map(Box::new);
    AddressFacts { known: true, ipam, capabilities, keeps_apart }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multus::{LinkLayer, NodeLabel, Sharing};

    fn rendered(kind: FactKind, json: &str) -> Option<NetworkFromObject> {
        network_of_object(kind, &serde_json::from_str(json).unwrap(), "default")
    }

    #[test]
    fn a_nad_names_its_resource_in_an_annotation() {
        let json = r#"{"metadata":{"name":"a","namespace":"n","annotations":{"k8s.v1.cni.cncf.io/resourceName":"x.com/y"}},
            "spec":{"config":"{\"plugins\":[{\"type\":\"ib-sriov\"},{\"type\":\"rdma\"}]}"}}"#;
        let network = rendered(FactKind::NetworkAttachmentDefinition, json).unwrap();
        assert_eq!((network.namespace.as_str(), network.name.as_str()), ("n", "a"));
        assert_eq!(network.fact.resource, Some(ResourceName::Full("x.com/y".into())));
        let class = network.fact.class;
        assert_eq!(class.link, Some(LinkLayer::InfiniBand));
        assert!(class.isolation);
    }

    #[test]
    fn long_texts_of_a_nad_are_not_kept() {
        let fact = |resource: &str, label: &str, part: &str| {
            let config = serde_json::json!({"type": part, "master": part, "ipam": {"type": "nv-ipam", "poolName": part}});
            let object = serde_json::json!({"metadata": {"name": "a", "annotations": {RESOURCE_ANNOTATION: resource,
                NODE_SELECTOR_ANNOTATION: label}}, "spec": {"config": config.to_string()}});
            rendered(FactKind::NetworkAttachmentDefinition, &object.to_string()).unwrap().fact
        };
        let longest = format!("{}/{}", "d".repeat(253), "n".repeat(63));
        assert_eq!(fact(&longest, "a", "sriov").resource, Some(ResourceName::Full(longest.clone())));
        assert_eq!(fact(&format!("{longest}n"), "a", "sriov").resource, None);
        let label = |text: &str| {
            let selector = fact("a.com/b", text, "sriov").node_selector.unwrap();
            assert!(selector.len() <= 4096, "{}", selector.len());
            NodeLabel::parse(&selector).map(|l| (l.key.to_owned(), l.value.to_owned()))
        };
        assert_eq!(label(&"a=b,".repeat(5000)), None);
        assert_eq!(label(&format!("{}rack=a", " ".repeat(5000))), Some(("rack".into(), "a".into())));
        let long = fact("a.com/b", "a", &"ä".repeat(5000));
        let pool = long.addressing.ipam.unwrap().pool.unwrap().name;
        for text in [long.class.plugin.unwrap(), long.class.interface.unwrap(), pool.into()] {
            assert_eq!(text, "ä".repeat(128));
        }
    }

    #[test]
    fn without_a_readable_config_the_class_is_unknown() {
        for config in ["null", r#""""#, r#""{""#, r#""{}""#] {
            let json = format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"config":{config}}}}}"#);
            let fact = rendered(FactKind::NetworkAttachmentDefinition, &json).unwrap().fact;
            assert_eq!((fact.class, fact.takes_device), (NetworkClass::default(), None), "{config}");
        }
        assert!(
            rendered(FactKind::NetworkAttachmentDefinition, r#"{"metadata":{"name":"a"},"spec":null}"#)
                .is_some()
        );
    }

    #[test]
    fn an_sriov_network_renders_into_its_target_namespace() {
        let network = rendered(
            FactKind::SriovNetwork,
            r#"{"metadata":{"name":"a","namespace":"op"},
                "spec":{"networkNamespace":"team","resourceName":"r","metaPlugins":"{\"type\":\"rdma\"},{\"type\":\"tuning\"}"}}"#,
        )
        .unwrap();
        assert_eq!((network.namespace.as_str(), network.name.as_str()), ("team", "a"));
        let resource = network.fact.resource.unwrap();
        assert!(
            resource.matches("openshift.io/r") && resource.matches("nvidia.com/r") && !resource.matches("r")
        );
        assert!(network.fact.class.isolation);
        assert_eq!(network.fact.class.sharing, Some(Sharing::ExclusiveVf));
    }

    #[test]
    fn host_device_has_a_fixed_prefix_and_no_default_namespace() {
        let with =
            r#"{"metadata":{"name":"a"},"spec":{"networkNamespace":"default","resourceName":"hostdev"}}"#;
        let fact = rendered(FactKind::HostDeviceNetwork, with).unwrap().fact;
        assert_eq!(fact.resource, Some(ResourceName::Full("nvidia.com/hostdev".into())));
        assert!(rendered(FactKind::HostDeviceNetwork, r#"{"metadata":{"name":"a"},"spec":{}}"#).is_none());
    }

    #[test]
    fn a_named_device_does_not_change_the_class() {
        let device = |config: &str| {
            let json = serde_json::json!({"metadata": {"name": "a"}, "spec": {"config": config}}).to_string();
            let fact = rendered(FactKind::NetworkAttachmentDefinition, &json).unwrap().fact;
            (fact.takes_device, fact.own_device)
        };
        assert_eq!(device(r#"{"type":"sriov"}"#), (Some(true), false));
        assert_eq!(device(r#"{"type":"sriov","deviceID":"0000:3b:00.2"}"#), (Some(true), true));
        assert_eq!(device(r#"{"type":"macvlan"}"#), (Some(false), false));
    }

    #[test]
    fn shared_networks_take_no_device() {
        let json =
            r#"{"metadata":{"name":"a"},"spec":{"master":"ibs1","metaPlugins":"{\"type\":\"rdma\"}"}}"#;
        let macvlan = rendered(FactKind::MacvlanNetwork, json).unwrap();
        assert_eq!((macvlan.namespace.as_str(), macvlan.fact.takes_device), ("default", Some(false)));
        assert_eq!(macvlan.fact.class.interface.as_deref(), Some("ibs1"));
        assert!(macvlan.fact.class.isolation);
        let ipoib = rendered(FactKind::IpoibNetwork, json).unwrap().fact;
        assert_eq!((ipoib.class.link, ipoib.class.isolation), (Some(LinkLayer::InfiniBand), false));
    }
}
