//! The version of the API server, compared with what the server supports. The server only reports it: an old API server
//! gets the same answers.

use super::list_watched_kind_into_builder::{ListOrWatchFailure, get};
use super::missing_prerequisites;
use super::state_shared_by_watches::StateSharedByWatches;
use crate::kubernetes_version::Version;
use http_body_util::{BodyExt, Limited};
use kube::Client;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How often it is read again: an upgrade of a cluster takes minutes.
const AGAIN: Duration = Duration::from_secs(300);
/// Longest answer (bytes).
const MAX_ANSWER: usize = 1 << 16;

/// The answer of `/version`.
#[derive(Deserialize)]
pub(super) struct VersionInfo {
    major: String,
    minor: String,
}

impl VersionInfo {
    /// The version; the error names what is none.
    pub(super) fn version(&self) -> Result<Version, String> {
        let Self { major, minor } = self;
        Version::of_server(major, minor).ok_or_else(|| format!("{major:?}.{minor:?} is not a version"))
    }
}

/// Reads the version now and then, until the task is dropped.
pub(super) async fn check_version_repeatedly(client: Client, shared: Arc<StateSharedByWatches>) {
    loop {
        let pause = match read(&client).await {
            Ok(version) => {
                let problem =
                    version.version().ok().and_then(missing_prerequisites::message_if_version_is_too_old);
                if shared.sync.set_unsupported_version_message(problem.clone())
                    && let Some(problem) = problem
                {
                    tracing::warn!("{problem}");
                }
                AGAIN
            }
            // Nothing depends on it, and the watches report an API server that is away.
            Err(_) => shared.timings.longest_pause.max(Duration::from_secs(1)),
        };
        tokio::time::sleep(pause).await;
    }
}

async fn read(client: &Client) -> Result<VersionInfo, ListOrWatchFailure> {
    let body = Limited::new(get(client, "/version").await?.into_body(), MAX_ANSWER).collect().await;
    let bytes = body.map_err(|e| ListOrWatchFailure::Other(e.to_string()))?.to_bytes();
    serde_json::from_slice(&bytes).map_err(|e| ListOrWatchFailure::Other(e.to_string()))
}
