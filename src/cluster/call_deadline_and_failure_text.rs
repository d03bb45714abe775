//! Calls with a deadline, and why one did not succeed.

use std::error::Error;
use std::time::Duration;

/// Deadline of one call.
const CALL: Duration = Duration::from_secs(10);
/// Deadline of one page of a list, and of the headers of a watch.
pub(super) const DEADLINE_OF_LIST_OR_WATCH: Duration = Duration::from_secs(30);

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// No response within the deadline.
    #[error("{}", no_response_message(CALL))]
    Timeout,
    /// The client or the API server refused the call.
    #[error("{}", text_of_failed_call(.0))]
    Api(#[from] kube::Error),
    /// The response is not the expected JSON.
    #[error("the response of the API server could not be parsed: {0}")]
    Answer(#[from] serde_json::Error),
}

impl CallFault {
    /// The answer of a call, which has its deadline here.
    pub(crate) async fn await_with_deadline<T>(
        call: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Self> {
        Ok(tokio::time::timeout(CALL, call).await.map_err(|_| Self::Timeout)??)
    }

    /// The HTTP status, where the API server answered with one.
    pub(crate) fn http_status(&self) -> Option<u16> {
        match self {
            Self::Api(kube::Error::Api(status)) => Some(status.code),
            _ => None,
        }
    }
}

/// The message for a call without a response within its deadline.
pub(crate) fn no_response_message(deadline: Duration) -> String {
    format!("no response from the API server within {} s", deadline.as_secs())
}

/// The reason for a failed call. The first errors of a chain only name layers of the client, such as `ServiceError` and
/// `client error (Connect)`; the socket's or rustls's error is at its end.
pub(crate) fn text_of_failed_call(error: &(dyn Error + 'static)) -> String {
    if let Some(kube::Error::Api(status)) = error.downcast_ref() {
        return format!("{}: {}", status.code, status.message);
    }
    let mut reason = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        next = error.source();
        let text = error.to_string();
        let is_layer = error.source().is_some()
            && ["ServiceError: ", "HyperError: ", "client error ("]
                .iter()
                .any(|layer| text.starts_with(layer));
        // Many errors show the text of their source.
        if is_layer || reason.contains(&text) {
            continue;
        }
        if !reason.is_empty() {
            reason.push_str(": ");
        }
        reason.push_str(&text);
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("client error (Connect)")]
    struct Connect(#[source] io::Error);

    #[test]
    fn a_reason_ends_with_the_error_of_the_socket() {
        let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
        let error = kube::Error::Service(Box::new(Connect(refused())));
        assert_eq!(text_of_failed_call(&error), "connection refused");
        assert_eq!(CallFault::Api(error).to_string(), "connection refused");
        // An error that shows its source, and one whose source is the last.
        assert_eq!(
            text_of_failed_call(&kube::Error::ReadEvents(refused())),
            "Error reading events stream: connection refused"
        );
        assert_eq!(text_of_failed_call(&kube::Error::Service("closed".into())), "closed");
    }
}
