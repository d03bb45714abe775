//! Another SriovNetworkNodePolicy beside the one under review, as rules compare both.

use crate::facts::{NicsListedByPolicy, SriovNodePolicy};

/// Another policy.
#[derive(Debug, Clone, Copy)]
pub(super) struct OtherPolicy<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its fields.
    pub(super) policy: &'a SriovNodePolicy,
    /// The NICs that it lists.
    pub(super) nics: &'a NicsListedByPolicy,
    /// What its nodes have in common with those of the policy under review.
    pub(super) shared: CommonNodes<'a>,
}

/// What two selectors have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommonNodes<'v> {
    /// No node can match both.
    None,
    /// A node could, and no list of nodes shows whether one does.
    Possible,
    /// Every node that matches one of them matches the other.
    Implied,
    /// This node does.
    Node(&'v str),
}

impl CommonNodes<'_> {
    /// Words for where the two meet.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Node(node) => format!("on node {node}"),
            Self::Implied => "on the same nodes".to_owned(),
            Self::None | Self::Possible => "perhaps on the same nodes".to_owned(),
        }
    }

    /// Whether it is certain that they meet.
    pub(super) fn is_certain(&self) -> bool {
        matches!(self, Self::Implied | Self::Node(_))
    }
}
