//! Discovery of the scripted server.

use super::script::kinds;
use serde_json::{Value, json};

/// How discovery differs from what the server has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Discovery {
    /// A version that a group says instead of its own.
    pub(crate) other_version: Option<(&'static str, &'static str)>,
    /// A group that is left out.
    pub(crate) without: Option<&'static str>,
    /// Whether there is no answer but 404.
    pub(crate) fails: bool,
}

impl Discovery {
    /// Aggregated discovery of all kinds, but for those of the core group.
    pub(crate) fn document(self) -> Value {
        let served = kinds().filter(|(_, path)| path.starts_with("/apis/"));
        let items = served.filter_map(|(kind, path)| {
            let mut parts = path.split('/').skip(2);
            let mut next = || parts.next().unwrap_or_default();
            let (group, version, plural) = (next(), next(), next());
            if self.without == Some(group) {
                return None;
            }
            let other = self.other_version.filter(|(of, _)| *of == group);
            let version = other.map_or(version, |(_, version)| version);
            let cluster =
                ["FabricProfile", "DeviceClass", "ResourceSlice", "NicClusterPolicy"].contains(kind);
            let scope = if cluster { "Cluster" } else { "Namespaced" };
            Some(json!({"metadata": {"name": group}, "versions": [{"version": version, "resources": [
                {"resource": plural, "responseKind": {"kind": kind}, "scope": scope}]}]}))
        });
        json!({"kind": "APIGroupDiscoveryList", "items": items.collect::<Vec<_>>()})
    }
}
