//! FAB341: SriovIBNetwork with DHCP.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::SRIOV_IB_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB341",
    severity: Severity::Error,
    files: files!(),
    kinds: &[SRIOV_IB_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let path = "/spec/ipam";
    let Some((text, Ok(ipam))) = context.ipam_text() else { return };
    if ipam.get("type").and_then(Value::as_str) == Some("dhcp") {
        findings.add_in_text(
            path,
            json_in_text_fields::line_and_column_of_string(text, "dhcp"),
            "ipam has type dhcp: plugin ib-sriov refuses this type, and pods stay in ContainerCreating",
            "In ipam, set type to nv-ipam or whereabouts.",
        );
    }
}
