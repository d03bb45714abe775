//! FAB340: SriovIBNetwork with the rdma plugin among its metaPlugins.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::SRIOV_IB_NETWORK;
use crate::rules::resources::rdma_mode::{REMOVE_RDMA_PLUGIN, are_nodes_in_shared_rdma_mode};
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB340",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_IB_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let path = "/spec/metaPlugins";
    // FAB335 reports a text that cannot be read.
    let Some((text, Ok(plugins))) = context.meta_plugins() else { return };
    let rdma = |entry: &&json_in_text_fields::EmbeddedObject| {
        entry.object.get("type").and_then(Value::as_str) == Some("rdma")
    };
    if let Some(entry) = plugins.iter().find(rdma) {
        let fix = if are_nodes_in_shared_rdma_mode(context) {
            REMOVE_RDMA_PLUGIN
        } else {
            "Use a NetworkAttachmentDefinition of type ib-sriov with \"rdmaIsolation\": true."
        };
        findings.add_in_text(
            path,
            json_in_text_fields::line_and_column(text, entry.at),
            "plugin rdma runs after plugin ib-sriov, and moves the pod's IPoIB interface back to the node",
            fix,
        );
    }
}
