//! FAB360: ipam or metaPlugins of an NVIDIA network that are not valid JSON.

use super::report_values_meta_plugins_refuse::report_values_meta_plugins_refuse;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields::line_and_column;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{HOST_DEVICE_NETWORK, IPOIB_NETWORK, MACVLAN_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB360",
    severity: Severity::Error,
    files: files!(),
    kinds: &[MACVLAN_NETWORK, IPOIB_NETWORK, HOST_DEVICE_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some((_, Err(fault))) = context.ipam_text() {
        findings.add_in_text(
            "/spec/ipam",
            fault.spot,
            format!("the operator never creates the network: ipam is not a JSON object ({fault})"),
            "Correct the JSON at this line and column.",
        );
    }
    // IPoIBNetwork has no such field; the API server drops it.
    let Some((meta, read)) = context.meta_plugins().filter(|_| context.kind != "IPoIBNetwork") else {
        return;
    };
    match read {
        Err(fault) => findings.add_in_text(
            "/spec/metaPlugins",
            fault.spot,
            format!("metaPlugins is not a list of JSON objects without brackets ({fault})"),
            "Correct the JSON at this line and column.",
        ),
        Ok(entries) => {
            let named = |v: Option<&Value>| v.and_then(Value::as_str).is_some_and(|t| !t.is_empty());
            for entry in entries.iter().filter(|e| !named(e.object.get("type"))) {
                findings.add_in_text_with_severity(
                    Severity::Error,
                    "/spec/metaPlugins",
                    || line_and_column(meta, entry.at),
                    "a plugin in metaPlugins has no type: Multus cannot call the plugin chain",
                    "Add the plugin's type, such as \"type\": \"tuning\".",
                );
            }
            report_values_meta_plugins_refuse(context, findings);
        }
    }
}
