//! Layers of facts.

/// Where a fact comes from; the larger one wins over the same object of a smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A live cluster.
    Live,
    /// Files that describe a cluster.
    Cluster,
    /// The objects under review.
    Input,
}
