//! Values of the CNI plugins in `metaPlugins`, which operators paste into the chain.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields::line_and_column;
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::object_context::ObjectContext;
use crate::rules::report_fields_crd_refuses::values_plugin_refuses;
use serde_json::Value;

/// Reports the values that a plugin of `metaPlugins` refuses, at the place of the plugin.
pub(super) fn report_values_meta_plugins_refuse(
    context: &ObjectContext<'_>,
    findings: &mut FindingsOfRule<'_>,
) {
    let path = "/spec/metaPlugins";
    let Some((text, Ok(entries))) = context.meta_plugins() else { return };
    let refused = entries.iter().flat_map(|entry| {
        let cni_type = entry.object.get("type").and_then(Value::as_str).unwrap_or_default();
        values_plugin_refuses(cni_type, &entry.object).into_iter().map(|refused| (entry.at, refused))
    });
    for (at, (_, message, fix)) in refused.take(MAX_FINDINGS_PER_RULE_AND_SEVERITY) {
        findings.add_in_text_with_severity(Severity::Error, path, || line_and_column(text, at), message, fix);
    }
}
