//! Nodes with more labels, extended resources or taints than are kept.

use super::index_tests::{node, put, with};
use super::*;

#[test]
fn a_node_with_many_labels_keeps_those_by_which_pods_choose_nodes() {
    let many: Vec<String> = (0..20_000).map(|i| format!("a{i}")).collect();
    let mut labels: Vec<(&str, &str)> = many.iter().map(|key| (key.as_str(), "")).collect();
    let known = [(HOSTNAME_LABEL, "n"), (INSTANCE_TYPE_LABEL, "t"), ("nvidia.com/gpu.product", "H100")];
    labels.extend(known);
    labels.push(("zone", "z"));
    let mut index = NodeBuilder::default();
    put(&mut index, &node("few", &[("pool", "x")]));
    assert!(!index.rebuild_view_if_changed().may_have_label("zone"));
    put(&mut index, &node("n", &labels));
    for (key, value) in known {
        assert_eq!(with(&mut index, key, value), ["n"], "{key}");
    }
    assert!(with(&mut index, "zone", "z").is_empty());
    let view = index.rebuild_view_if_changed();
    assert!(view.label_keys().count() < 1_600, "{}", view.label_keys().count());
    // A label that is not kept is not one that no node has.
    assert!(view.may_have_label("zone") && view.may_have_label_value("zone", "z"));
    // The same labels on a node that has no others are another class.
    let kept: Vec<(String, String)> = {
        let class = view.classes().get(view.class_number_of_node("n").unwrap()).unwrap();
        class.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    };
    let kept: Vec<(&str, &str)> = kept.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    put(&mut index, &node("n", &[&kept[..], &[(HOSTNAME_LABEL, "n")]].concat()));
    let view = index.rebuild_view_if_changed();
    assert!(!view.may_have_label("zone"));
}

/// A node satisfies no condition on a label that may be among those that are not kept.
#[test]
fn a_condition_that_excludes_a_label_excludes_nodes_that_may_have_it() {
    let many: Vec<String> = (0..600).map(|i| format!("a{i}")).collect();
    let mut labels: Vec<(&str, &str)> = many.iter().map(|key| (key.as_str(), "")).collect();
    labels.push(("pool", "x"));
    for bound in [4096, 80] {
        let mut index = NodeBuilder::with_bound(bound);
        put(&mut index, &node("many", &labels));
        put(&mut index, &node("few", &[]));
        for i in 0..100 {
            put(&mut index, &node(&format!("n{i}"), &[("pool", &format!("p{i}"))]));
        }
        let view = index.rebuild_view_if_changed();
        assert_eq!(view.own_keys.contains_key("pool"), bound == 80);
        let values = ["p1".to_owned()];
        for key in ["pool", "unknown", "nvidia.com/gpu.product"] {
            for relation in [Relation::NotIn, Relation::DoesNotExist] {
                let excluding = LabelRequirement { key, relation, values: Values::Strings(&values) };
                let constraints =
                    NodeConstraintsOfPod { selector: vec![excluding], ..NodeConstraintsOfPod::default() };
                let fits = |name: &str| {
                    let set = classes_pod_can_run_on(&constraints, &view);
                    set.contains(view.class_number_of_node(name).unwrap())
                };
                assert_eq!(
                    (fits("many"), fits("few")),
                    (key.contains('/'), true),
                    "{key} {relation:?} {bound}"
                );
                let both = NodeSelection::new(&view, &[excluding]);
                let names = ["many", "few"].into_iter();
                let first = if key.contains('/') { "many" } else { "few" };
                let found = both.first_of(names, &crate::decision_limits::NEVER);
                assert_eq!(found, InCommon::Node(first), "{key} {relation:?} {bound}");
            }
        }
    }
}

#[test]
fn a_node_with_too_many_resources_counts_as_one_whose_resources_are_unknown() {
    let object = |name: &str, resources: usize| {
        let listed: String = (0..resources).map(|i| format!(r#","x.io/r{i}":"{}""#, i + 1)).collect();
        let taint = |i: usize| format!(r#"{{"key":"k{i}","effect":"NoSchedule"}}"#);
        let taints: Vec<String> = (0..resources.min(600)).map(taint).collect();
        format!(
            r#"{{"metadata":{{"name":"{name}","labels":{{"pool":"{name}"}}}},"spec":{{"taints":[{}]}},
                "status":{{"allocatable":{{"cpu":"8"{listed}}}}}}}"#,
            taints.join(",")
        )
    };
    let mut index = NodeBuilder::default();
    put(&mut index, &object("few", 50));
    put(&mut index, &object("only-native", 0));
    put(&mut index, &object("many", 60_000));
    index.keep_profile_labels_in_classes(["pool"].into_iter());
    // Nodes are classified again.
    index.keep_profile_labels_in_classes([HOSTNAME_LABEL].into_iter());
    let view = index.rebuild_view_if_changed();
    let class = |name: &str| view.class_number_of_node(name).unwrap();
    let known = |name: &str| view.classes().get(class(name)).unwrap();
    assert!(known("few").lists && known("few").lists_resource("x.io/r7") && known("only-native").lists);
    assert!(!known("many").lists && known("many").resources.is_empty());
    assert_eq!((known("few").taints.len(), known("many").taints.len()), (50, 512));
    let most = |names: &[&str]| {
        let mut set = view.classes().empty_set();
        names.iter().for_each(|name| set.insert(class(name)));
        view.most_units(&set, "x.io/r7")
    };
    assert_eq!((most(&["few", "only-native"]), most(&["few", "many"])), (Some(8), None));
}
