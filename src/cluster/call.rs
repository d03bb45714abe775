//! Calls with a deadline, and why one did not succeed.

use std::time::Duration;

/// Deadline of one call.
const CALL: Duration = Duration::from_secs(10);

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// No response within the deadline.
    #[error("no response from the API server in time")]
    Timeout,
    /// The client or the API server refused the call.
    #[error(transparent)]
    Api(#[from] kube::Error),
    /// The response is not the expected JSON.
    #[error("the response of the API server could not be parsed: {0}")]
    Answer(#[from] serde_json::Error),
}

impl CallFault {
    /// The answer of a call, which has its deadline here.
    pub(crate) async fn of<T>(call: impl Future<Output = kube::Result<T>>) -> Result<T, Self> {
        Ok(tokio::time::timeout(CALL, call).await.map_err(|_| Self::Timeout)??)
    }

    /// The HTTP status, where the API server answered with one.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Api(kube::Error::Api(status)) => Some(status.code),
            _ => None,
        }
    }
}
