//! Networks that dra-driver-sriov attaches for a claim. In mode STANDALONE, its default, the driver reads the network in
//! the namespace that the claim names, and calls the plugin without Multus, which would refuse it
//! (k8snetworkplumbingwg/dra-driver-sriov pkg/devicestate/state.go, applyConfigOnDevice).

use crate::demands::claimed::look_up;
use crate::demands::per_fact::PerFact;
use crate::facts::device_class::SRIOV_DRIVER;
use crate::resolve::admits;
use crate::rules::finding::Findings;
use crate::rules::object::ObjectContext;
use crate::rules::paths;
use crate::rules::pod::PodContext;
use crate::text::printable;
use serde_json::Value;

/// What to do about a network of another namespace.
pub(super) const OWN: &str = "Use a network of the pod's own namespace.";

/// What to do about parameters that cannot be read.
const READABLE: &str = "Write valid Unicode and at most 100 levels in the VfConfig of the claim.";

/// Reports the claims of a pod whose networks are in a namespace that is not open to it.
pub(super) fn check_pod(context: &PodContext<'_>, open: &dyn Fn(&str) -> bool, findings: &mut Findings<'_>) {
    let claims = context.pod().spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    // Several claims may name one template.
    let mut seen = PerFact::default();
    for (index, claim) in claims.iter().enumerate() {
        let known = look_up(claim, context.subject.namespace, context.subject.snapshot);
        let Some(known) = known.filter(|known| seen.is_first(known)) else { continue };
        let name = printable(claim.name.as_deref().unwrap_or_default(), 63);
        if known.functions.iter().any(|function| function.unreadable) {
            let message = format!(
                "the parameters of claim {name:?} cannot be read, and this cluster isolates namespaces"
            );
            findings.add(paths::claim(index), message, READABLE);
            continue;
        }
        let foreign = known.functions.iter().find_map(|function| {
            let namespace = function.namespace.as_deref().filter(|namespace| !open(namespace))?;
            Some((namespace, function.network.as_deref()?))
        });
        let Some((namespace, network)) = foreign else { continue };
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
    // Anyone can invent a claim, and ask by it for the namespaces of rails (docs/adr/0021).
    if snapshot.is_for_anyone() {
        return;
    }
    let Some(own) = context.text("/metadata/namespace").filter(|_| snapshot.settings().namespace_isolation)
    else {
        return;
    };
    let spec = if context.kind == "ResourceClaimTemplate" { "/spec/spec" } else { "/spec" };
    let configs = format!("{spec}/devices/config");
    let configs = context.value().and_then(|v| Some((v.pointer(&configs)?.as_array()?, configs)));
    let Some((list, path)) = configs else { return };
    let facts = snapshot.namespace(own);
    // A pod of the namespace may have any of these profiles.
    let of_rails = |namespace: &str| {
        let admitted = snapshot.profiles().filter(|p| admits(p, own, facts));
        admitted.flat_map(|p| &p.rails).any(|rail| rail.network.namespace.as_deref() == Some(namespace))
    };
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
        if namespace == own || namespace == "default" || of_rails(namespace) {
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
