//! FAB340: SriovIBNetwork with the rdma plugin among its metaPlugins.

use crate::rules::finding::{Findings, Severity};
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::IB_NETWORK;
use crate::rules::resources::rdma_mode::{REMOVE, is_shared};
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB340",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[IB_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let path = "/spec/metaPlugins";
    // FAB335 reports a text that cannot be read.
    let Some((text, Ok(plugins))) = context.meta_plugins() else { return };
    let rdma = |entry: &&json_in_text_fields::EmbeddedObject| {
        entry.object.get("type").and_then(Value::as_str) == Some("rdma")
    };
    if let Some(entry) = plugins.iter().find(rdma) {
        let fix = if is_shared(context) {
            REMOVE
        } else {
            "Use a NetworkAttachmentDefinition of type ib-sriov with \"rdmaIsolation\": true."
        };
        findings.add_within(
            path,
            json_in_text_fields::spot(text, entry.at),
            "plugin rdma runs after plugin ib-sriov, and moves the pod's IPoIB interface back to the node",
            fix,
        );
    }
}
