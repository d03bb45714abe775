//! How strongly a pod's selectors ask for a profile (docs/adr/0020-strength.md). `which_candidate_of_nodes_wins` compares
//! strengths.

use super::Conditions;
use crate::profile::Profile;

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

impl Conditions<'_> {
    /// How strongly the pod asks for a profile that it may meet.
    pub(crate) fn strength(&self, profile: &Profile) -> Strength {
        let Some(selection) = self.catalog.selection_of(&profile.name) else { return Strength::Open };
        if self.imply(&selection.selector) {
            return Strength::Nodes;
        }
        match self.imply(&selection.types) {
            false => Strength::Open,
            // The node selector, where there is one, says which nodes carry the profile.
            true if selection.selector.is_empty() => Strength::Nodes,
            true => Strength::Type,
        }
    }
}
