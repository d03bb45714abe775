//! Where the pods of one decision can run.

use super::Snapshot;
use super::cache_of_node_answers::CacheOfNodeAnswers;
use crate::deadline::Deadline;
use crate::nodes::{ClassSet, Constraints, ExcludedBy, excluded_nodes_by_constraint, landing_of};
use std::hash::Hash;

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
    pub(crate) fn landing(&self, constraints: &Constraints<'_>, deadline: &Deadline<'_>) -> ClassSet {
        let land = || {
            landing_of(
                || self.classes_with_tolerated_taints(constraints),
                constraints,
                self.all_nodes(),
                deadline,
            )
        };
        let Some(answers) = self.landings.answers() else { return land() };
        let asked = (self.of_taints(constraints), constraints.of_labels());
        answers.landing(&asked, deadline, land)
    }

    /// The constraints that exclude nodes of a set that the audience may know; see [`dropped`].
    #[must_use]
    pub(crate) fn excluded_nodes_by_constraint(
        &self,
        constraints: &Constraints<'_>,
        of: &ClassSet,
        deadline: &Deadline<'_>,
    ) -> Vec<ExcludedBy> {
        let find = || excluded_nodes_by_constraint(constraints, self.nodes_for_audience(), of, deadline);
        let Some(answers) = self.landings.answers() else { return find() };
        let asked = (self.is_for_anyone(), self.of_taints(constraints), constraints.of_labels(), of);
        answers.excluded_nodes_by_constraint(&asked, deadline, find)
    }

    /// The classes whose taints a pod tolerates.
    #[must_use]
    pub(crate) fn classes_with_tolerated_taints(&self, constraints: &Constraints<'_>) -> ClassSet {
        let find = || self.all_nodes().classes().tolerated(|taint| constraints.tolerates(taint));
        let Some(answers) = self.landings.answers() else { return find() };
        answers.tolerated(&self.of_taints(constraints), find)
    }

    /// What decides which taints a pod tolerates.
    fn of_taints<'c>(&self, constraints: &'c Constraints<'_>) -> impl Hash + use<'c> {
        let classes = self.all_nodes().classes();
        // Pods request many resources, and hardly any taint is named like one.
        let named: Vec<&str> =
            constraints.resources.iter().copied().filter(|name| classes.has_taint(name)).collect();
        (constraints.any_taints, &constraints.tolerations, named)
    }
}
