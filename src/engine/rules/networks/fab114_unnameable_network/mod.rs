//! FAB114: network name that is valid only in the JSON form of the networks annotation.

use crate::multus::parse_networks_annotation::is_dns_label;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB114",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    let metadata = object.get("metadata");
    let text =
        |value: Option<&Value>| value.and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
    if let Some(name) = text(metadata.and_then(|m| m.get("name"))).filter(|n| !is_dns_label(n)) {
        findings.add(
            "/metadata/name",
            format!(
                "network name {} is not a DNS label: pods can request this network only in the JSON form of the annotation",
                escaped_and_cut(&name, 100)
            ),
            "Give the network a name of at most 63 lower-case letters, digits and `-`.",
        );
    }
}
