//! FAB341: SriovIBNetwork with DHCP.

use crate::rules::finding::{Findings, Severity};
use crate::rules::json_in_text_fields;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::IB_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB341",
    severity: Severity::Error,
    files: files!(),
    kinds: &[IB_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let path = "/spec/ipam";
    let Some((text, Ok(ipam))) = context.ipam_text() else { return };
    if ipam.get("type").and_then(Value::as_str) == Some("dhcp") {
        findings.add_within(
            path,
            json_in_text_fields::spot_of(text, "dhcp"),
            "ipam has type dhcp: plugin ib-sriov refuses this type, and pods stay in ContainerCreating",
            "In ipam, set type to nv-ipam or whereabouts.",
        );
    }
}
