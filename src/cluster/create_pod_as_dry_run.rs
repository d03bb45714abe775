//! A pod that is created as a dry run: the API server calls every webhook, and stores nothing.

use super::CallFault;
use kube::Client;
use serde_json::Value;

/// The answer of the API server.
#[derive(Debug)]
pub enum Answer {
    /// The pod as it would be stored.
    Created(Value),
    /// The API server refuses it.
    Refused {
        /// Its message.
        message: String,
        /// Its reason, such as `Forbidden`.
        reason: String,
    },
}

/// Creates a pod as a dry run.
pub async fn create_pod(client: &Client, namespace: &str, pod: &Value) -> Result<Answer, CallFault> {
    let request = http::Request::post(format!("/api/v1/namespaces/{namespace}/pods?dryRun=All"))
        .header(http::header::ACCEPT, "application/json")
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(pod.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    match CallFault::await_with_deadline(client.request::<Value>(request)).await {
        Ok(pod) => Ok(Answer::Created(pod)),
        Err(CallFault::Api(kube::Error::Api(status))) => {
            Ok(Answer::Refused { message: status.message.clone(), reason: status.reason.clone() })
        }
        Err(fault) => Err(fault),
    }
}
