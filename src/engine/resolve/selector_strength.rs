//! How strongly a pod's selectors ask for a profile, and which profiles that leaves (docs/adr/0020-strength.md).

use crate::profile::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How strongly a pod's selectors ask for a profile; the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// They do not rule out its nodes.
    Open,
    /// They ask for one of its instance types, but not for the labels of its node selector.
    Type,
    /// They ask for its nodes: each node that fits the pod is one of them.
    Nodes,
}

/// Removes the profiles that another one beats: a stronger one of at least the same priority, or, where the pod asks for
/// the nodes of both, one of a higher priority. A profile whose nodes are asked for is on every node that fits the pod,
/// and there the priority decides, so that what is left is what a node could give (docs/adr/0009).
pub(super) fn remove_outranked(
    profiles: &mut BTreeMap<String, Arc<Profile>>,
    strength: impl Fn(&Profile) -> Strength,
) {
    if profiles.len() < 2 {
        return;
    }
    let found: Vec<(Strength, i32)> = profiles.values().map(|p| (strength(p), p.priority)).collect();
    let highest = |of: Strength| found.iter().filter(|(s, _)| *s == of).map(|(_, priority)| *priority).max();
    let (nodes, types) = (highest(Strength::Nodes), highest(Strength::Type));
    let mut kept = found.iter().map(|(strength, priority)| match strength {
        Strength::Nodes => Some(*priority) >= nodes,
        Strength::Type => Some(*priority) > nodes,
        Strength::Open => Some(*priority) > nodes.max(types),
    });
    profiles.retain(|_, _| kept.next().unwrap_or(true));
}
