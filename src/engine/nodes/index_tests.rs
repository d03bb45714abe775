//! The index: additions and removals, and that the answers depend only on the present nodes.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn put(index: &mut NodeBuilder, node: &str) {
    index.add_or_replace_node(&serde_json::from_str(node).unwrap());
}

pub(super) fn node(name: &str, labels: &[(&str, &str)]) -> String {
    let labels: BTreeMap<_, _> = labels.iter().copied().collect();
    format!(r#"{{"metadata":{{"name":"{name}","labels":{}}}}}"#, serde_json::to_string(&labels).unwrap())
}

/// Classes and nodes that a view has.
fn sizes(index: &mut NodeBuilder) -> (usize, usize) {
    let view = index.rebuild_view_if_changed();
    (view.classes().all().count_ones(..), view.len())
}

/// Names of the nodes in the classes that a label leaves.
pub(super) fn with(index: &mut NodeBuilder, key: &str, value: &str) -> Vec<String> {
    let view = index.rebuild_view_if_changed();
    let constraints = NodeConstraintsOfPod {
        selector: vec![LabelRequirement::key_equals_value(key, value)],
        ..NodeConstraintsOfPod::default()
    };
    view.first_node_names_of_classes(&classes_pod_can_run_on(&constraints, &view), 100)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[test]
fn views_of_the_same_nodes_share_the_first_node_of_each_class() {
    let mut index = NodeBuilder::default();
    put(&mut index, &node("b", &[("pool", "x")]));
    let first = |view: &NodeView| view.first_node_of_classes(view.classes().all()).map(str::to_owned);
    let before = index.rebuild_view_if_changed();
    assert_eq!(first(&before).as_deref(), Some("b"));
    // A heartbeat, and a change of another object.
    put(&mut index, &node("b", &[("pool", "x")]));
    assert!(index.rebuild_view_if_changed().firsts.get().is_some());
    put(&mut index, &node("a", &[("pool", "x")]));
    assert_eq!(first(&index.rebuild_view_if_changed()).as_deref(), Some("a"));
    assert!(index.delete("a"));
    assert_eq!(first(&index.rebuild_view_if_changed()).as_deref(), Some("b"));
    assert_eq!(first(&before).as_deref(), Some("b"));
}

#[test]
fn nodes_are_added_changed_and_removed() {
    let mut index = NodeBuilder::default();
    assert!(index.rebuild_view_if_changed().is_empty());
    for name in ["a", "b"] {
        put(&mut index, &node(name, &[("pool", "x"), (HOSTNAME_LABEL, name)]));
    }
    assert_eq!(sizes(&mut index), (1, 2));
    put(&mut index, &node("b", &[("pool", "y")]));
    assert_eq!(sizes(&mut index), (2, 2));
    assert_eq!(with(&mut index, "pool", "x"), ["a"]);
    assert_eq!(with(&mut index, "pool", "y"), ["b"]);
    // The class is removed with its last node, and the next one gets its number.
    assert!(index.delete("a"));
    assert!(!index.delete("never there"));
    assert_eq!(sizes(&mut index), (1, 1));
    assert!(with(&mut index, "pool", "x").is_empty());
    put(&mut index, &node("c", &[("pool", "z")]));
    assert_eq!(sizes(&mut index), (2, 2));
    assert_eq!(with(&mut index, "pool", "z"), ["c"]);
    assert!(index.delete("c") && index.delete("b"));
    assert_eq!(sizes(&mut index), (0, 0));
    put(&mut index, r#"{"metadata": {"labels": {"pool": "x"}}}"#);
    assert!(index.rebuild_view_if_changed().is_empty(), "a node without a name");
}

#[test]
fn a_view_never_changes() {
    let mut index = NodeBuilder::default();
    put(&mut index, &node("a", &[("pool", "x")]));
    let before = index.rebuild_view_if_changed();
    put(&mut index, &node("a", &[("pool", "y")]));
    index.delete("a");
    assert_eq!((before.len(), before.first_node_names_of_classes(before.classes().all(), 9)), (1, vec!["a"]));
    assert!(index.rebuild_view_if_changed().is_empty());
}

#[test]
fn passing_state_makes_no_class() {
    let mut index = NodeBuilder::default();
    put(&mut index, r#"{"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "8", "pods": "9"}}}"#);
    let passing = r#"{"metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "4"}}, "spec": {"unschedulable": true, "taints": [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "dedicated", "effect": "PreferNoSchedule"}]}}"#;
    put(&mut index, passing);
    assert_eq!(sizes(&mut index), (1, 2));
}

/// A label with many values that no profile selects by does not make a class of every node; one that a profile
/// selects by does.
#[test]
fn labels_of_many_values_leave_the_classes_unless_profiles_use_them() {
    let mut index = NodeBuilder::with_bound(80);
    for i in 0..200 {
        put(
            &mut index,
            &node(&format!("n{i}"), &[("serial", &format!("s{i}")), ("pool", &format!("p{}", i % 4))]),
        );
    }
    assert_eq!(sizes(&mut index), (4, 200));
    // The one node, though its class has fifty.
    let view = index.rebuild_view_if_changed();
    let constraints = NodeConstraintsOfPod {
        selector: vec![
            LabelRequirement::key_equals_value("serial", "s7"),
            LabelRequirement::key_equals_value("pool", "p2"),
        ],
        ..NodeConstraintsOfPod::default()
    };
    assert!(classes_pod_can_run_on(&constraints, &view).is_clear());
    index.keep_profile_labels_in_classes(["serial"].into_iter());
    assert_eq!(sizes(&mut index), (200, 200));
    assert_eq!(with(&mut index, "serial", "s7"), ["n7"]);
    // It stays part of the classes while nodes are added.
    put(&mut index, &node("late", &[("serial", "s200"), ("pool", "p1")]));
    assert_eq!(sizes(&mut index), (201, 201));
    assert_eq!(with(&mut index, "serial", "s200"), ["late"]);
    index.keep_profile_labels_in_classes(std::iter::empty());
    put(&mut index, &node("later", &[("serial", "s201"), ("pool", "p1")]));
    assert_eq!(sizes(&mut index).1, 202);
}

#[test]
fn many_kinds_of_nodes_stay_many_classes() {
    let mut index = NodeBuilder::with_bound(8);
    for i in 0..60 {
        put(
            &mut index,
            &node(&format!("n{i}"), &[("a", &format!("{}", i % 12)), ("b", &format!("{}", i / 12))]),
        );
    }
    assert_eq!(sizes(&mut index), (60, 60));
}

/// A pod of thousands of terms that each ask every node would hold a core for seconds.
#[test]
fn looks_at_nodes_are_limited() {
    let mut index = NodeBuilder::default();
    for i in 0..1024 {
        let name = format!("n{i}");
        put(&mut index, &node(&name, &[("pool", "x"), (HOSTNAME_LABEL, &name)]));
    }
    let view = index.rebuild_view_if_changed();
    let off: Vec<String> = (0..1024).map(|i| format!("n{i}")).collect();
    let landed = |terms: usize| {
        let term = || AffinityTerm {
            labels: vec![
                LabelRequirement {
                    key: HOSTNAME_LABEL,
                    relation: Relation::Exists,
                    values: Values::Strings(&[]),
                },
                LabelRequirement {
                    key: HOSTNAME_LABEL,
                    relation: Relation::NotIn,
                    values: Values::Strings(&off),
                },
            ],
            ..AffinityTerm::default()
        };
        let terms = Some((0..terms).map(|_| term()).collect());
        classes_pod_can_run_on(&NodeConstraintsOfPod { terms, ..NodeConstraintsOfPod::default() }, &view)
    };
    let passes = conditions_on_single_nodes::MAX_LOOKS_PER_POD / (2 * 1024);
    assert!(landed(passes).is_clear());
    // Too many to check: the class may be one of them.
    assert_eq!(landed(passes + 1).count_ones(..), 1);
}

/// A value that many nodes share is looked up once, however often a pod lists it, and only so often in different terms.
#[test]
fn nodes_behind_values_are_limited() {
    let mut index = NodeBuilder::with_bound(8);
    for i in 0..1024 {
        let serial = if i < 512 { format!("s{i}") } else { "none".to_owned() };
        put(&mut index, &node(&format!("n{i}"), &[("serial", &serial), ("pool", "x")]));
    }
    let view = index.rebuild_view_if_changed();
    let values = vec!["none".to_owned(); 4096];
    let other = ["s1".to_owned()];
    let landed = |terms: usize| {
        let on =
            |relation, values| LabelRequirement { key: "serial", relation, values: Values::Strings(values) };
        // No node has both.
        let term = || AffinityTerm {
            labels: vec![on(Relation::In, &values), on(Relation::In, &other)],
            ..AffinityTerm::default()
        };
        let terms = Some((0..terms).map(|_| term()).collect());
        classes_pod_can_run_on(&NodeConstraintsOfPod { terms, ..NodeConstraintsOfPod::default() }, &view)
    };
    let terms = conditions_on_single_nodes::MAX_LOOKS_PER_POD / (8 * 2 * 512);
    assert!(landed(1).is_clear() && landed(terms).is_clear());
    assert_eq!(landed(terms + 1).count_ones(..), 1);
}

/// Nodes by name: labels, a taint, a resource.
type Nodes = BTreeMap<String, Kind>;

#[derive(Debug, Clone)]
struct Kind {
    labels: BTreeMap<&'static str, String>,
    taint: Option<u8>,
    units: Option<u8>,
}

impl Kind {
    fn object(&self, name: &str) -> String {
        let taints =
            self.taint.map(|v| format!(r#"{{"key":"dedicated","value":"{v}","effect":"NoSchedule"}}"#));
        let units = self.units.map(|units| format!(r#""x.io/gpu":"{units}""#));
        format!(
            r#"{{"metadata":{{"name":"{name}","labels":{}}},"spec":{{"taints":[{}]}},"status":{{"allocatable":{{{}}}}}}}"#,
            serde_json::to_string(&self.labels).unwrap(),
            taints.unwrap_or_default(),
            units.unwrap_or_default(),
        )
    }
}

/// Keys with few values, and two with as many as nodes.
const KEYS: [(&str, u16); 5] =
    [("pool", 3), ("fabric", 2), ("serial", 400), ("rack", 90), (HOSTNAME_LABEL, 120)];

fn kinds() -> impl Strategy<Value = Kind> {
    let labels = proptest::collection::vec(proptest::option::weighted(0.85, any::<u16>()), KEYS.len());
    let rest = (proptest::option::weighted(0.2, 0..2_u8), proptest::option::weighted(0.4, 0..2_u8));
    (labels, rest).prop_map(|(labels, (taint, units))| {
        let labels = KEYS.iter().zip(labels).filter_map(|((key, most), value)| {
            let value = value? % most;
            // A host named like some node, often enough like this one.
            Some((*key, if *key == HOSTNAME_LABEL { format!("n{value}") } else { format!("v{value}") }))
        });
        Kind { labels: labels.collect(), taint, units }
    })
}

/// A change of the nodes: a node, by number, is added or changed, or removed. `true` gives it its name as hostname.
fn steps() -> impl Strategy<Value = Vec<(u8, Option<(Kind, bool)>)>> {
    let change = proptest::option::weighted(0.8, (kinds(), any::<bool>()));
    proptest::collection::vec((any::<u8>(), change), 100..260)
}

/// Requirements on labels: key, relation, two values.
type Asked = (usize, usize, u16, u16);

fn questions() -> impl Strategy<Value = Vec<(Vec<Asked>, Vec<Asked>)>> {
    let asked = || proptest::collection::vec((0..KEYS.len(), 0..4_usize, any::<u16>(), any::<u16>()), 0..3);
    proptest::collection::vec((asked(), asked()), 6)
}

/// A requirement that owns its values.
struct Owned(&'static str, Relation, Vec<String>);

impl Owned {
    fn new(&(key, relation, a, b): &Asked) -> Self {
        let (key, most) = KEYS[key];
        let relation = [Relation::In, Relation::NotIn, Relation::Exists, Relation::DoesNotExist][relation];
        let letter = if key == HOSTNAME_LABEL { "n" } else { "v" };
        Self(key, relation, vec![format!("{letter}{}", a % most), format!("{letter}{}", b % most)])
    }
    fn requirement(&self) -> LabelRequirement<'_> {
        LabelRequirement { key: self.0, relation: self.1, values: Values::Strings(&self.2) }
    }
}

/// The only inputs of answers: the labels that profiles select by, taints and resources.
type Seen = (Option<String>, Vec<Taint>, bool);

fn seen(class: &NodeClass) -> Seen {
    (class.label("fabric").map(str::to_owned), class.taints.clone(), class.lists_resource("x.io/gpu"))
}

#[derive(Default)]
struct Reached {
    taken_out: usize,
    shared: usize,
    landed: usize,
}

fn answers_are_of_the_nodes_alone(
    steps: &[(u8, Option<(Kind, bool)>)],
    questions: &[(Vec<Asked>, Vec<Asked>)],
    reached: &mut Reached,
) -> Result<(), String> {
    let mut nodes = Nodes::new();
    // Bounds so small that labels leave the classes early, late, or never.
    let mut indices = [NodeBuilder::with_bound(70), NodeBuilder::with_bound(100), NodeBuilder::default()];
    for (at, (number, change)) in steps.iter().enumerate() {
        let name = format!("n{number}");
        for (i, index) in indices.iter_mut().enumerate() {
            if at == steps.len() / (i + 2) {
                index.keep_profile_labels_in_classes(["fabric"].into_iter());
            }
            match change {
                None => drop(index.delete(&name)),
                Some((kind, own)) => {
                    let mut kind = kind.clone();
                    if *own {
                        kind.labels.insert(HOSTNAME_LABEL, name.clone());
                    }
                    put(index, &kind.object(&name));
                    nodes.insert(name.clone(), kind);
                }
            }
            // A view in between must not keep any state.
            if at % 29 == i {
                drop(index.rebuild_view_if_changed());
            }
        }
        if change.is_none() {
            nodes.remove(&name);
        }
    }
    let mut last = NodeBuilder::default();
    last.keep_profile_labels_in_classes(["fabric"].into_iter());
    nodes.iter().rev().for_each(|(name, kind)| put(&mut last, &kind.object(name)));
    let views: Vec<NodeView> =
        indices.iter_mut().chain([&mut last]).map(NodeBuilder::rebuild_view_if_changed).collect();
    reached.taken_out += views.iter().filter(|v| v.own_keys.len() > 1).count();
    for (selector, term) in questions {
        let (selector, term): (Vec<_>, Vec<_>) =
            (selector.iter().map(Owned::new).collect(), term.iter().map(Owned::new).collect());
        let constraints = NodeConstraintsOfPod {
            selector: selector.iter().map(Owned::requirement).collect(),
            terms: (!term.is_empty()).then(|| {
                vec![AffinityTerm {
                    labels: term.iter().map(Owned::requirement).collect(),
                    ..AffinityTerm::default()
                }]
            }),
            ..NodeConstraintsOfPod::default()
        };
        let fits = |kind: &Kind| {
            kind.taint.is_none()
                && selector
                    .iter()
                    .chain(&term)
                    .all(|r| r.requirement().holds(kind.labels.get(r.0).map(String::as_str)))
        };
        let mut answers = Vec::new();
        for view in &views {
            let set = classes_pod_can_run_on(&constraints, view);
            let fitting: Vec<&String> = nodes.iter().filter(|(_, k)| fits(k)).map(|(n, _)| n).collect();
            let expected: BTreeSet<usize> =
                fitting.iter().filter_map(|n| view.class_number_of_node(n)).collect();
            let found: BTreeSet<usize> = set.ones().collect();
            if found != expected {
                return Err(format!("classes {found:?}, not {expected:?} of {fitting:?}"));
            }
            reached.landed += usize::from(!fitting.is_empty());
            reached.shared += usize::from(view.count_nodes_of_classes(&set) > fitting.len());
            answers.push(
                view.classes_with_node_counts(&set)
                    .map(|(_, class, _)| seen(class))
                    .collect::<BTreeSet<Seen>>(),
            );
        }
        if answers.iter().any(|a| *a != answers[0]) {
            return Err(format!("views differ: {answers:?}"));
        }
    }
    for view in &views {
        let names = view.first_node_names_of_classes(view.classes().all(), usize::MAX);
        let same = names.iter().copied().eq(nodes.keys().map(String::as_str));
        if !same
            || view.len() != nodes.len()
            || view.count_nodes_of_classes(view.classes().all()) != nodes.len()
        {
            return Err(format!("{} nodes, not {}: {names:?}", view.len(), nodes.len()));
        }
        if view.classes_with_node_counts(view.classes().all()).any(|(_, _, count)| count == 0) {
            return Err("a class without nodes".to_owned());
        }
    }
    Ok(())
}

#[test]
fn views_depend_only_on_the_nodes() {
    let config = Config {
        cases: 60,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let reached = std::cell::RefCell::new(Reached::default());
    TestRunner::new(config)
        .run(&(steps(), questions()), |(steps, questions)| {
            let reported = answers_are_of_the_nodes_alone(&steps, &questions, &mut reached.borrow_mut());
            reported.map_err(TestCaseError::fail)
        })
        .unwrap();
    let Reached { taken_out, shared, landed } = reached.into_inner();
    assert!(taken_out > 15 && shared > 10 && landed > 500, "{taken_out} {shared} {landed}");
}
