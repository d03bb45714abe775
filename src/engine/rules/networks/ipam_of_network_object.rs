//! A network object as rules read it: the facts that decisions about pods use, and the text of its `ipam`.

use crate::json::as_go_reads::CNI_FIELDS;
use crate::multus::NetworkFact;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::place_in_json_text::Places;
use serde_json::{Map, Value};

/// Facts that decisions use about a network object.
pub(in crate::rules) fn fact_of_network_object<'c>(
    context: &'c ObjectContext<'_>,
) -> Option<&'c NetworkFact> {
    // The operator creates no network for a HostDeviceNetwork without a namespace.
    context.network_made_of_object().map(|rendered| &rendered.fact)
}

/// The `ipam` object of any network object.
pub(super) struct IpamText<'c> {
    path: &'static str,
    text: &'c str,
    places: Places,
    prefix: String,
    /// The object.
    pub(super) object: &'c Map<String, Value>,
    /// `type` of the plugin that makes the interface.
    pub(super) plugin: &'c str,
}

impl<'c> IpamText<'c> {
    /// Reads the `ipam` of a network object; `None` if it is missing or cannot be read.
    pub(super) fn read(context: &'c ObjectContext<'_>) -> Option<Self> {
        let places = Places::default();
        if context.kind == "NetworkAttachmentDefinition" {
            let definition = context.cni_configuration()?;
            let primary = definition.plugin_that_makes_interface()?;
            let (object, plugin) = (primary.ipam()?, primary.cni_type);
            let prefix = format!("{}/ipam", primary.pointer());
            let text = &definition.text;
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
        let (text, Ok(object)) = context.ipam_text()? else { return None };
        Some(Self { path: "/spec/ipam", text, places, prefix: String::new(), object, plugin })
    }

    /// Reports a finding about a value in the `ipam` object.
    pub(super) fn report(
        &self,
        findings: &mut FindingsOfRule<'_>,
        severity: Severity,
        pointer: &str,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        let place = || self.places.locate(self.text, &format!("{}{pointer}", self.prefix), CNI_FIELDS);
        findings.add_in_text_with_severity(severity, self.path, place, message, fix);
    }
}
