//! Which object makes a network where several do: NetworkAttachmentDefinitions, and objects of operators that render one.

use super::nearest_layer_wins::Layer;
use crate::facts::FactKind;
use crate::facts::network_of_one_object::NetworkFromObject;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The best object so far for each network, by the network's namespace and name.
#[derive(Debug, Default)]
pub(super) struct NearestNetworks<'a>(HashMap<(&'a str, &'a str), (Layer, bool)>);

impl<'a> NearestNetworks<'a> {
    /// Whether an object makes the network, and none of those before it does.
    ///
    /// Several objects may make one network. The nearest layer's counts, in it a definition before a CR, and of the rest
    /// the last by kind and name, whatever came first.
    pub(super) fn record_if_it_makes_the_network(
        &mut self,
        network: &'a NetworkFromObject,
        layer: Layer,
        kind: FactKind,
    ) -> bool {
        let rank = (layer, kind == FactKind::NetworkAttachmentDefinition);
        let best = self.0.entry((&network.namespace, &network.name)).or_insert(rank);
        let wins = rank.cmp(best) != Ordering::Less;
        if wins {
            *best = rank;
        }
        wins
    }
}
