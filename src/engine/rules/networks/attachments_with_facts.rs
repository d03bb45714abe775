//! The attachments of a pod, with the known facts about their networks.

use crate::multus::{NetworkFact, Selection};
use crate::rules::pod_context::PodContext;
use crate::text::printable;

/// One attachment of the final annotation.
#[derive(Clone, Copy)]
pub(super) struct Attached<'a> {
    /// Place in the list, from 1.
    pub(super) place: usize,
    /// Namespace of the network.
    pub(super) namespace: &'a str,
    /// As the pod writes it.
    pub(super) item: &'a Selection<'a>,
    /// Known facts about the network; `None` also if the pod's owner may not know them.
    pub(super) fact: Option<&'a NetworkFact>,
}

impl Attached<'_> {
    /// Namespace and name, for messages.
    pub(super) fn describe(&self) -> String {
        format!("{}/{}", printable(self.namespace, 63), printable(&self.item.name, 100))
    }
}

/// All attachments, in order. A hostNetwork pod has none, because Multus attaches nothing to it. A pod's owner learns
/// nothing about networks in other namespaces, except those that the pod's profile names.
pub(super) fn attached<'c>(context: &'c PodContext<'_>) -> impl Iterator<Item = Attached<'c>> {
    let devices = (!context.pod().host_network()).then(|| context.devices());
    devices.into_iter().flat_map(|devices| {
        devices.items.iter().enumerate().filter_map(|(index, item)| {
            let network = devices.networks.get(item.network)?;
            let fact = network.known.map(|known| known.fact);
            Some(Attached { place: index + 1, namespace: network.namespace, item: item.selection, fact })
        })
    })
}
