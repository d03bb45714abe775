//! What a cluster shows.

use super::node_as_shown::Node;
use super::profile_draft::Draft;
use crate::profile::FabricProfile;
use crate::text::count_with_noun;

/// Nodes without a profile, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Names of the nodes; none for a pool that has no node now.
    pub nodes: Vec<String>,
    /// Why their fabric is unknown.
    pub reason: String,
    /// The question whose answer makes a profile possible.
    pub question: String,
}

impl Unknown {
    /// The nodes in words.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.nodes.len() {
            0 => "a pool without nodes".to_owned(),
            nodes => count_with_noun(nodes, "node"),
        }
    }
}

/// What a cluster shows.
#[derive(Debug, Default)]
pub struct Discovered {
    /// Profiles whose values are all observed.
    pub drafts: Vec<Draft>,
    /// Nodes with accelerators whose fabric is unknown.
    pub unknown: Vec<Unknown>,
    /// Kinds that could not be read, with the reasons.
    pub unread: Vec<(String, String)>,
    /// The existing profiles.
    pub profiles: Vec<FabricProfile>,
    /// Nodes with accelerators: names and labels, for the selectors of existing profiles.
    pub(super) nodes: Vec<Node>,
}
