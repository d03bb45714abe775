//! Which layer of facts wins where several say something about one object or one node. Several objects may make one
//! network: see `which_object_makes_network`.

use crate::facts::Fact;
use std::collections::HashMap;

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

/// The facts of one object, one a layer.
pub(super) type FactPerLayer = [Option<Fact>; 3];

/// Of the facts of one object, the one of the nearest layer.
pub(super) fn nearest(layers: &FactPerLayer) -> Option<(Layer, &Fact)> {
    [Layer::Input, Layer::Cluster, Layer::Live]
        .into_iter()
        .find_map(|layer| Some((layer, layers.get(layer as usize)?.as_ref()?)))
}

/// The layers of nodes that do not come from a live cluster. Of a node only its nearest layer is kept.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeLayers(HashMap<String, Layer>);

impl NodeLayers {
    /// The layer that a node is from.
    pub(super) fn layer_of(&self, name: &str) -> Layer {
        self.0.get(name).copied().unwrap_or(Layer::Live)
    }
    /// Whether a node of a layer takes the place of the known one.
    pub(super) fn record_if_nearest(&mut self, name: &str, layer: Layer) -> bool {
        let wins = layer >= self.layer_of(name);
        if wins && layer > Layer::Live {
            self.0.insert(name.to_owned(), layer);
        }
        wins
    }
    /// Forgets a node.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}
