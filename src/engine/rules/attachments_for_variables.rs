//! The attachments of a pod as rules on variables see them, read once for all rules and containers.

use crate::demands::Subject;
use crate::facts::ResourceProvider;
use crate::multus::{AnnotationError, LinkLayer, RequestedNetworks, Sharing};
use crate::pod::pod_fields::Container;
use crate::profile::Profile;
use crate::profile::schema::{Attachment, Transport};
use std::borrow::Cow;

/// Known networks besides the cluster's.
#[derive(Debug, Default)]
pub(crate) struct FactsOfAttachments<'a> {
    /// Interfaces, in order; `None` where the annotation cannot be read.
    pub(super) interfaces: Option<Vec<Cow<'a, str>>>,
    /// The name of an attachment with a VF, where there is one.
    pub(super) function: Option<String>,
    /// The name of an attachment with a shared device, where there is one.
    pub(super) shared: Option<String>,
    /// Link layer, where all that are known agree and one is.
    pub(super) link: Option<LinkLayer>,
}

/// Networks of a pod, and containers, that are looked at; a pod has as many networks as rails.
const MAX_LOOKED_AT: usize = 64;

impl<'a> FactsOfAttachments<'a> {
    /// Known facts about the networks that a pod will have.
    pub(super) fn of(
        subject: &'a Subject<'a>,
        networks: Option<&Result<RequestedNetworks<'a>, AnnotationError>>,
        profile: Option<&Profile>,
    ) -> Self {
        let mut found = FactsOfAttachments { interfaces: Some(Vec::new()), ..FactsOfAttachments::default() };
        let mut links = Vec::new();
        match networks {
            None => {}
            Some(Err(_)) => found.interfaces = None,
            Some(Ok(networks)) => {
                // A network takes the first shared pool that the pod requests: one walk over the names serves all networks.
                let pool = first_requested_shared_pool(subject);
                for (nth, item) in networks.items.iter().take(MAX_LOOKED_AT).enumerate() {
                    let interface =
                        item.interface.clone().unwrap_or_else(|| format!("net{}", nth + 1).into());
                    found.interfaces.get_or_insert_default().push(interface);
                    let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
                    let Some(fact) = subject.snapshot.network(namespace, &item.name) else { continue };
                    let class =
                        subject.snapshot.network_class_for_pod(namespace, fact, &mut pool.into_iter());
                    links.extend(class.link.filter(|_| class.rdma != Some(false)));
                    let name = || Some(format!("network {:?}", item.name));
                    match class.sharing {
                        Some(Sharing::ExclusiveVf) => found.function = found.function.or_else(name),
                        Some(Sharing::Shared) => found.shared = found.shared.or_else(name),
                        _ => {}
                    }
                }
            }
        }
        if let Some(profile) = profile {
            let name = || Some(format!("profile {:?}", profile.name));
            match profile.attachment {
                Attachment::Sriov | Attachment::IbSriov => found.function = found.function.or_else(name),
                Attachment::Macvlan | Attachment::Ipoib => found.shared = found.shared.or_else(name),
                _ => {}
            }
            match profile.transport {
                Transport::Roce => links.push(LinkLayer::Ethernet),
                Transport::Infiniband => links.push(LinkLayer::InfiniBand),
                _ => {}
            }
        }
        found.link = links.first().copied().filter(|first| links.iter().all(|l| l == first));
        found
    }
}

/// The first shared pool that the containers name.
fn first_requested_shared_pool<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let shared = |name: &&str| {
        subject
            .snapshot
            .resource(name)
            .is_some_and(|fact| fact.server == ResourceProvider::SharedDevicePlugin)
    };
    subject.pod.containers().iter().take(MAX_LOOKED_AT).flat_map(Container::resource_names).find(shared)
}
