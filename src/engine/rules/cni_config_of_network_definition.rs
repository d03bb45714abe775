//! A NetworkAttachmentDefinition as rules read it: its chain of CNI plugins, with the place of each value.

use super::finding::{FindingsOfRule, Severity};
use super::place_in_json_text::Places;
use crate::json::as_go_reads::{self, CNI_FIELDS};
use crate::multus::RESOURCE_ANNOTATION;
use serde_json::{Map, Value};

/// Plugins that change an interface which another one made; `rdma` is judged by itself.
const META_PLUGINS_WITHOUT_RDMA: [&str; 8] =
    ["tuning", "vrf", "sbr", "bandwidth", "portmap", "route-override", "coordinator", "ifacer"];

/// The CNI configuration of a NetworkAttachmentDefinition.
#[derive(Debug)]
pub(super) struct NetworkDefinition {
    annotations: Map<String, Value>,
    pub(super) text: String,
    config: Value,
    list: bool,
    places: Places,
}

/// One plugin of the chain.
#[derive(Clone)]
pub(super) struct PluginInDefinition<'a> {
    /// `type`.
    pub(super) cni_type: &'a str,
    /// All of it.
    pub(super) object: &'a Map<String, Value>,
    /// Its index in a list.
    index: Option<usize>,
}

impl<'a> PluginInDefinition<'a> {
    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.object.get(key).and_then(Value::as_str).filter(|t| !t.is_empty())
    }

    /// The `ipam` object.
    pub(super) fn ipam(&self) -> Option<&'a Map<String, Value>> {
        self.object.get("ipam").and_then(Value::as_object)
    }

    /// Its path in the configuration.
    pub(super) fn pointer(&self) -> String {
        self.index.map(|index| format!("/plugins/{index}")).unwrap_or_default()
    }
}

fn plugin(value: &Value, index: Option<usize>) -> Option<PluginInDefinition<'_>> {
    let object = value.as_object()?;
    Some(PluginInDefinition { cni_type: object.get("type")?.as_str()?, object, index })
}

impl NetworkDefinition {
    /// Reads the object; `None` where Multus cannot use it, which FAB103 reports.
    pub(super) fn read(object: &Value) -> Option<Self> {
        let text = object.pointer("/spec/config")?.as_str()?.to_owned();
        let config = as_go_reads::read_cni_and_respell_keys(&text).ok()?;
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
    pub(super) fn plugins(&self) -> impl Iterator<Item = PluginInDefinition<'_>> {
        let list = self.config.get("plugins").and_then(Value::as_array).filter(|_| self.list);
        let single = if self.list { None } else { plugin(&self.config, None) };
        let listed = list.into_iter().flatten().enumerate();
        single.into_iter().chain(listed.filter_map(|(i, v)| plugin(v, Some(i))))
    }

    /// The plugin that makes the interface.
    pub(super) fn plugin_that_makes_interface(&self) -> Option<PluginInDefinition<'_>> {
        self.plugins().find(|p| p.cni_type != "rdma" && !META_PLUGINS_WITHOUT_RDMA.contains(&p.cni_type))
    }

    /// Annotation that names the resource.
    pub(super) fn resource_annotation(&self) -> Option<&str> {
        self.annotation(RESOURCE_ANNOTATION)
    }

    /// An annotation that is not empty.
    pub(super) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key)?.as_str().filter(|t| !t.is_empty())
    }

    /// A finding about a value of the configuration.
    pub(super) fn report_in_configuration(
        &self,
        findings: &mut FindingsOfRule<'_>,
        severity: Severity,
        pointer: &str,
        message: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) {
        let place = || self.places.locate(&self.text, pointer, CNI_FIELDS);
        findings.add_in_text_with_severity(severity, "/spec/config", place, message, fix);
    }
}
