//! Checks ResourceClaims and their templates without a pod, in a review: a claim may be created after its pod.

use super::claims::{USE_OWN_NAMESPACE, network_in_words, without_link_setting};
use crate::facts::device_claim::first_setting_of_vf_link;
use crate::facts::device_class::SRIOV_DRIVER;
use crate::rules::finding::FindingsOfRule;
use crate::rules::object_context::ObjectContext;
use serde_json::Value;

/// Reports a ResourceClaim or ResourceClaimTemplate without its pod: a claim may be created after its pod.
pub(super) fn report_claim_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let snapshot = context.snapshot;
    // Any caller can make up a claim, and could learn the namespaces of rails from the findings (docs/adr/0021).
    if snapshot.is_for_anyone() {
        return;
    }
    let Some(own) =
        context.non_empty_text_at("/metadata/namespace").filter(|_| snapshot.settings().namespace_isolation)
    else {
        return;
    };
    let spec = if context.kind == "ResourceClaimTemplate" { "/spec/spec" } else { "/spec" };
    let configs = format!("{spec}/devices/config");
    let configs = context.whole_object().and_then(|v| Some((v.pointer(&configs)?.as_array()?, configs)));
    let Some((list, path)) = configs else { return };
    for (index, config) in list.iter().enumerate() {
        let text =
            |pointer: &str| config.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text("/opaque/driver") != Some(SRIOV_DRIVER) {
            continue;
        }
        let parameters = format!("{path}/{index}/opaque/parameters");
        if let Some(field) = config.pointer("/opaque/parameters").and_then(first_setting_of_vf_link) {
            let message = format!("VfConfig sets {field} of a VF, but this cluster isolates namespaces");
            let path = format!("{parameters}/{}", field.replace('.', "/"));
            findings.add(path, message, without_link_setting(field));
        }
        let Some(namespace) = text("/opaque/parameters/netAttachDefNamespace") else { continue };
        // A pod of the namespace may have any profile that admits this namespace.
        if namespace == own || namespace == "default" || snapshot.usable_profile_has_rail_in(namespace, own) {
            continue;
        }
        let what = network_in_words(namespace, text("/opaque/parameters/netAttachDefName"));
        let message = format!("VfConfig attaches {what}, but this cluster isolates namespaces");
        findings.add(format!("{parameters}/netAttachDefNamespace"), message, USE_OWN_NAMESPACE);
    }
}
