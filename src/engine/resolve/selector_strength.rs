//! How strongly a pod's selectors ask for a profile (docs/adr/0020-strength.md). `which_profile_of_nodes_wins` compares strengths.

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
