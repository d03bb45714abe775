//! Parts of a profile that are not planned because the pod has its own.

/// A part of a profile in whose place the pod's own field counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The pod requests devices for fewer rails than the profile has.
    Rails {
        /// Rails that are not attached (count).
        left_out: usize,
        /// Rails that the profile has for the pod (count).
        rails: usize,
    },
    /// A container requests another quantity of a resource than the profile.
    Units {
        /// Container.
        container: usize,
        /// Resource.
        resource: String,
        /// Units that it requests.
        own: i64,
        /// Units by the profile.
        wanted: i64,
    },
    /// The pod has an annotation for GKE's networks with another value.
    GkeNetworks(&'static str),
    /// The pod names its node, and the scheduler does not read its affinity.
    NodeName,
    /// The pod's affinity has too many terms (count).
    NodeTerms(usize),
    /// The pod requires another value of a node label than its network.
    NodeLabel {
        /// Label.
        key: String,
        /// Value by the network.
        wanted: String,
    },
}
