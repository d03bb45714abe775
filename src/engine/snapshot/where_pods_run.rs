//! Where the pods of one decision can run.

use super::Snapshot;
use super::cache_of_node_answers::CacheOfNodeAnswers;
use crate::decision_limits::DecisionLimits;
use crate::nodes::{
    ClassSet, ExcludingConstraints, NodeConstraintsOfPod, classes_pod_can_run_on_within_deadline,
    constraints_that_exclude_nodes,
};
use std::hash::Hash;

/// Taints that are compared with a pod's tolerations in the time of one look at a node.
const TAINTS_PER_LOOK: usize = 4;

impl Snapshot {
    /// The same for a decision on several pods, which often ask for the same nodes.
    #[must_use]
    pub(crate) fn sharing_answers_between_pods(&self) -> Self {
        Self { landings: CacheOfNodeAnswers::shared_within_decision(), ..self.clone() }
    }

    /// The same for many decisions, such as those on the pods of a file.
    #[must_use]
    pub fn sharing_answers_between_decisions(&self) -> Self {
        Self { landings: CacheOfNodeAnswers::shared_between_decisions(), ..self.clone() }
    }

    /// The classes that have a node that a pod can run on, of all nodes; incomplete if the time is over in between.
    #[must_use]
    pub(crate) fn landing(
        &self,
        constraints: &NodeConstraintsOfPod<'_>,
        deadline: &DecisionLimits<'_>,
    ) -> ClassSet {
        let land = || {
            classes_pod_can_run_on_within_deadline(
                || self.classes_with_tolerated_taints(constraints, deadline),
                constraints,
                self.all_nodes(),
                deadline,
            )
        };
        let Some(answers) = self.landings.answers() else { return land() };
        let asked = (self.of_taints(constraints), constraints.hashable_without_tolerations());
        answers.landing(&asked, deadline, land)
    }

    /// The constraints that exclude nodes of a set that the audience may know.
    #[must_use]
    pub(crate) fn constraints_that_exclude_nodes(
        &self,
        constraints: &NodeConstraintsOfPod<'_>,
        of: &ClassSet,
        deadline: &DecisionLimits<'_>,
    ) -> ExcludingConstraints {
        let find = || constraints_that_exclude_nodes(constraints, self.nodes_for_audience(), of, deadline);
        let Some(answers) = self.landings.answers() else { return find() };
        let asked = (
            self.is_for_anyone(),
            self.of_taints(constraints),
            constraints.hashable_without_tolerations(),
            of,
        );
        answers.constraints_that_exclude_nodes(&asked, deadline, find)
    }

    /// The classes whose taints a pod tolerates; all classes if this decision may not compare so many taints.
    #[must_use]
    pub(crate) fn classes_with_tolerated_taints(
        &self,
        constraints: &NodeConstraintsOfPod<'_>,
        deadline: &DecisionLimits<'_>,
    ) -> ClassSet {
        let classes = self.all_nodes().classes();
        // Taken for answers that are known too: a decision depends on no other.
        if !deadline.take_looks(classes.number_of_taints().div_ceil(TAINTS_PER_LOOK)) {
            return classes.all().clone();
        }
        let find = || {
            classes
                .classes_with_tolerated_taints(|key| constraints.tolerates_or_requests_resource_of_key(key))
        };
        let Some(answers) = self.landings.answers() else { return find() };
        answers.tolerated(&self.of_taints(constraints), find)
    }

    /// What decides which taints a pod tolerates.
    fn of_taints<'c>(&self, constraints: &'c NodeConstraintsOfPod<'_>) -> impl Hash + use<'c> {
        let classes = self.all_nodes().classes();
        // Pods request many resources, and hardly any taint is named like one.
        let named: Vec<&str> =
            constraints.resources.iter().copied().filter(|name| classes.has_taint_key(name)).collect();
        (constraints.any_taints, &constraints.tolerations, named)
    }
}
