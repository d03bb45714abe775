//! The nodes that two selectors have in common, without regard to taints, as operators select nodes.

use super::conditions_on_single_nodes::NodesWithLabelValue;
use super::label_requirement::{LabelRequirement, Relation};
use super::node_classes::ClassSet;
use super::nodes_view::{NodeEntry, NodeView};
use crate::decision_limits::DecisionLimits;

/// Values that are compared with a label in the time of one look at a node.
const VALUES_PER_LOOK: usize = 8;

/// What it takes to ask for the nodes of a listed value: its key is built and looked up.
const LOOKS_PER_LISTED_VALUE: usize = 2;

/// A node that satisfies two selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InCommon<'v> {
    /// No known node does.
    None,
    /// This node does, the first by name.
    Node(&'v str),
    /// The decision may look at no more nodes.
    Unknown,
}

/// A selector of nodes that is compared with many others. There may be 130,000 nodes, and hundreds of other selectors:
/// classes of nodes are compared, and single nodes only for labels that are not part of the classes.
#[derive(Debug)]
pub struct NodeSelection<'v, 'r> {
    view: &'v NodeView,
    classes: ClassSet,
    /// The requirements on labels that are not part of the classes.
    single: Vec<LabelRequirement<'r>>,
}

impl<'v, 'r> NodeSelection<'v, 'r> {
    /// The nodes that satisfy every requirement.
    #[must_use]
    pub fn new(view: &'v NodeView, requirements: &[LabelRequirement<'r>]) -> Self {
        let mut classes = view.classes().all().clone();
        Self { view, single: retain_classes_and_return_rest(view, &mut classes, requirements), classes }
    }

    /// The first of some nodes that satisfies every requirement. Only the requirements on labels that are not part of the
    /// classes are compared node by node.
    #[must_use]
    pub fn first_of(
        &self,
        nodes: impl Iterator<Item = &'v str>,
        deadline: &DecisionLimits<'_>,
    ) -> InCommon<'v> {
        if self.classes.is_clear() {
            return InCommon::None;
        }
        for name in nodes {
            if !deadline.take_looks(self.looks_per_node().max(1)) {
                return InCommon::Unknown;
            }
            if self.view.nodes.get(name).is_some_and(|entry| self.fits(name, entry)) {
                return InCommon::Node(name);
            }
        }
        InCommon::None
    }

    /// Each requirement is one look, and so are a few values of it.
    fn looks_per_node(&self) -> usize {
        self.single.iter().map(|r| 1 + r.values.len() / VALUES_PER_LOOK).sum()
    }

    fn fits(&self, name: &str, entry: &NodeEntry) -> bool {
        self.classes.contains(entry.class())
            && self.single.iter().all(|r| match entry.label_outside_class(name, r.key) {
                None if self.view.classes().may_have_label_not_kept(entry.class(), r.key) => false,
                value => r.holds(value),
            })
    }

    /// The nodes that satisfy other requirements too.
    #[must_use]
    pub fn with<'o>(&self, other: &[LabelRequirement<'o>]) -> NodeSelection<'v, 'o>
    where
        'r: 'o,
    {
        let mut classes = self.classes.clone();
        let theirs = retain_classes_and_return_rest(self.view, &mut classes, other);
        let single = self.single.iter().copied().chain(theirs).collect();
        NodeSelection { view: self.view, classes, single }
    }

    /// The first node by name.
    #[must_use]
    pub fn first(&self, deadline: &DecisionLimits<'_>) -> InCommon<'v> {
        if self.classes.is_clear() {
            return InCommon::None;
        }
        let first = match self.single.is_empty() {
            true => self.view.first_node_of_classes(&self.classes),
            false => match self.first_node_by_own_labels(deadline) {
                Some(first) => first,
                None => return InCommon::Unknown,
            },
        };
        first.map_or(InCommon::None, InCommon::Node)
    }

    /// The first node by name where requirements are on its own labels; `None` where it takes more looks than are left.
    fn first_node_by_own_labels(&self, deadline: &DecisionLimits<'_>) -> Option<Option<&'v str>> {
        let view = self.view;
        // The requirement whose values the fewest nodes have.
        let listing = self.single.iter().filter(|r| r.relation == Relation::In);
        let values: usize = listing.clone().map(|r| r.values.len()).sum();
        if !deadline.take_looks(values.saturating_mul(LOOKS_PER_LISTED_VALUE)) {
            return None;
        }
        let behind = listing.map(|r| {
            r.values
                .iter()
                .map(|value| view.nodes_with_value_outside_classes(r.key, value))
                .collect::<Vec<_>>()
        });
        let count =
            |behind: &[NodesWithLabelValue<'_>]| behind.iter().map(NodesWithLabelValue::len).sum::<usize>();
        let looks = |nodes: usize| deadline.take_looks(nodes.saturating_mul(self.looks_per_node()));
        let first = |(name, entry): (&'v str, &'v NodeEntry)| self.fits(name, entry).then_some(name);
        match behind.min_by_key(|listed| count(listed)) {
            Some(listed) => looks(count(&listed)).then(|| {
                let names = listed.iter().flat_map(NodesWithLabelValue::names);
                names.filter_map(|name| view.nodes.get_key_value(name)).filter_map(first).min()
            }),
            None => looks(view.len()).then(|| view.nodes.iter().filter_map(first).min()),
        }
    }
}

/// Retains the classes that satisfy the requirements, and returns those requirements that need single nodes.
fn retain_classes_and_return_rest<'r>(
    view: &NodeView,
    classes: &mut ClassSet,
    requirements: &[LabelRequirement<'r>],
) -> Vec<LabelRequirement<'r>> {
    let (single, of_classes): (Vec<_>, Vec<_>) =
        requirements.iter().copied().partition(|r| view.own_keys.contains_key(r.key));
    of_classes
        .into_iter()
        .for_each(|requirement| view.classes().remove_classes_not_satisfying(classes, requirement));
    single
}
