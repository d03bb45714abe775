//! The attachments of a pod, with what is known of their networks.

use crate::multus::{NetworkFact, Selection};
use crate::rules::PodContext;
use crate::text::printable;

/// One attachment of the final annotation.
pub(super) struct Attached<'a> {
    /// Place in the list, from 1.
    pub(super) place: usize,
    /// Namespace of the network.
    pub(super) namespace: &'a str,
    /// As the pod writes it.
    pub(super) item: &'a Selection<'a>,
    /// What is known of the network; `None` also where its owner may not know it.
    pub(super) fact: Option<&'a NetworkFact>,
}

impl Attached<'_> {
    /// Namespace and name, for messages.
    pub(super) fn told(&self) -> String {
        format!("{}/{}", printable(self.namespace, 63), printable(&self.item.name, 100))
    }
}

/// All attachments, in order; none for a pod of the host's network, to which nothing is attached. A pod's owner learns
/// nothing of networks in other namespaces, but for those that its profile names.
pub(super) fn attached<'a>(context: &'a PodContext<'a>) -> impl Iterator<Item = Attached<'a>> {
    let networks =
        context.final_networks.and_then(|n| n.as_ref().ok()).filter(|_| !context.pod().host_network());
    let profile = context.resolution.profile().map(|(p, _)| p);
    let items = networks.map(|n| n.items.as_slice()).unwrap_or_default();
    items.iter().enumerate().map(move |(index, item)| {
        let namespace = item.namespace.as_deref().unwrap_or(context.namespace);
        let own = !context.tenant_view || namespace == context.namespace;
        let told =
            own || profile.is_some_and(|p| p.rail_on(namespace, &item.name, context.namespace).is_some());
        let fact = context.snapshot.network(namespace, &item.name).filter(|_| told);
        Attached { place: index + 1, namespace, item, fact }
    })
}
