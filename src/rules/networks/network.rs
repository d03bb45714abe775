//! A network object as rules read it: its chain of CNI plugins, with the place of each value.

use crate::facts::Kind;
use crate::facts::go_json::{self, CNI};
use crate::facts::network::{NetworkObject, render};
use crate::multus::{NetworkFact, RESOURCE_ANNOTATION};
use crate::rules::finding::{Findings, Severity};
use crate::rules::locate::Places;
use crate::rules::object::ObjectContext;
use serde_json::{Map, Value};

/// Plugins that change an interface which another one made; `rdma` is judged by itself.
const META: [&str; 8] =
    ["tuning", "vrf", "sbr", "bandwidth", "portmap", "route-override", "coordinator", "ifacer"];

/// The CNI configuration of a NetworkAttachmentDefinition.
#[derive(Debug)]
pub(in crate::rules) struct Definition {
    annotations: Map<String, Value>,
    text: String,
    config: Value,
    list: bool,
    places: Places,
}

/// One plugin of the chain.
#[derive(Clone)]
pub(super) struct Plugin<'a> {
    /// `type`.
    pub(super) cni_type: &'a str,
    /// All of it.
    pub(super) object: &'a Map<String, Value>,
    /// Where it stands in the configuration.
    pub(super) pointer: String,
}

impl Plugin<'_> {
    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.object.get(key).and_then(Value::as_str).filter(|t| !t.is_empty())
    }

    /// The `ipam` object.
    pub(super) fn ipam(&self) -> Option<&Map<String, Value>> {
        self.object.get("ipam").and_then(Value::as_object)
    }
}

fn plugin(value: &Value, pointer: String) -> Option<Plugin<'_>> {
    let object = value.as_object()?;
    Some(Plugin { cni_type: object.get("type")?.as_str()?, object, pointer })
}

impl Definition {
    /// Reads the object; `None` where Multus cannot use it, which FAB103 tells.
    pub(in crate::rules) fn read(object: &Value) -> Option<Self> {
        let text = object.pointer("/spec/config")?.as_str()?.to_owned();
        let config = go_json::cni(&text).ok()?;
        let list = config.get("type").and_then(Value::as_str).is_none_or(str::is_empty);
        let annotations = object.pointer("/metadata/annotations").and_then(Value::as_object);
        Some(Self {
            annotations: annotations.cloned().unwrap_or_default(),
            text,
            config,
            list,
            places: Places::default(),
        })
    }

    /// The chain, in order.
    pub(super) fn plugins(&self) -> Vec<Plugin<'_>> {
        if !self.list {
            return plugin(&self.config, String::new()).into_iter().collect();
        }
        let list =
            self.config.get("plugins").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().enumerate().filter_map(|(i, v)| plugin(v, format!("/plugins/{i}"))).collect()
    }

    /// The plugin that makes the interface.
    pub(super) fn primary(&self) -> Option<Plugin<'_>> {
        self.plugins().into_iter().find(|p| p.cni_type != "rdma" && !META.contains(&p.cni_type))
    }

    /// Annotation that names the resource.
    pub(super) fn resource(&self) -> Option<&str> {
        self.annotation(RESOURCE_ANNOTATION)
    }

    /// An annotation that is not empty.
    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key)?.as_str().filter(|t| !t.is_empty())
    }

    /// A finding about a value of the configuration.
    pub(super) fn tell(
        &self,
        findings: &mut Findings<'_>,
        severity: Severity,
        pointer: &str,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        let place = || self.places.locate(&self.text, pointer, CNI);
        findings.add_within_as(severity, "/spec/config", place, message, fix);
    }
}

/// What decisions know of the network that an object is.
pub(in crate::rules) fn fact(context: &ObjectContext<'_>) -> Option<NetworkFact> {
    let kind = Kind::of(context.group, context.kind)?;
    let object: NetworkObject = serde_json::from_str(context.json).ok()?;
    // HostDeviceNetwork makes none without a namespace.
    render(kind, &object, "default").map(|r| r.fact)
}

/// The `ipam` object of any network object.
pub(super) struct IpamText {
    path: &'static str,
    text: String,
    places: Places,
    prefix: String,
    /// The object.
    pub(super) object: Map<String, Value>,
    /// `type` of the plugin that makes the interface.
    pub(super) plugin: String,
}

impl IpamText {
    /// Reads it; `None` where there is none that can be read.
    pub(super) fn read(context: &ObjectContext<'_>) -> Option<Self> {
        if context.kind == "NetworkAttachmentDefinition" {
            let definition = context.definition()?;
            let primary = definition.primary()?;
            let (object, plugin) = (primary.ipam()?.clone(), primary.cni_type.to_owned());
            let prefix = format!("{}/ipam", primary.pointer);
            let text = definition.text.clone();
            let places = Places::default();
            return Some(Self { path: "/spec/config", text, places, prefix, object, plugin });
        }
        let plugin = match context.kind {
            "SriovNetwork" => "sriov",
            "SriovIBNetwork" => "ib-sriov",
            "OVSNetwork" => "ovs",
            "MacvlanNetwork" => "macvlan",
            "IPoIBNetwork" => "ipoib",
            "HostDeviceNetwork" => "host-device",
            _ => return None,
        };
        let text = context.value()?.pointer("/spec/ipam")?.as_str()?.to_owned();
        let Ok(Value::Object(object)) = go_json::cni(&text) else { return None };
        let (places, prefix, plugin) = (Places::default(), String::new(), plugin.to_owned());
        Some(Self { path: "/spec/ipam", text, places, prefix, object, plugin })
    }

    /// A finding about a value of it.
    pub(super) fn tell(
        &self,
        findings: &mut Findings<'_>,
        severity: Severity,
        pointer: &str,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        let place = || self.places.locate(&self.text, &format!("{}{pointer}", self.prefix), CNI);
        findings.add_within_as(severity, self.path, place, message, fix);
    }
}
