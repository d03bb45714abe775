//! Values of the CNI plugins in `metaPlugins`, which operators paste into the chain.

use crate::rules::crd_fields::refused_by_plugin;
use crate::rules::finding::{Findings, Severity};
use crate::rules::json_in_text_fields::spot;
use crate::rules::most_findings_per_rule::MAX_PER_RULE;
use crate::rules::object_context::ObjectContext;
use serde_json::Value;

/// Reports the values that a plugin of `metaPlugins` refuses, at the place of the plugin.
pub(super) fn refused_plugin_values(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let path = "/spec/metaPlugins";
    let Some((text, Ok(entries))) = context.meta_plugins() else { return };
    let refused = entries.iter().flat_map(|entry| {
        let cni_type = entry.object.get("type").and_then(Value::as_str).unwrap_or_default();
        refused_by_plugin(cni_type, &entry.object).into_iter().map(|refused| (entry.at, refused))
    });
    for (at, (_, message, fix)) in refused.take(MAX_PER_RULE) {
        findings.add_within_as(Severity::Error, path, || spot(text, at), message, fix);
    }
}
