//! A change of the networks annotations of a stored pod. Multus reads them whenever it makes a sandbox: after scheduling
//! gates, a missing ConfigMap or a restart of the node, however long after the pod was created.

use super::admission_review::{Request, RequestError};
use super::decide_pod::decide_decoded_pod;
use super::snapshot_for_audience::SnapshotForAudience;
use super::who_asked_for_what::username;
use super::{Decision, PodRequest, Stage};
use crate::decision_limits::DecisionLimits;
use crate::json::decode_with_place;
use crate::multus::{DEFAULT_NETWORK_ANNOTATION, NETWORKS_ANNOTATION};
use crate::pod::PodView;
use crate::snapshot::Settings;

/// Whether ib-kubernetes makes the change: its service account has this name in the manifests of ib-kubernetes and of the
/// NVIDIA Network Operator (Mellanox/ib-kubernetes deployment/ib-kubernetes.yaml, Mellanox/network-operator
/// manifests/state-ib-kubernetes).
fn is_ib_kubernetes(request: &Request<'_>, settings: &Settings) -> bool {
    let user = username(request);
    let account = user.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':'));
    account.is_some_and(|(namespace, name)| {
        let of_operators = || settings.operator_namespaces.iter().flatten().any(|known| known == namespace);
        name == "ib-kubernetes" && (namespace == "kube-system" || of_operators())
    })
}

/// Decides on an update of a pod: only networks that namespace isolation newly forbids deny.
pub(super) fn decide_update_of_pod_networks(
    request: &Request<'_>,
    known: SnapshotForAudience<'_>,
    deadline: &DecisionLimits<'_>,
) -> Result<Decision, RequestError> {
    let kind = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    let isolates = known.snapshot.settings().namespace_isolation;
    let judged = isolates && kind == ("", "Pod") && &*request.operation == "UPDATE" && whole;
    let (Some(new), Some(old)) = (request.object.filter(|_| judged), request.old_object) else {
        return Ok(Decision::default());
    };
    let stored: PodView<'_> = decode_with_place::decode_object(old.get()).map_err(RequestError::Object)?;
    let changed: PodView<'_> = decode_with_place::decode_object(new.get()).map_err(RequestError::Object)?;
    let same = |key: &str| stored.annotation(key) == changed.annotation(key);
    if same(NETWORKS_ANNOTATION) && same(DEFAULT_NETWORK_ANNOTATION) {
        return Ok(Decision::default());
    }
    let namespace = request.namespace();
    let pod = PodRequest {
        stage: Stage::Final,
        before: Some(&stored),
        may_carry_guids: is_ib_kubernetes(request, known.snapshot.settings()),
        deadline,
        ..PodRequest::in_enforcing_namespace(namespace)
    };
    let mut decision = decide_decoded_pod(&changed, pod, &known.seen_from_namespace(namespace));
    decision.patch.clear();
    Ok(decision)
}
