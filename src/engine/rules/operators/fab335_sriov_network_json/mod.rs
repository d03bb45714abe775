//! FAB335: ipam, metaPlugins or capabilities of an SR-IOV network that are not valid JSON.

use super::report_values_meta_plugins_refuse::report_values_meta_plugins_refuse;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields::{self, EmbeddedFault};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB335",
    severity: Severity::Error,
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let ipam = context.ipam_text().and_then(|(_, read)| read.as_ref().err().cloned());
    let plugins = context.meta_plugins().and_then(|(_, read)| read.as_ref().err().cloned());
    let capabilities =
        context.non_empty_text_at("/spec/capabilities").and_then(|text| capabilities(text).err());
    let faults = [
        ("ipam", ipam, "not a JSON object", "Write ipam as one JSON object."),
        (
            "metaPlugins",
            plugins,
            "not a list of JSON objects without brackets",
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
            findings.add_in_text(
                format!("/spec/{field}"),
                fault.spot,
                format!("{field} is {what} ({fault})"),
                fix,
            );
        }
    }
    report_values_meta_plugins_refuse(context, findings);
}

/// Reads `capabilities`, which the CNI library takes as a mapping of truth values
/// (containernetworking/cni pkg/types, `Capabilities map[string]bool`).
fn capabilities(text: &str) -> Result<(), EmbeddedFault> {
    let object = json_in_text_fields::read_object(text, &[])?;
    match object.iter().find(|(_, value)| !value.is_boolean()) {
        None => Ok(()),
        Some((key, _)) => Err(EmbeddedFault {
            spot: json_in_text_fields::line_and_column_of_string(text, key),
            what: "a value other than true or false".to_owned(),
            near: crate::text::escaped_and_cut(key, 40),
        }),
    }
}
