//! Which kinds the API server serves, and as which version. One request: aggregated discovery, which every supported
//! version of Kubernetes has (GA in 1.30, KEP-3352).

use super::api_server_version::VersionInfo;
use super::list_any_kind::get_path_with_retries;
use super::list_watched_kind_into_builder::{JSON, ListOrWatchFailure};
use crate::kubernetes_version::{self, OLDEST};
use kube::Client;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Kinds of the API server, but for those of the core group.
#[derive(Debug, Clone, Default)]
pub struct ServedKinds {
    /// Versions by group and kind, the preferred one first.
    kinds: BTreeMap<(String, String), Vec<ServedVersion>>,
}

/// One version of a kind.
#[derive(Debug, Clone)]
struct ServedVersion {
    version: String,
    /// Name in paths.
    plural: String,
    namespaced: bool,
}

/// A kind as the API server serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedKind {
    /// `apiVersion` of its objects.
    pub api_version: String,
    /// Whether its objects have a namespace.
    pub namespaced: bool,
    /// Path of all its objects.
    path: (String, String),
}

impl ServedKind {
    /// A kind of the core group, which discovery of the other groups does not have.
    #[must_use]
    pub fn core(plural: &str, namespaced: bool) -> Self {
        Self { api_version: "v1".to_owned(), namespaced, path: ("/api/v1".to_owned(), plural.to_owned()) }
    }

    /// Path of the objects in a namespace, or in all of them.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let (root, plural) = &self.path;
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
            None => format!("{root}/{plural}"),
        }
    }
}

#[derive(Deserialize)]
struct Groups {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: Named,
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    resource: String,
    #[serde(default)]
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct ResponseKind {
    kind: String,
}

/// Why a cluster cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct DiscoveryError {
    what: &'static str,
    why: String,
}

impl ServedKinds {
    /// Asks the API server.
    ///
    /// # Errors
    /// [`DiscoveryError`] where it does not answer, or in another form.
    pub async fn read(client: &Client, deadline: Duration) -> Result<Self, DiscoveryError> {
        let text = text(client, ("/apis", AGGREGATED), deadline, "discovery").await?;
        let failed = |why: String| DiscoveryError { what: "discovery", why };
        let groups: Groups = serde_json::from_slice(&text).map_err(|e| failed(e.to_string()))?;
        if groups.kind != "APIGroupDiscoveryList" {
            return Err(failed(format!(
                "the API server answered with {:?}; Kubernetes {OLDEST} or newer has aggregated discovery",
                crate::text::escaped_and_cut(&groups.kind, 60)
            )));
        }
        let mut kinds: BTreeMap<(String, String), Vec<ServedVersion>> = BTreeMap::new();
        for group in groups.items {
            for version in group.versions {
                for resource in version.resources {
                    let Some(kind) = resource.response_kind else { continue };
                    let served = ServedVersion {
                        version: version.version.clone(),
                        plural: resource.resource,
                        namespaced: resource.scope == "Namespaced",
                    };
                    // Versions come in the order of preference.
                    kinds.entry((group.metadata.name.clone(), kind.kind)).or_default().push(served);
                }
            }
        }
        Ok(Self { kinds })
    }

    /// A kind of a group other than the core group; `None` where it is not installed.
    #[must_use]
    pub fn preferred_version_of_kind(&self, group: &str, kind: &str) -> Option<ServedKind> {
        let preferred = self.versions(group, kind).first()?;
        Some(ServedKind {
            api_version: format!("{group}/{}", preferred.version),
            namespaced: preferred.namespaced,
            path: (format!("/apis/{group}/{}", preferred.version), preferred.plural.clone()),
        })
    }

    /// The versions of a kind that is served, where the one that is asked for is not among them.
    #[must_use]
    pub fn only_other_versions(&self, group: &str, version: &str, kind: &str) -> Option<Vec<&str>> {
        let versions = self.versions(group, kind);
        let other = !versions.is_empty() && versions.iter().all(|served| served.version != version);
        other.then(|| versions.iter().map(|served| served.version.as_str()).collect())
    }

    /// Whether the API server has a kind, in any version. Every API server has those of the core group.
    #[must_use]
    pub fn has(&self, group: &str, kind: &str) -> bool {
        group.is_empty() || !self.versions(group, kind).is_empty()
    }

    fn versions(&self, group: &str, kind: &str) -> &[ServedVersion] {
        self.kinds.get(&(group.to_owned(), kind.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Major and minor version of the API server.
///
/// # Errors
/// [`DiscoveryError`].
pub async fn read_api_server_version(
    client: &Client,
    deadline: Duration,
) -> Result<kubernetes_version::Version, DiscoveryError> {
    let text = text(client, ("/version", JSON), deadline, "version").await?;
    let failed = |why: String| DiscoveryError { what: "version", why };
    let info: VersionInfo = serde_json::from_slice(&text).map_err(|e| failed(e.to_string()))?;
    info.version().map_err(failed)
}

async fn text(
    client: &Client,
    (path, accept): (&str, &'static str),
    deadline: Duration,
    what: &'static str,
) -> Result<Vec<u8>, DiscoveryError> {
    get_path_with_retries(client, path, accept, deadline).await.map_err(|failure| DiscoveryError {
        what,
        why: match failure {
            ListOrWatchFailure::Absent => "404".to_owned(),
            ListOrWatchFailure::Gone => "410".to_owned(),
            ListOrWatchFailure::Forbidden(why)
            | ListOrWatchFailure::Other(why)
            | ListOrWatchFailure::Busy(_, why) => why,
        },
    })
}
