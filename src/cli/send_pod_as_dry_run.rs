//! Pods that are created as dry runs, for the commands that show whether the API server calls the webhook.

use crate::cluster::create_pod_as_dry_run::{Answer as Answered, create_pod};
use crate::doctor::probe_pods_and_their_answers::Answer;
use serde_json::Value;

/// The answer of the API server to a pod.
pub(super) async fn send_pod_as_dry_run(client: &kube::Client, namespace: &str, pod: &Value) -> Answer {
    match create_pod(client, namespace, pod).await {
        Ok(Answered::Created(pod)) => Answer::Created(pod),
        Ok(Answered::Refused { message, reason }) => Answer::Refused { message, reason },
        Err(fault) => Answer::Unanswered(fault.to_string()),
    }
}
