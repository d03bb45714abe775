//! Which layer of facts wins where several say something about one object, one network or one
//! node.

use crate::facts::network_from_definition_or_operator::Rendered;
use crate::facts::{Fact, Kind};
use std::cmp::Ordering;
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
pub(super) type Layers = [Option<Fact>; 3];

/// Of the facts of one object, the one of the nearest layer.
pub(super) fn nearest(layers: &Layers) -> Option<(Layer, &Fact)> {
    [Layer::Input, Layer::Cluster, Layer::Live]
        .into_iter()
        .find_map(|layer| Some((layer, layers.get(layer as usize)?.as_ref()?)))
}

/// The best object so far for each network, by the network's namespace and name.
#[derive(Debug, Default)]
pub(super) struct NearestNetworks<'a>(HashMap<(&'a str, &'a str), (Layer, bool)>);

impl<'a> NearestNetworks<'a> {
    /// Whether an object makes the network, and none of those before it does.
    ///
    /// Several objects may make one network. The nearest layer's counts, in it a definition before a CR, and of the rest
    /// the last by kind and name, whatever came first.
    pub(super) fn wins(&mut self, network: &'a Rendered, layer: Layer, kind: Kind) -> bool {
        let rank = (layer, kind == Kind::NetworkAttachmentDefinition);
        let best = self.0.entry((&network.namespace, &network.name)).or_insert(rank);
        let wins = rank.cmp(best) != Ordering::Less;
        if wins {
            *best = rank;
        }
        wins
    }
}

/// The layers of nodes that do not come from a live cluster. Of a node only its nearest layer is kept.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeLayers(HashMap<String, Layer>);

impl NodeLayers {
    /// The layer that a node is from.
    pub(super) fn of(&self, name: &str) -> Layer {
        self.0.get(name).copied().unwrap_or(Layer::Live)
    }
    /// Whether a node of a layer takes the place of the known one.
    pub(super) fn wins(&mut self, name: &str, layer: Layer) -> bool {
        let wins = layer >= self.of(name);
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
