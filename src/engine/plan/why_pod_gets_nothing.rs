//! Why nothing is planned for a pod that has a profile: the reasons, and those of them that pod and profile show.

use super::INJECT_ANNOTATION;
use super::target_container_type::WrongContainers;
use crate::demands::Subject;
use crate::demands::claimed_devices::ClaimOn;
use crate::pod::PodView;
use crate::pod::limits_and_costs_of_pods::first_list_over_limit;
use crate::profile::Profile;
use crate::profile::schema::{Attachment, Inject};

/// Most containers of an injected pod. A node runs 110 pods by default (kubelet `maxPods`), of a few containers each.
/// A pod with more containers than that is not a training pod, and its patch would be many times its size.
pub const MAX_CONTAINERS: usize = 1000;

/// Why nothing is planned for a pod that has a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNothingPlanned {
    /// The pod asks to be left alone.
    OptedOut,
    /// The profile is for review only.
    ReviewOnly,
    /// The pod uses the node's network namespace, where no CNI plugin is called.
    HostNetwork,
    /// The pod has a network namespace of its own, and the profile's NICs are in the node's.
    OwnNetwork,
    /// The pod names networks of a cloud provider, whose own webhook serves it.
    ProviderNetworks(&'static str),
    /// A Windows pod.
    Windows,
    /// A mirror pod of a static pod: the node runs it whatever the API server answers.
    Mirror,
    /// Networks of the profile do not exist.
    MissingNetworks,
    /// The networks annotation cannot be read, so nothing is added to it.
    Unreadable,
    /// The pod asks for a part of the rails that the profile does not have.
    UnknownRails(String),
    /// More containers than any node runs; the answer would have tens of megabytes.
    ManyContainers,
    /// More targets than the profile can be written for: the patch would be many times the size of the pod.
    ManyTargets {
        /// Targets of the pod (count).
        targets: usize,
        /// Most targets for this profile (count).
        most: usize,
    },
    /// A list of the pod is longer than in any real pod. FAB820 reports it.
    OverLimit,
    /// A container would list more resources than we read.
    ManyResources,
    /// The pod's annotations leave no room for ours, and the API server would refuse the pod.
    NoRoom,
    /// No app container requests accelerators.
    NoTarget,
    /// The pod names containers that cannot be targets of the profile.
    WrongContainers(WrongContainers),
    /// A quantity is not a number, such as `$GPUS`: it is not known what the pod would have. FAB201 reports it.
    UnreadQuantity,
    /// A claim of the pod, or its template, is not known: it may be for NICs.
    UnreadClaim(ClaimOn),
    /// Networks without known units are named so often that they may be the pod's rails.
    UnknownNetworks(usize),
    /// No node that the pod can run on has units for its own attachments beside the profile's rails.
    NodesTooSmall {
        /// Resource.
        resource: String,
        /// Units that the pod would request (count).
        wanted: i64,
    },
    /// The pod asks for the profile beside a unit of a fabric that cannot share a pod with it.
    Conflict(String),
    /// The profile's transport does not serve the pod's accelerators.
    NotServed,
}

pub(super) fn why_nothing_by_pod_and_profile(
    subject: &Subject<'_>,
    profile: &Profile,
) -> Option<WhyNothingPlanned> {
    match why_pod_itself_excludes_profile(subject.pod, profile) {
        Some(WhyNothingPlanned::OptedOut) => Some(WhyNothingPlanned::OptedOut),
        _ if profile.inject == Inject::Review => Some(WhyNothingPlanned::ReviewOnly),
        None if matches!(subject.networks, Some(Err(_))) => Some(WhyNothingPlanned::Unreadable),
        reason => reason,
    }
}

/// Why a pod would get nothing from a profile, as far as pod and profile show it.
#[must_use]
pub fn why_pod_itself_excludes_profile(pod: &PodView<'_>, profile: &Profile) -> Option<WhyNothingPlanned> {
    if pod.annotation(INJECT_ANNOTATION) == Some("false") {
        return Some(WhyNothingPlanned::OptedOut);
    }
    if pod.annotation("kubernetes.io/config.mirror").is_some() {
        return Some(WhyNothingPlanned::Mirror);
    }
    if pod.spec.as_ref().and_then(|s| s.os.as_ref()?.name.as_deref()) == Some("windows") {
        return Some(WhyNothingPlanned::Windows);
    }
    if pod.containers().len() > MAX_CONTAINERS {
        return Some(WhyNothingPlanned::ManyContainers);
    }
    if first_list_over_limit(pod).is_some() {
        return Some(WhyNothingPlanned::OverLimit);
    }
    // hostNetwork is never added: it is a way out of the pod, and Pod Security decides on it.
    match (pod.host_network(), profile.attachment == Attachment::HostNetwork) {
        (true, false) => return Some(WhyNothingPlanned::HostNetwork),
        (false, true) => return Some(WhyNothingPlanned::OwnNetwork),
        _ => {}
    }
    let gke = Some("networking.gke.io/interfaces").filter(|_| profile.gke_networks.is_none());
    let mut keys = gke.into_iter().chain(["k8s.volcengine.com/pod-networks"]);
    keys.find(|key| pod.annotation(key).is_some()).map(WhyNothingPlanned::ProviderNetworks)
}
