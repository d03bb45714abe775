//! FAB358: HostDeviceNetwork without networkNamespace, or with an invalid resourceName.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::{ObjectContext, ObjectEvent};
use crate::rules::object_kinds::HOST_DEVICE_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};
use crate::text::{escaped_and_cut, parse_document_within_limit};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB358",
    severity: Severity::Error,
    lesser: &[(
        Severity::Warning,
        "the API server accepts the object, but the object does not have the intended effect",
    )],
    files: files!(),
    kinds: &[HOST_DEVICE_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    // The API server refuses a value of another type (FAB366).
    let refused = |pointer: &str| object.pointer(pointer).is_some_and(|v| !v.is_string() && !v.is_null());
    let namespace = text(object, "/spec/networkNamespace");
    if namespace.is_empty() && !refused("/spec/networkNamespace") {
        findings.add(
            "/spec/networkNamespace",
            "networkNamespace is not set, and HostDeviceNetwork has no default for it: the operator creates no network",
            "Set networkNamespace to the namespace of the pods.",
        );
    }
    let resource = text(object, "/spec/resourceName");
    let shown = escaped_and_cut(resource, 63);
    if refused("/spec/resourceName") {
    } else if resource.is_empty() {
        findings.add(
            "/spec/resourceName",
            "resourceName is not set: host-device gets no device, and every attachment fails",
            "Write the name of a pool of the SR-IOV device plugin, without nvidia.com/.",
        );
    } else if resource.strip_prefix("nvidia.com/").is_some_and(is_name) {
        findings.add_with_severity(
            Severity::Warning,
            "/spec/resourceName",
            format!(
                "resourceName {shown:?} has a prefix: the operator adds nvidia.com/ itself, and its webhook refuses the name"
            ),
            "Write the name without nvidia.com/.",
        );
    } else if !is_name(resource) {
        findings.add(
            "/spec/resourceName",
            format!("resourceName {shown:?} is not the name of a pool (letters, digits, `-`, `_`, `.`): Multus gets no device"),
            "Write the name without a prefix; the operator adds nvidia.com/.",
        );
    }
    if let ObjectEvent::Updated { old } = context.event {
        let old: Value = parse_document_within_limit(old).unwrap_or_default();
        let before = text(&old, "/spec/networkNamespace");
        if !before.is_empty() && before != namespace {
            findings.add_with_severity(
                Severity::Warning,
                "/spec/networkNamespace",
                format!(
                    "networkNamespace changes: the operator does not delete the old network in namespace {:?}",
                    escaped_and_cut(before, 63)
                ),
                "Delete the old NetworkAttachmentDefinition by hand.",
            );
        }
    }
}

fn cel() -> Cel {
    let name = "variables.resource.matches('^(nvidia[.]com/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')";
    let prefixed = format!("{name} && variables.resource.startsWith('nvidia.com/')");
    let checks = vec![
        CelCheck::error(
            "variables.spec.?networkNamespace.orValue('') == ''",
            "networkNamespace is not set, and HostDeviceNetwork has no default for it: the operator creates no network; set \
                 networkNamespace to the namespace of the pods",
        ),
        CelCheck::error(
            format!("!{name}"),
            "resourceName is not the name of a pool (letters, digits, `-`, `_`, `.`), so Multus gets no device; write the name without a prefix; the operator adds nvidia.com/",
        ),
        CelCheck::warning(
            prefixed,
            "resourceName has prefix nvidia.com/: the operator adds the prefix itself, and its webhook refuses the name; write the name without nvidia.com/",
        ),
    ];
    Cel {
        variables: vec![("resource", "variables.spec.?resourceName.orValue('')".into())],
        checks,
        beyond: Some("the old network that remains after a change of networkNamespace"),
    }
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn is_name(text: &str) -> bool {
    let edge = |c: char| c.is_ascii_alphanumeric();
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    text.starts_with(edge) && text.ends_with(edge) && text.bytes().all(inner)
}
