//! The known facts about one pod: assembled once, then lent to resolution, planning, rules and the response.

use super::AcceleratorDemands;
use crate::decision_limits::{DecisionLimits, NEVER};
use crate::facts::NamespaceFacts;
use crate::multus::{self, AnnotationError, RequestedNetworks};
use crate::nodes::{ClassSet, NodeConstraintsOfPod};
use crate::pod::is_multi_node::{MultiNodeEvidence, multi_node_evidence_of_pod};
use crate::pod::templates_by_shape::DevShm;
use crate::pod::{PodView, how_ranks_start};
use crate::snapshot::Snapshot;
use std::cell::OnceCell;
use std::collections::BTreeMap;

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
    pub networks: Option<Result<RequestedNetworks<'a>, AnnotationError>>,
    /// The accelerators that its containers request.
    pub demands: AcceleratorDemands,
    /// Whole accelerators that it takes of a node (count); `None` where a number is unknown.
    pub accelerators: Option<u32>,
    /// Whether its ranks are known to be started over ssh.
    pub ranks_over_ssh: bool,
    /// Whether the workload around a template is for several pods that work together, where it says so. Pods say it
    /// themselves.
    pub gang: Option<&'a MultiNodeEvidence>,
    /// Concurrent pods of the template (count), where that is known.
    pub siblings: Option<u64>,
    /// Whether the workload around the template is suspended: a queue may add labels of nodes to the template before the
    /// first pod exists, as Kueue does with those of a ResourceFlavor.
    pub suspended: bool,
    /// How the containers of a template come to their `/dev/shm`.
    pub dev_shm: DevShm,
    /// Known facts about the cluster.
    pub snapshot: &'a Snapshot,
    /// Time limit of the decision.
    pub deadline: &'a DecisionLimits<'a>,
    /// What restricts its nodes.
    pub constraints: NodeConstraintsOfPod<'a>,
    /// What is compared with every profile.
    pub(crate) read_once: ReadOnce,
}

/// Facts that follow from the pod and the nodes, each made when it is asked for first.
#[derive(Debug, Default)]
pub(crate) struct ReadOnce {
    labels: OnceCell<BTreeMap<String, String>>,
    multi_node: OnceCell<Option<MultiNodeEvidence>>,
    landing: OnceCell<ClassSet>,
}

impl<'a> Subject<'a> {
    /// Assembles the facts about a pod whose workload is not known.
    #[must_use]
    pub fn of(pod: &'a PodView<'a>, namespace: &'a str, snapshot: &'a Snapshot) -> Self {
        Self::with_demands(
            pod,
            AcceleratorDemands::demands_of_pod(pod, namespace, snapshot),
            namespace,
            snapshot,
        )
    }

    /// The same for a pod whose demands are read already.
    #[must_use]
    pub fn with_demands(
        pod: &'a PodView<'a>,
        demands: AcceleratorDemands,
        namespace: &'a str,
        snapshot: &'a Snapshot,
    ) -> Self {
        Self {
            pod,
            namespace,
            namespace_facts: snapshot.namespace(namespace),
            networks: pod.annotation(multus::NETWORKS_ANNOTATION).map(multus::parse_within_limit),
            accelerators: demands.whole_accelerators_taken_from_node(),
            demands,
            ranks_over_ssh: how_ranks_start::are_ranks_started_over_ssh(pod),
            gang: None,
            siblings: None,
            suspended: false,
            dev_shm: DevShm::AsWritten,
            snapshot,
            deadline: &NEVER,
            constraints: NodeConstraintsOfPod::of(pod),
            read_once: ReadOnce::default(),
        }
    }

    /// Labels of the pod.
    #[must_use]
    pub fn labels(&self) -> &BTreeMap<String, String> {
        let labels = self.pod.metadata.as_ref().and_then(|m| m.labels.as_ref());
        let pairs = || labels.into_iter().flat_map(|l| l.iter());
        let all = || pairs().map(|(key, value)| (key.to_owned(), value.to_string())).collect();
        self.read_once.labels.get_or_init(all)
    }

    /// Whether it is one of several pods that work together, where it or its workload says so.
    #[must_use]
    pub fn gang_of_pod_or_workload(&self) -> Option<&MultiNodeEvidence> {
        self.read_once.multi_node.get_or_init(|| multi_node_evidence_of_pod(self.pod)).as_ref().or(self.gang)
    }

    /// The kinds of nodes that it can run on, of all nodes.
    #[must_use]
    pub fn landing(&self) -> &ClassSet {
        let landing = || self.snapshot.landing(&self.constraints, self.deadline);
        self.read_once.landing.get_or_init(landing)
    }

    /// Its networks, where it has an annotation that can be read.
    #[must_use]
    pub fn readable_networks(&self) -> Option<&RequestedNetworks<'a>> {
        self.networks.as_ref().and_then(|networks| networks.as_ref().ok())
    }
}
