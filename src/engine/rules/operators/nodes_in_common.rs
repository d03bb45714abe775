//! Whether two selectors of nodes have a node in common.

use crate::nodes::{NodeView, Relation, Requirement};
use std::collections::HashMap;

/// What two selectors have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Common {
    /// No node can match both.
    None,
    /// A node could, and no list of nodes shows whether one does.
    Possible,
    /// Every node that matches one of them matches the other.
    Implied,
    /// This node does.
    Node(String),
}

impl Common {
    /// Words for where the two meet.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Node(node) => format!("on node {node}"),
            Self::Implied => "on the same nodes".to_owned(),
            Self::None | Self::Possible => "perhaps on the same nodes".to_owned(),
        }
    }

    /// Whether it is certain that they meet.
    pub(super) fn certain(&self) -> bool {
        matches!(self, Self::Implied | Self::Node(_))
    }
}

/// What two selectors have in common. Known nodes decide where the selectors do not.
pub(super) fn common(a: &[Requirement<'_>], b: &[Requirement<'_>], nodes: &NodeView) -> Common {
    let (of_a, of_b) = (by_key(a), by_key(b));
    if a.iter().any(|x| on_key(&of_b, x).any(|y| contradict(*x, *y))) {
        return Common::None;
    }
    let implies = |from: &ByKey<'_>, to: &[Requirement<'_>]| {
        to.iter().all(|y| on_key(from, y).any(|x| implied(*x, *y)))
    };
    if implies(&of_a, b) || implies(&of_b, a) {
        return Common::Implied;
    }
    if nodes.is_empty() {
        return Common::Possible;
    }
    nodes.selected(&[a, b].concat()).map_or(Common::None, |node| Common::Node(node.to_owned()))
}

/// The conditions on each label.
type ByKey<'a> = HashMap<&'a str, Vec<&'a Requirement<'a>>>;

fn by_key<'a>(all: &'a [Requirement<'a>]) -> ByKey<'a> {
    let mut found = ByKey::new();
    for one in all {
        found.entry(one.key).or_default().push(one);
    }
    found
}

/// The conditions on the label of another condition.
fn on_key<'m, 'a>(all: &'m ByKey<'a>, other: &Requirement<'_>) -> impl Iterator<Item = &'m Requirement<'a>> {
    all.get(other.key).into_iter().flatten().copied()
}

/// Whether no label satisfies both.
fn contradict(a: Requirement<'_>, b: Requirement<'_>) -> bool {
    use Relation::{DoesNotExist, Exists, In};
    a.key == b.key
        && match (a.relation, b.relation) {
            (In, _) => !a.values.iter().any(|value| b.holds(Some(value))),
            (_, In) => !b.values.iter().any(|value| a.holds(Some(value))),
            (Exists, DoesNotExist) | (DoesNotExist, Exists) => true,
            _ => false,
        }
}

/// Whether every label that satisfies `a` satisfies `b`.
fn implied(a: Requirement<'_>, b: Requirement<'_>) -> bool {
    use Relation::{DoesNotExist, Exists, In, NotIn};
    a.key == b.key
        && match (a.relation, b.relation) {
            (In, _) => a.values.iter().all(|value| b.holds(Some(value))),
            (Exists, Exists) | (DoesNotExist, DoesNotExist | NotIn) => true,
            (NotIn, NotIn) => b.values.iter().all(|value| a.values.contains(value)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::Values;

    fn is<'a>(key: &'a str, value: &'a str) -> Requirement<'a> {
        Requirement::equals(key, value)
    }

    fn with(key: &str, relation: Relation) -> Requirement<'_> {
        Requirement { key, relation, values: Values::Strings(&[]) }
    }

    #[test]
    fn selectors_alone() {
        let none = NodeView::default();
        let of = |a: &[Requirement<'_>], b: &[Requirement<'_>]| common(a, b, &none);
        assert_eq!(of(&[], &[is("a", "x")]), Common::Implied);
        assert_eq!(of(&[is("a", "x"), is("b", "y")], &[is("a", "x")]), Common::Implied);
        assert_eq!(of(&[is("a", "x")], &[is("a", "y")]), Common::None);
        assert_eq!(of(&[is("a", "x")], &[is("b", "y")]), Common::Possible);
        let (exists, absent) = (with("a", Relation::Exists), with("a", Relation::DoesNotExist));
        assert_eq!(of(&[exists], &[absent]), Common::None);
        assert_eq!(of(&[exists], &[is("a", "x")]), Common::Implied);
        assert_eq!(of(&[absent], &[is("a", "x")]), Common::None);
    }
}
