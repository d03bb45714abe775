//! The networks of a pod and the version of NCCL in a container, for rules on variables.

use crate::multus::{LinkLayer, Sharing};
use crate::nccl::NcclVersion;
use crate::nccl::version::of_image;
use crate::pod::view::Container;
use crate::profile::schema::{Attachment, Transport};
use crate::rules::pod::PodContext;
use std::borrow::Cow;

/// The version of NCCL in a container, by the name of its image, else by the profile.
pub(super) fn version(context: &PodContext<'_>, container: &Container<'_>) -> Option<NcclVersion> {
    let of_profile = || context.resolution.profile().and_then(|(p, _)| p.nccl_version);
    container.image.as_deref().and_then(of_image).or_else(of_profile)
}

/// Known networks besides the cluster's.
#[derive(Debug, Default)]
pub(super) struct Attachments<'a> {
    /// Interfaces, in order; `None` where the annotation cannot be read.
    pub(super) interfaces: Option<Vec<Cow<'a, str>>>,
    /// The name of an attachment with a VF, where there is one.
    pub(super) function: Option<String>,
    /// The name of an attachment with a shared device, where there is one.
    pub(super) shared: Option<String>,
    /// Link layer, where all that are known agree and one is.
    pub(super) link: Option<LinkLayer>,
}

/// Networks of a pod that are looked at; a pod has as many as rails.
const MAX_NETWORKS: usize = 64;

/// Known facts about the networks that a pod will have.
pub(super) fn attachments<'a>(context: &PodContext<'a>) -> Attachments<'a> {
    let mut found = Attachments { interfaces: Some(Vec::new()), ..Attachments::default() };
    let mut links = Vec::new();
    match context.final_networks {
        None => {}
        Some(Err(_)) => found.interfaces = None,
        Some(Ok(networks)) => {
            for (nth, item) in networks.items.iter().take(MAX_NETWORKS).enumerate() {
                let interface = item.interface.clone().unwrap_or_else(|| format!("net{}", nth + 1).into());
                found.interfaces.get_or_insert_default().push(interface);
                let namespace = item.namespace.as_deref().unwrap_or(context.subject.namespace);
                let Some(fact) = context.subject.snapshot.network(namespace, &item.name) else { continue };
                let asked = &mut context
                    .pod()
                    .containers()
                    .iter()
                    .take(MAX_NETWORKS)
                    .flat_map(|c| c.resource_names());
                let class = context.subject.snapshot.class_for_pod(namespace, fact, asked);
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
    if let Some((profile, _)) = context.resolution.profile() {
        let name = || Some(format!("profile {}", profile.name));
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

/// Whether the pod gets networks by other ways than the networks annotation: its interfaces are not known then.
pub(super) fn other_networks(context: &PodContext<'_>) -> bool {
    let annotations = context.pod().metadata.as_ref().and_then(|m| m.annotations.as_ref());
    let foreign = |key: &str| {
        key.contains("network")
            && key != crate::multus::NETWORKS_ANNOTATION
            && !key.starts_with("fabric-admission.dev/")
    };
    context.subject.demands.network_claim()
        || context.pod().spec.as_ref().is_some_and(|s| s.resource_claims.is_some())
        || annotations.is_some_and(|a| a.iter().any(|(key, _)| foreign(key)))
}
