//! The attachments of a pod, with the known facts about their networks.

use crate::multus::{NetworkFact, RequestedAttachment};
use crate::rules::pod_context::PodContext;
use crate::text::escaped_and_cut;

/// One attachment of the final annotation.
#[derive(Clone, Copy)]
pub(super) struct AttachmentWithFact<'a> {
    /// Place in the list, from 1.
    pub(super) place: usize,
    /// Namespace of the network.
    pub(super) namespace: &'a str,
    /// As the pod writes it.
    pub(super) item: &'a RequestedAttachment<'a>,
    /// Known facts about the network; `None` also if the pod's owner may not know them.
    pub(super) fact: Option<&'a NetworkFact>,
}

impl AttachmentWithFact<'_> {
    /// Namespace and name, for messages.
    pub(super) fn describe(&self) -> String {
        format!("{}/{}", escaped_and_cut(self.namespace, 63), escaped_and_cut(&self.item.name, 100))
    }
}

/// All attachments, in order. A hostNetwork pod has none, because Multus attaches nothing to it. A pod's owner learns
/// nothing about networks in other namespaces, except those that the pod's profile names.
pub(super) fn attachments_of_pod<'c>(
    context: &'c PodContext<'_>,
) -> impl Iterator<Item = AttachmentWithFact<'c>> {
    let devices = (!context.pod().host_network()).then(|| context.devices());
    devices.into_iter().flat_map(|devices| {
        devices.items.iter().enumerate().filter_map(|(index, item)| {
            let network = devices.networks.get(item.network)?;
            let fact = network.known.map(|known| known.fact);
            Some(AttachmentWithFact {
                place: index + 1,
                namespace: network.namespace,
                item: item.selection,
                fact,
            })
        })
    })
}
