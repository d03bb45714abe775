//! Networks that dra-driver-sriov attaches for a claim. In mode STANDALONE, its default, the driver reads the network in
//! the namespace that the claim names, and calls the plugin without Multus, which would refuse it
//! (k8snetworkplumbingwg/dra-driver-sriov pkg/devicestate/state.go, applyConfigOnDevice).

use crate::demands::claimed::look_up;
use crate::demands::per_fact::PerFact;
use crate::facts::device_class::SRIOV_DRIVER;
use crate::rules::finding::Findings;
use crate::rules::object::ObjectContext;
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::text::printable;
use serde_json::Value;

/// What to do about a network of another namespace.
pub(super) const OWN: &str = "Use a network of the pod's own namespace.";

/// Reports the claims of a pod whose networks are in a namespace that is not open to it.
pub(super) fn check_pod(context: &PodContext<'_>, open: &dyn Fn(&str) -> bool, findings: &mut Findings<'_>) {
    let claims = context.pod().spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    // Several claims may name one template.
    let mut seen = PerFact::default();
    for (index, claim) in claims.iter().enumerate() {
        let known = look_up(claim, context.subject.namespace, context.subject.snapshot);
        let Some(known) = known.filter(|known| seen.is_first(*known)) else { continue };
        let foreign = known.functions.iter().find_map(|function| {
            let namespace = function.namespace.as_deref().filter(|namespace| !open(namespace))?;
            Some((namespace, function.network.as_deref()?))
        });
        let Some((namespace, network)) = foreign else { continue };
        let name = printable(claim.name.as_deref().unwrap_or_default(), 63);
        let (namespace, network) = (printable(namespace, 63), printable(network, 100));
        let message = format!(
            "claim {name:?} attaches network {namespace}/{network} of another namespace, and this cluster isolates namespaces"
        );
        findings.add(paths::claim(index), message, OWN);
    }
}

/// Reports a claim, or the template of one, by itself: it may be created after its pod.
pub(super) fn check_object(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let snapshot = context.snapshot;
    let Some(own) = context.text("/metadata/namespace").filter(|_| snapshot.settings().namespace_isolation)
    else {
        return;
    };
    let spec = if context.kind == "ResourceClaimTemplate" { "/spec/spec" } else { "/spec" };
    let configs = format!("{spec}/devices/config");
    let configs = context.value().and_then(|v| Some((v.pointer(&configs)?.as_array()?, configs)));
    let Some((list, path)) = configs else { return };
    for (index, config) in list.iter().enumerate() {
        let text =
            |pointer: &str| config.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        if text("/opaque/driver") != Some(SRIOV_DRIVER) {
            continue;
        }
        let (Some(namespace), Some(network)) =
            (text("/opaque/parameters/netAttachDefNamespace"), text("/opaque/parameters/netAttachDefName"))
        else {
            continue;
        };
        // A pod of the namespace may have any profile that admits it.
        if namespace == own || namespace == "default" || snapshot.opens(namespace, own) {
            continue;
        }
        let (namespace, network) = (printable(namespace, 63), printable(network, 100));
        let message = format!(
            "VfConfig attaches network {namespace}/{network} of another namespace, and this cluster isolates namespaces"
        );
        let path = format!("{path}/{index}/opaque/parameters/netAttachDefNamespace");
        findings.add(path, message, OWN);
    }
}
