//! What the server needs of a cluster. The log, `/readyz` and the chart's notes show the same sentences; a test compares
//! them.

use super::Phase;
use super::watched_kinds::WatchedKind;
use crate::facts::FactKind;
use crate::kubernetes_version::{OLDEST, Version};

/// The CRD of FabricProfile is missing.
pub const MISSING_CRD_MESSAGE: &str = "the CRD fabricprofiles.fabric-admission.dev is not installed, so the server uses only profiles from files; \
    install the CRD with kubectl apply --server-side -f deploy/crds/fabricprofiles.yaml, or set crds.enabled: true in the chart";

/// The right to read objects of a resource is missing.
#[must_use]
pub fn missing_right_message(resource: &str) -> String {
    format!(
        "no permission to list and watch {resource}, so the server does not see changes of these objects; \
         bind the ClusterRole fabric-admission of deploy/base/rbac.yaml to the server's ServiceAccount"
    )
}

/// The version of the API server is too old.
#[must_use]
pub fn unsupported_version_message(found: &str) -> String {
    format!("Kubernetes {found} is not supported; upgrade the cluster to Kubernetes {OLDEST} or newer")
}

/// The sentence for the state of a kind, if something is missing. Other CRDs belong to operators that a cluster may not
/// have.
pub(super) fn missing_kind_message(kind: &WatchedKind, phase: Phase) -> Option<String> {
    match phase {
        Phase::Absent if kind.kind == FactKind::FabricProfile => Some(MISSING_CRD_MESSAGE.to_owned()),
        Phase::Forbidden if kind.group.is_empty() => Some(missing_right_message(kind.plural)),
        Phase::Forbidden => Some(missing_right_message(&format!("{}.{}", kind.plural, kind.group))),
        _ => None,
    }
}

/// The sentence for the version of the API server, if it is too old.
pub(super) fn message_if_version_is_too_old(found: Version) -> Option<String> {
    (!found.is_supported()).then(|| unsupported_version_message(&found.to_string()))
}
