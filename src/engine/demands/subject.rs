//! The known facts about one pod: assembled once, then lent to resolution, planning, rules and the response.

use super::Demands;
use crate::facts::NamespaceFacts;
use crate::multus::{self, AnnotationError, Networks};
use crate::pod::gang::Gang;
use crate::pod::templates_by_shape::DevShm;
use crate::pod::{PodView, ranks};
use crate::snapshot::Snapshot;

/// A pod or pod template with the known facts about it. They are the same whatever profile the pod gets.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The pod or pod template.
    pub pod: &'a PodView<'a>,
    /// Its namespace.
    pub namespace: &'a str,
    /// Known facts about the namespace.
    pub namespace_facts: Option<&'a NamespaceFacts>,
    /// Its networks annotation; an error where it cannot be read, `None` where there is none.
    pub networks: Option<Result<Networks<'a>, AnnotationError>>,
    /// The accelerators that its containers request.
    pub demands: Demands,
    /// Whole accelerators that it takes of a node (count); `None` where a number is unknown.
    pub accelerators: Option<u32>,
    /// Whether its ranks are known to be started over ssh.
    pub ranks_over_ssh: bool,
    /// Whether the workload around a template is for several pods that work together, where it says so. Pods say it
    /// themselves.
    pub gang: Option<&'a Gang>,
    /// Concurrent pods of the template (count), where that is known.
    pub siblings: Option<u64>,
    /// How the containers of a template come to their `/dev/shm`.
    pub dev_shm: DevShm,
    /// Known facts about the cluster.
    pub snapshot: &'a Snapshot,
}

impl<'a> Subject<'a> {
    /// Assembles the facts about a pod whose workload is not known.
    #[must_use]
    pub fn of(pod: &'a PodView<'a>, namespace: &'a str, snapshot: &'a Snapshot) -> Self {
        Self::with_demands(pod, Demands::of(pod, namespace, snapshot), namespace, snapshot)
    }

    /// The same for a pod whose demands are read already.
    #[must_use]
    pub fn with_demands(
        pod: &'a PodView<'a>,
        demands: Demands,
        namespace: &'a str,
        snapshot: &'a Snapshot,
    ) -> Self {
        Self {
            pod,
            namespace,
            namespace_facts: snapshot.namespace(namespace),
            networks: pod.annotation(multus::NETWORKS_ANNOTATION).map(multus::parse),
            accelerators: demands.whole(),
            demands,
            ranks_over_ssh: ranks::over_ssh(pod),
            gang: None,
            siblings: None,
            dev_shm: DevShm::AsWritten,
            snapshot,
        }
    }

    /// Its networks, where it has an annotation that can be read.
    #[must_use]
    pub fn readable_networks(&self) -> Option<&Networks<'a>> {
        self.networks.as_ref().and_then(|networks| networks.as_ref().ok())
    }
}
