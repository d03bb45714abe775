//! FAB335: ipam, metaPlugins or capabilities of an SR-IOV network that are not valid JSON.

use super::meta_plugins::refused_plugin_values;
use crate::rules::finding::{Findings, Severity};
use crate::rules::json_in_text_fields::{self, EmbeddedFault};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{IB_NETWORK, NETWORK, OVS_NETWORK};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB335",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK, IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let ipam = context.ipam_text().and_then(|(_, read)| read.as_ref().err().cloned());
    let plugins = context.meta_plugins().and_then(|(_, read)| read.as_ref().err().cloned());
    let capabilities = context.text("/spec/capabilities").and_then(|text| capabilities(text).err());
    let faults = [
        ("ipam", ipam, "not a JSON object", "Write ipam as one JSON object."),
        (
            "metaPlugins",
            plugins,
            "not a series of JSON objects",
            "Write JSON objects with commas between them.",
        ),
        (
            "capabilities",
            capabilities,
            "not a JSON object of true and false values",
            "Write capabilities as an object, such as {\"ips\": true}.",
        ),
    ];
    for (field, fault, what, fix) in faults {
        if let Some(fault) = fault {
            findings.add_within(
                format!("/spec/{field}"),
                fault.spot,
                format!("{field} is {what} ({fault})"),
                fix,
            );
        }
    }
    refused_plugin_values(context, findings);
}

/// Reads `capabilities`, which the CNI library takes as a mapping of truth values
/// (containernetworking/cni pkg/types, `Capabilities map[string]bool`).
fn capabilities(text: &str) -> Result<(), EmbeddedFault> {
    let object = json_in_text_fields::object(text, &[])?;
    match object.iter().find(|(_, value)| !value.is_boolean()) {
        None => Ok(()),
        Some((key, _)) => Err(EmbeddedFault {
            spot: json_in_text_fields::spot_of(text, key),
            what: "a value other than true or false".to_owned(),
            near: crate::text::printable(key, 40),
        }),
    }
}
