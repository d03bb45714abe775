//! Whether two selectors of nodes have a node in common.

use crate::decision_limits::DecisionLimits;
use crate::nodes::{InCommon, LabelRequirement, NodeSelection, NodeView, Relation};
use crate::rules::other_sriov_policy_and_common_nodes::CommonNodes;
use std::collections::{HashMap, HashSet};

/// The nodes of the object under review, which are compared with those of hundreds of other objects: what can be read once
/// is read once, and a comparison costs as much as the other object is long.
pub(super) struct OurNodes<'v, 'r> {
    conditions: Vec<OurCondition<'r>>,
    /// Places in `conditions`, by label.
    by_key: HashMap<&'r str, Vec<usize>>,
    selection: NodeSelection<'v, 'r>,
    known: bool,
    deadline: &'v DecisionLimits<'v>,
}

/// A requirement, with its values as a set.
struct OurCondition<'r> {
    requirement: LabelRequirement<'r>,
    values: HashSet<&'r str>,
}

impl<'v, 'r> OurNodes<'v, 'r> {
    pub(super) fn new(
        requirements: &[LabelRequirement<'r>],
        nodes: &'v NodeView,
        deadline: &'v DecisionLimits<'v>,
    ) -> Self {
        let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, one) in requirements.iter().enumerate() {
            by_key.entry(one.key).or_default().push(at);
        }
        let condition = |one: &LabelRequirement<'r>| OurCondition {
            requirement: *one,
            values: one.values.iter().collect(),
        };
        Self {
            conditions: requirements.iter().map(condition).collect(),
            by_key,
            selection: NodeSelection::new(nodes, requirements),
            known: !nodes.is_empty(),
            deadline,
        }
    }

    /// What other nodes have in common with these. Known nodes decide where the selectors do not.
    pub(super) fn nodes_in_common_with(&self, theirs: &[LabelRequirement<'_>]) -> CommonNodes<'v> {
        self.deadline.spend_work_of_run(|| 10 * (1 + theirs.len()));
        if theirs.iter().any(|other| self.on_label(other).any(|(_, own)| own.contradicts(*other))) {
            return CommonNodes::None;
        }
        if theirs.iter().all(|other| self.on_label(other).any(|(_, own)| own.implies(*other)))
            || self.implied_by(theirs)
        {
            return CommonNodes::Implied;
        }
        if !self.known {
            return CommonNodes::Possible;
        }
        match self.selection.with(theirs).first(self.deadline) {
            InCommon::None => CommonNodes::None,
            InCommon::Node(node) => CommonNodes::Node(node),
            InCommon::Unknown => CommonNodes::Possible,
        }
    }

    /// The conditions on the label of another one, each with its place.
    fn on_label(&self, other: &LabelRequirement<'_>) -> impl Iterator<Item = (usize, &OurCondition<'r>)> {
        let places = self.by_key.get(other.key).into_iter().flatten();
        places.filter_map(|at| Some((*at, self.conditions.get(*at)?)))
    }

    /// Whether every node that satisfies these requirements satisfies ours.
    fn implied_by(&self, theirs: &[LabelRequirement<'_>]) -> bool {
        // Each of them is on one label.
        if self.by_key.len() > theirs.len() {
            return false;
        }
        let implied = theirs.iter().flat_map(|other| {
            self.on_label(other).filter(|(_, own)| own.implied_by(*other)).map(|(at, _)| at)
        });
        implied.collect::<HashSet<usize>>().len() == self.conditions.len()
    }
}

impl OurCondition<'_> {
    fn holds(&self, value: &str) -> bool {
        match self.requirement.relation {
            Relation::In => self.values.contains(value),
            Relation::NotIn => !self.values.contains(value),
            _ => self.requirement.holds(Some(value)),
        }
    }

    /// How many of its values another condition lists.
    fn count_values_listed_by(&self, other: LabelRequirement<'_>) -> usize {
        let listed = other.values.iter().filter(|value| self.values.contains(value));
        listed.collect::<HashSet<&str>>().len()
    }

    /// How many of its values satisfy another condition.
    fn count_values_satisfying(&self, other: LabelRequirement<'_>) -> usize {
        match other.relation {
            Relation::In => self.count_values_listed_by(other),
            Relation::NotIn => self.values.len() - self.count_values_listed_by(other),
            _ => self.values.iter().filter(|value| other.holds(Some(value))).count(),
        }
    }

    /// Whether no label satisfies both.
    fn contradicts(&self, other: LabelRequirement<'_>) -> bool {
        use Relation::{DoesNotExist, Exists, In};
        match (self.requirement.relation, other.relation) {
            (In, _) => self.count_values_satisfying(other) == 0,
            (_, In) => !other.values.iter().any(|value| self.holds(value)),
            (Exists, DoesNotExist) | (DoesNotExist, Exists) => true,
            _ => false,
        }
    }

    /// Whether every label that satisfies this condition satisfies another one.
    fn implies(&self, other: LabelRequirement<'_>) -> bool {
        use Relation::{DoesNotExist, Exists, In, NotIn};
        match (self.requirement.relation, other.relation) {
            (In, _) => self.count_values_satisfying(other) == self.values.len(),
            (Exists, Exists) | (DoesNotExist, DoesNotExist | NotIn) => true,
            (NotIn, NotIn) => other.values.iter().all(|value| self.values.contains(value)),
            _ => false,
        }
    }

    /// Whether every label that satisfies another condition satisfies this one.
    fn implied_by(&self, other: LabelRequirement<'_>) -> bool {
        use Relation::{DoesNotExist, Exists, In, NotIn};
        match (other.relation, self.requirement.relation) {
            (In, _) => other.values.iter().all(|value| self.holds(value)),
            (Exists, Exists) | (DoesNotExist, DoesNotExist | NotIn) => true,
            (NotIn, NotIn) => self.count_values_listed_by(other) == self.values.len(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_limits::NEVER;
    use crate::nodes::{HOSTNAME_LABEL, NodeBuilder, Values};
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};

    fn is<'a>(key: &'a str, value: &'a str) -> LabelRequirement<'a> {
        LabelRequirement::key_equals_value(key, value)
    }

    fn with(key: &str, relation: Relation) -> LabelRequirement<'_> {
        LabelRequirement { key, relation, values: Values::Strings(&[]) }
    }

    #[test]
    fn selectors_alone() {
        let none = NodeView::default();
        let of = |a: &[LabelRequirement<'_>], b: &[LabelRequirement<'_>]| {
            OurNodes::new(a, &none, &NEVER).nodes_in_common_with(b)
        };
        assert_eq!(of(&[], &[is("a", "x")]), CommonNodes::Implied);
        assert_eq!(of(&[is("a", "x"), is("b", "y")], &[is("a", "x")]), CommonNodes::Implied);
        assert_eq!(of(&[is("a", "x")], &[is("a", "y")]), CommonNodes::None);
        assert_eq!(of(&[is("a", "x")], &[is("b", "y")]), CommonNodes::Possible);
        let (exists, absent) = (with("a", Relation::Exists), with("a", Relation::DoesNotExist));
        assert_eq!(of(&[exists], &[absent]), CommonNodes::None);
        assert_eq!(of(&[exists], &[is("a", "x")]), CommonNodes::Implied);
        assert_eq!(of(&[absent], &[is("a", "x")]), CommonNodes::None);
    }

    /// Labels of a node, and a condition: of two labels and of the host's name, with few values.
    const KEYS: [&str; 3] = ["a", "b", HOSTNAME_LABEL];

    fn conditions() -> impl Strategy<Value = Vec<(usize, Relation, Vec<String>)>> {
        let relation = prop::sample::select(vec![
            Relation::In,
            Relation::NotIn,
            Relation::Exists,
            Relation::DoesNotExist,
        ]);
        let condition = (0..KEYS.len(), relation, prop::collection::vec("[xyz]", 1..3));
        prop::collection::vec(condition, 0..4)
    }

    fn requirements(conditions: &[(usize, Relation, Vec<String>)]) -> Vec<LabelRequirement<'_>> {
        let all = conditions.iter().map(|(key, relation, values)| LabelRequirement {
            key: KEYS[*key],
            relation: *relation,
            values: Values::Strings(values),
        });
        all.collect()
    }

    /// The same by comparing each condition with each, on each value and on each node.
    fn expected(
        a: &[LabelRequirement<'_>],
        b: &[LabelRequirement<'_>],
        nodes: &[Vec<Option<String>>],
    ) -> Option<usize> {
        let values = [None, Some("x"), Some("y"), Some("z"), Some("another")];
        let all = |x: &LabelRequirement<'_>, y: &LabelRequirement<'_>, fits: fn(bool, bool) -> bool| {
            x.key == y.key && values.iter().all(|value| fits(x.holds(*value), y.holds(*value)))
        };
        if a.iter().any(|x| b.iter().any(|y| all(x, y, |x, y| !x || !y))) {
            return None;
        }
        let implies = |from: &[LabelRequirement<'_>], to: &[LabelRequirement<'_>]| {
            to.iter().all(|y| from.iter().any(|x| all(x, y, |x, y| !x || y)))
        };
        if implies(a, b) || implies(b, a) {
            return Some(IMPLIED);
        }
        let value =
            |node: &[Option<String>], key: &str| node[KEYS.iter().position(|k| *k == key).unwrap()].clone();
        let fits =
            |node: &Vec<Option<String>>| a.iter().chain(b).all(|r| r.holds(value(node, r.key).as_deref()));
        nodes.iter().position(fits)
    }

    /// A number that no node has.
    const IMPLIED: usize = 100;

    #[test]
    fn as_all_conditions_and_nodes_one_by_one() {
        let labels = prop::array::uniform3(prop::option::of("[xyz]"));
        let nodes = prop::collection::vec(labels, 1..6);
        let config = Config {
            cases: 3_000,
            rng_seed: RngSeed::Fixed(7),
            failure_persistence: None,
            ..Config::default()
        };
        let made = TestRunner::new(config).run(&(conditions(), conditions(), nodes), |(a, b, nodes)| {
            let (a, b) = (requirements(&a), requirements(&b));
            let mut builder = NodeBuilder::default();
            let nodes: Vec<Vec<Option<String>>> = nodes.iter().map(|labels| labels.to_vec()).collect();
            for (at, labels) in nodes.iter().enumerate() {
                let labels: HashMap<&str, &String> = KEYS
                    .iter()
                    .zip(labels)
                    .filter_map(|(key, value)| Some((*key, value.as_ref()?)))
                    .collect();
                let node = serde_json::json!({"metadata": {"name": format!("n{at}"), "labels": labels}});
                builder.add_or_replace_node(&serde_json::from_str(&node.to_string()).unwrap());
            }
            let view = builder.rebuild_view_if_changed();
            let names: Vec<String> = (0..nodes.len()).map(|at| format!("n{at}")).collect();
            let wanted = match expected(&a, &b, &nodes) {
                None => CommonNodes::None,
                Some(IMPLIED) => CommonNodes::Implied,
                Some(at) => CommonNodes::Node(&names[at]),
            };
            prop_assert_eq!(OurNodes::new(&a, &view, &NEVER).nodes_in_common_with(&b), wanted);
            // Nobody may look at single nodes: classes alone still decide.
            let none_left = DecisionLimits::without_clock();
            while none_left.take_looks(1 << 12) {}
            let limited = OurNodes::new(&a, &view, &none_left).nodes_in_common_with(&b);
            prop_assert!(limited == wanted || limited == CommonNodes::Possible);
            Ok(())
        });
        made.unwrap();
    }
}
