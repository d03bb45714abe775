//! FAB339: two network objects that create the same NetworkAttachmentDefinition.

use crate::facts::FactKind;
use crate::facts::network_of_one_object::{NetworkObject, network_of_object};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{
    HOST_DEVICE_NETWORK, IPOIB_NETWORK, MACVLAN_NETWORK, OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK,
};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB339",
    severity: Severity::Error,
    files: files!(),
    kinds: &[
        SRIOV_NETWORK,
        SRIOV_IB_NETWORK,
        OVS_NETWORK,
        MACVLAN_NETWORK,
        IPOIB_NETWORK,
        HOST_DEVICE_NETWORK,
    ],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(kind) = FactKind::of(context.group, context.kind) else { return };
    // FAB809 reports values of other types.
    let Ok(object) = crate::json::decode_with_place::decode_object::<NetworkObject>(context.json) else {
        return;
    };
    let own = object.namespace();
    // An object without a namespace may be created in any.
    if kind.namespaced() && own.is_none() && context.non_empty_text_at("/spec/networkNamespace").is_none() {
        return;
    }
    let Some(made) = network_of_object(kind, &object, own.unwrap_or("default")) else { return };
    let same = |origin: &&crate::facts::facts_of_cluster::RenderedFrom| {
        origin.kind == kind
            && Some(origin.name.as_str()) == object.name()
            && (!kind.namespaced() || own.is_none_or(|n| n == origin.namespace))
    };
    let origins = context
        .snapshot
        .cluster_facts_for_audience()
        .objects_rendered_to_network(&made.namespace, &made.name);
    if let Some(other) = origins.iter().find(|o| !same(o)) {
        let place = match other.namespace.as_str() {
            "" => other.name.clone(),
            namespace => format!("{namespace}/{}", other.name),
        };
        findings.add(
            "/metadata/name",
            format!(
                "this object and {2} {place} both create NetworkAttachmentDefinition {0}/{1}: only one becomes ready",
                made.namespace,
                made.name,
                other.kind.name()
            ),
            "Give this object another name or another networkNamespace.",
        );
    }
}
