//! A network object as rules read it: the decision that pods get from it, and the text of its `ipam`.

use crate::facts::Kind;
use crate::facts::network::{NetworkObject, render};
use crate::json::go::{self, CNI};
use crate::multus::NetworkFact;
use crate::rules::finding::{Findings, Severity};
use crate::rules::locate::Places;
use crate::rules::object::ObjectContext;
use serde_json::{Map, Value};

/// Facts that decisions use about a network object.
pub(in crate::rules) fn fact(context: &ObjectContext<'_>) -> Option<NetworkFact> {
    let kind = Kind::of(context.group, context.kind)?;
    let object: NetworkObject = serde_json::from_str(context.json).ok()?;
    // A HostDeviceNetwork without a namespace creates none.
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
        let Ok(Value::Object(object)) = go::cni(&text) else { return None };
        let (places, prefix, plugin) = (Places::default(), String::new(), plugin.to_owned());
        Some(Self { path: "/spec/ipam", text, places, prefix, object, plugin })
    }

    /// A finding about a value of it.
    pub(super) fn report(
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
