//! FAB302: device plugin configuration that keeps the plugin from starting.

use super::device_plugin_config::report;
use super::device_plugin_texts::Concern;
use crate::facts::config_texts;
use crate::json::go::DEVICE_PLUGIN;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::{NIC_CLUSTER_POLICY, NIC_NODE_POLICY};
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};
use crate::rules::{embedded, wrong_type};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB302",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NIC_CLUSTER_POLICY, NIC_NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    // FAB809 reports values that are not text.
    let Some(object) = context.value() else { return };
    for text in config_texts(context.json).unwrap_or_default() {
        let config = object.pointer(text.pointer).and_then(Value::as_str).unwrap_or_default();
        let Err(fault) = text.pools else { continue };
        let message = |what: &str| format!("the device plugin cannot start with this configuration: {what}");
        match embedded::object(config, DEVICE_PLUGIN) {
            Err(place) => {
                findings.add_within(
                    text.pointer,
                    place.spot,
                    message(&place.to_string()),
                    "Fix the JSON at that place.",
                );
            }
            Ok(_) => {
                let fault = fault.to_string();
                findings.add(text.pointer, message(&fault), wrong_type::fix(&fault));
            }
        }
    }
    report(context, Concern::Start, findings);
}
