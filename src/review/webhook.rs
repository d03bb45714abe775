//! A webhook body to a decision: the path of `/mutate`.

use super::envelope::{self, EnvelopeError};
use super::{Decision, PodRequest, decide_pod};
use crate::snapshot::{Mode, Snapshot};

/// A decision and the request it answers.
#[derive(Debug)]
pub struct Outcome {
    /// `uid` of the request.
    pub uid: String,
    /// What is decided. Out of scope where the request is no creation of a pod.
    pub decision: Decision,
}

/// Decides on the body of an AdmissionReview. `mode` is the one of the webhook entry that the API server
/// matched, never one from a cache.
///
/// # Errors
/// [`EnvelopeError`] when the body is no request that can be answered.
pub fn handle(body: &[u8], mode: Mode, snapshot: &Snapshot) -> Result<Outcome, EnvelopeError> {
    let request = envelope::parse(body)?;
    let uid = request.uid.to_string();
    let kind = (&*request.kind.group, &*request.kind.kind);
    let whole = request.sub_resource.as_deref().unwrap_or_default().is_empty();
    if kind != ("", "Pod") || &*request.operation != "CREATE" || !whole {
        return Ok(Outcome { uid, decision: Decision::default() });
    }
    let object = request.object.ok_or(EnvelopeError::NoObject)?;
    let namespace = request.namespace.as_deref().unwrap_or("default");
    let pod = PodRequest {
        json: object.get(),
        namespace,
        mode,
        opted_in: true,
        profile: None,
        ranks_over_ssh: false,
    };
    let decision = decide_pod(pod, snapshot).map_err(EnvelopeError::Object)?;
    Ok(Outcome { uid, decision })
}
