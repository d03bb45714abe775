//! The cluster as it is now, for commands that look once.

use super::list::{Failure, list};
use super::{Notify, Pace, Shared, Sync, kinds};
use crate::facts::Kind;
use crate::server::Metrics;
use crate::snapshot::Builder;
use std::sync::{Arc, Mutex, PoisonError};

/// What a look at the cluster gives.
#[derive(Debug)]
pub struct Seen {
    /// Everything that was known before, and what the cluster has.
    pub builder: Builder,
    /// Kinds that may not be read, with the API server's reason. Of them nothing is known.
    pub forbidden: Vec<(&'static str, String)>,
}

/// Why nothing can be said about the cluster.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {kind}: {why}")]
pub struct OnceError {
    kind: &'static str,
    why: String,
}

/// Lists every kind into a builder. Kinds that are not installed have no objects.
///
/// # Errors
/// [`OnceError`] for the first kind whose list fails for another reason than that it may not be read.
pub async fn once(client: &kube::Client, builder: Builder) -> Result<Seen, OnceError> {
    let shared = Shared {
        builder: Mutex::new(builder),
        changed: Notify::new(),
        sync: Sync::default(),
        metrics: Arc::new(Metrics::new()),
        pace: Pace::default(),
    };
    let mut forbidden = Vec::new();
    for kind in kinds::WATCHED {
        match list(kind, client, &shared).await {
            Ok(_) if kind.kind == Kind::NetworkAttachmentDefinition => {
                shared.with(|builder| builder.networks_listed(true));
            }
            Ok(_) | Err(Failure::Absent) => {}
            Err(Failure::Forbidden(why)) => forbidden.push((kind.name(), why)),
            Err(Failure::Gone) => {
                return Err(OnceError { kind: kind.name(), why: "the list grew too old".into() });
            }
            Err(Failure::Other(why)) => return Err(OnceError { kind: kind.name(), why }),
        }
    }
    let builder = shared.builder.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Seen { builder, forbidden })
}
