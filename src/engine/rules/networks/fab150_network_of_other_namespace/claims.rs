//! Networks that dra-driver-sriov attaches for a claim. In mode STANDALONE, its default, the driver reads the network
//! in the namespace that the claim names, and calls the CNI plugin itself. Multus, which would refuse the network, is
//! not called (k8snetworkplumbingwg/dra-driver-sriov pkg/devicestate/state.go, applyConfigOnDevice).

use crate::demands::answers_per_fact::PerFact;
use crate::demands::claimed_devices::{find_known_claim_or_template, may_claim_be_left_out};
use crate::rules::finding::FindingsOfRule;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::text::escaped_and_cut;

/// The fix for a network of another namespace.
pub(super) const USE_OWN_NAMESPACE: &str = "Use a network of the pod's own namespace.";

/// The fix for a claim that sets link settings of its VF.
pub(super) fn without_link_setting(field: &str) -> String {
    format!(
        "Remove {field} from the VfConfig. If the pod needs this option, set it in the network of the claim."
    )
}

/// The fix for claims of which the webhook does not keep all.
pub(crate) const FEWER_CLAIMS: &str =
    "Delete ResourceClaims and ResourceClaimTemplates that the namespace does not need.";

/// Why a claim is not known.
pub(crate) fn too_many_claims(namespace: &str) -> String {
    format!(
        "the ResourceClaims and ResourceClaimTemplates of namespace {} use more memory than the webhook keeps for a namespace",
        escaped_and_cut(namespace, 63)
    )
}

/// The fix for parameters that cannot be read.
const READABLE: &str = "Write the claim's VfConfig in valid Unicode, with at most 100 levels of nesting and names of at most 253 bytes.";

/// Describes the network of a VfConfig. The name may be missing, because another entry of the claim or the DeviceClass
/// can set it.
pub(super) fn network_in_words(namespace: &str, network: Option<&str>) -> String {
    let namespace = escaped_and_cut(namespace, 63);
    match network {
        Some(network) => {
            format!("network {namespace}/{} of another namespace", escaped_and_cut(network, 100))
        }
        None => format!("a network of namespace {namespace}"),
    }
}

/// Reports the claims of a pod that attach networks of a namespace that is not open to the pod, or that set link
/// settings of a VF.
pub(super) fn report_claims_of_pod(
    context: &PodContext<'_>,
    open: &dyn Fn(&str) -> bool,
    findings: &mut FindingsOfRule<'_>,
) {
    let claims = context.pod().spec.as_ref().and_then(|s| s.resource_claims.as_deref()).unwrap_or_default();
    // Several claims may name the same template.
    let mut seen = PerFact::default();
    for (index, claim) in claims.iter().enumerate() {
        let (namespace, snapshot) = (context.subject.namespace, context.subject.snapshot);
        let name = escaped_and_cut(claim.name.as_deref().unwrap_or_default(), 63);
        if may_claim_be_left_out(claim, namespace, snapshot) {
            let message = format!(
                "this cluster isolates namespaces, but the networks of claim {name:?} are not known: {}",
                too_many_claims(namespace)
            );
            findings.add(pointers_in_pod::claim(index), message, FEWER_CLAIMS);
        }
        let known = find_known_claim_or_template(claim, namespace, snapshot);
        let Some(known) = known.filter(|known| seen.record_if_first(*known)) else { continue };
        if known.functions.iter().any(|function| function.unreadable) {
            let message = format!(
                "this cluster isolates namespaces, but the parameters of claim {name:?} cannot be read"
            );
            findings.add(pointers_in_pod::claim(index), message, READABLE);
            continue;
        }
        if let Some(field) = known.functions.iter().find_map(|function| function.link) {
            let message =
                format!("claim {name:?} sets {field} of its VF, but this cluster isolates namespaces");
            findings.add(pointers_in_pod::claim(index), message, without_link_setting(field));
        }
        let foreign = known.functions.iter().find_map(|function| {
            let namespace = function.namespace.as_deref().filter(|namespace| !open(namespace))?;
            Some((namespace, function.network.as_deref()))
        });
        let Some((namespace, network)) = foreign else { continue };
        let what = network_in_words(namespace, network);
        let message = format!("claim {name:?} attaches {what}, but this cluster isolates namespaces");
        findings.add(pointers_in_pod::claim(index), message, USE_OWN_NAMESPACE);
    }
}
