//! A change of the networks annotations of a stored pod. Multus reads them whenever it makes a sandbox: after scheduling
//! gates, a missing ConfigMap or a restart of the node, however long after the pod was created.

use super::envelope::{EnvelopeError, Request};
use super::{Decision, PodRequest, Stage, decide_pod};
use crate::deadline::Deadline;
use crate::facts::Mode;
use crate::json::decode;
use crate::multus::{DEFAULT_NETWORK_ANNOTATION, NETWORKS_ANNOTATION};
use crate::pod::PodView;
use crate::pod::templates_by_shape::DevShm;
use crate::snapshot::Snapshot;

/// Decides on an update of a pod: only networks that namespace isolation newly forbids deny.
pub(super) fn decide(
    request: &Request<'_>,
    snapshot: &Snapshot,
    deadline: &Deadline<'_>,
) -> Result<Decision, EnvelopeError> {
    let kind = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    let judged = kind == ("", "Pod") && &*request.operation == "UPDATE" && whole;
    let (Some(new), Some(old)) = (request.object.filter(|_| judged), request.old_object) else {
        return Ok(Decision::default());
    };
    let stored: PodView<'_> = decode::object(old.get()).map_err(EnvelopeError::Object)?;
    let changed: PodView<'_> = decode::object(new.get()).map_err(EnvelopeError::Object)?;
    let same = |key: &str| stored.annotation(key) == changed.annotation(key);
    if same(NETWORKS_ANNOTATION) && same(DEFAULT_NETWORK_ANNOTATION) {
        return Ok(Decision::default());
    }
    let pod = PodRequest {
        json: new.get(),
        namespace: request.namespace.as_deref().unwrap_or("default"),
        stage: Stage::Final,
        mode: Mode::Enforce,
        opted_in: true,
        profile: None,
        tenant_view: true,
        ranks_over_ssh: false,
        gang: None,
        siblings: None,
        dev_shm: DevShm::AsWritten,
        before: Some(&stored),
        deadline,
    };
    let mut decision = decide_pod(pod, snapshot).map_err(EnvelopeError::Object)?;
    decision.patch.clear();
    Ok(decision)
}
