//! Which profile the pods of a namespace get by default.

use super::Evidence;
use crate::facts::NamespaceFacts;
use crate::snapshot::Snapshot;

/// The default profile of a pod: the namespace's, else the cluster's.
pub(crate) fn default_profile<'a>(
    facts: Option<&'a NamespaceFacts>,
    snapshot: &'a Snapshot,
) -> Option<(&'a str, Evidence)> {
    let own = facts.and_then(|f| f.profile.as_deref()).map(|name| (name, Evidence::NamespaceAnnotation));
    own.or_else(|| Some((snapshot.settings().default_profile.as_deref()?, Evidence::ClusterDefault)))
}
