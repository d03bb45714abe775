//! Where templates are found, and what is known of them.

use super::limits_of_template_search::{MAX_BARE_SPECS, SearchLimit};
use super::templates_by_shape::*;
use crate::decision_limits::NEVER;

#[test]
fn templates_at_long_paths_are_not_found() {
    let of = |levels: usize| {
        let pod = r#"{"spec":{"containers":[{"image":"x"}]}}"#.to_owned();
        let key = "k".repeat(250);
        let json = (0..levels).fold(pod, |inner, _| format!(r#"{{"{key}":{inner}}}"#));
        find_templates(&json).len()
    };
    assert_eq!((of(4), of(5)), (1, 0));
}

fn pointers(json: &str) -> Vec<String> {
    find_templates(json).into_iter().map(|t| t.pointer).collect()
}

const POD: &str = r#"{"spec":{"containers":[{"name":"a","image":"x"}]}}"#;

#[test]
fn finds_templates_wherever_they_are() {
    assert_eq!(pointers(&format!(r#"{{"kind":"Job","spec":{{"template":{POD}}}}}"#)), ["/spec/template"]);
    let jobset =
        format!(r#"{{"spec":{{"replicatedJobs":[{{"template":{{"spec":{{"template":{POD}}}}}}}]}}}}"#);
    assert_eq!(pointers(&jobset), ["/spec/replicatedJobs/0/template/spec/template"]);
    let two = format!(
        r#"{{"spec":{{"mpiReplicaSpecs":{{"Launcher":{{"template":{POD}}},"Worker":{{"template":{POD}}}}}}}}}"#
    );
    assert_eq!(
        pointers(&two),
        ["/spec/mpiReplicaSpecs/Launcher/template", "/spec/mpiReplicaSpecs/Worker/template"]
    );
}

#[test]
fn pod_specs_in_unknown_fields_hide_no_template() {
    let decoy = r#""containers":[{"name":"d","image":"x"}]"#;
    let job = format!(r#"{{"kind":"Job","spec":{{{decoy},"template":{POD}}}}}"#);
    assert_eq!(
        pointers(&format!(r#"{{"spec":{{"components":[{{"template":{job}}}]}}}}"#)),
        ["/spec/components/0/template", "/spec/components/0/template/spec/template"]
    );
    let worker = format!(r#"{{"spec":{{"Worker":{{"spec":{{{decoy}}},"template":{POD}}}}}}}"#);
    assert_eq!(pointers(&worker), ["/spec/Worker", "/spec/Worker/template"]);
}

#[test]
fn ignores_similar_objects() {
    for json in [
        r#"{"spec":{"engineRuntimes":[{"containers":[{"name":"a","image":"x"}]}]}}"#,
        r#"{"spec":{"patches":[{"spec":{"containers":[{"name":"node","env":[]}]}}]}}"#,
        r#"{"data":{"x":"{\"spec\":{\"containers\":[]}}"}}"#,
        r#"{"spec":{"containers":[{"name":"a","image":"x"}]}}"#,
    ] {
        assert!(pointers(json).is_empty(), "{json}");
    }
}

#[test]
fn finds_pod_specs_without_metadata() {
    assert!(has_bare_pod_spec(r#"{"spec":{"template":{"containers":[{"name":"a","image":"x"}]}}}"#));
    assert!(!has_bare_pod_spec(r#"{"spec":{"engineRuntimes":[{"containers":[{"name":"a","image":"x"}]}]}}"#));
}

/// Role, pods and kind of the owner of each template.
fn roles(json: &str) -> Vec<(String, Option<u64>, String)> {
    find_templates(json).into_iter().map(|t| (t.role, t.pods, t.maker.kind)).collect()
}

#[test]
fn counts_the_pods_of_each_role() {
    let head = r#""apiVersion":"x/v1","kind":"K""#;
    for (spec, expected) in [
        (format!(r#""parallelism":8,"completions":4,"template":{POD}"#), vec![("", Some(4))]),
        (format!(r#""replicas":3,"template":{POD}"#), vec![("", Some(3))]),
        (format!(r#""replicas":"$N","template":{POD}"#), vec![("", None)]),
        (
            format!(
                r#""pytorchReplicaSpecs":{{"Master":{{"replicas":1,"template":{POD}}},"Worker":{{"replicas":7,"template":{POD}}}}}"#
            ),
            vec![("Master", Some(1)), ("Worker", Some(7))],
        ),
        (
            format!(
                r#""replicatedJobs":[{{"name":"w","replicas":2,"template":{{"spec":{{"parallelism":4,"template":{POD}}}}}}}]"#
            ),
            vec![("w", Some(8))],
        ),
        (
            format!(
                r#""replicas":2,"leaderWorkerTemplate":{{"size":4,"leaderTemplate":{POD},"workerTemplate":{POD}}}"#
            ),
            vec![("leader", Some(2)), ("worker", Some(6))],
        ),
        (
            format!(r#""replicas":2,"leaderWorkerTemplate":{{"size":4,"workerTemplate":{POD}}}"#),
            vec![("worker", Some(8))],
        ),
        (
            format!(
                r#""headGroupSpec":{{"template":{POD}}},"workerGroupSpecs":[{{"groupName":"g","replicas":2,"numOfHosts":2,"template":{POD}}}]"#
            ),
            vec![("head", Some(1)), ("g", Some(4))],
        ),
    ] {
        let json = format!(r#"{{{head},"spec":{{{spec}}}}}"#);
        let expected: Vec<_> = expected.into_iter().map(|(r, n)| (r.to_owned(), n, "K".to_owned())).collect();
        assert_eq!(roles(&json), expected, "{json}");
    }
    let set = format!(r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","spec":{{"template":{POD}}}}}"#);
    assert_eq!(roles(&set), [(String::new(), None, "DaemonSet".to_owned())]);
}

#[test]
fn the_innermost_object_makes_the_pods() {
    let job = format!(r#"{{"apiVersion":"batch/v1","kind":"Job","spec":{{"template":{POD}}}}}"#);
    let wrapper = format!(
        r#"{{"apiVersion":"w/v1","kind":"AppWrapper","spec":{{"components":[{{"template":{job}}}]}}}}"#
    );
    let found = find_templates(&wrapper);
    let maker = &found[0].maker;
    assert_eq!(
        (maker.group.as_str(), maker.kind.as_str(), maker.pointer.as_str(), maker.json),
        ("batch", "Job", "/spec/components/0/template", job.as_str())
    );
}

#[test]
fn bare_specs_have_their_place() {
    let json = r#"{"spec":{"template":{"containers":[{"name":"a"}]},"prefill":{"worker":{"containers":[{"image":"x"}]}}}}"#;
    let pointers = |unfinished| -> Vec<String> {
        bare_specs(json, unfinished, &NEVER).into_iter().map(|s| s.pointer).collect()
    };
    assert_eq!(pointers(false), ["/spec/prefill/worker"]);
    assert_eq!(pointers(true), ["/spec/template", "/spec/prefill/worker"]);
}

#[test]
fn long_texts_are_not_read_on_every_level() {
    let mut json = format!(r#"{{"p":"{}","t":{POD}}}"#, "x".repeat(6 << 20));
    for _ in 0..12 {
        json = format!(r#"{{"a":{json}}}"#);
    }
    assert_eq!(pointers(&json).len(), 1);
}

/// Its pointer and limit, for a part that is not searched.
fn not_searched(json: &str) -> Option<(String, SearchLimit)> {
    find_templates_within_deadline(json, &NEVER).1.map(|part| (part.pointer, part.limit))
}

#[test]
fn parts_that_are_not_searched_are_named() {
    let below = |key: &str, levels: usize, json: &str| {
        (0..levels).fold(json.to_owned(), |inner, _| format!(r#"{{"{key}": {inner}}}"#))
    };
    assert_eq!((pointers(&below("a", 16, POD)).len(), not_searched(&below("a", 16, POD))), (1, None));
    assert_eq!(
        (pointers(&below("a", 17, POD)).len(), not_searched(&below("a", 17, POD))),
        (0, Some(("/a".repeat(17), SearchLimit::Depth)))
    );
    let schema =
        r#"{"spec":{"properties":{"containers" : {"items":{"required":["image"]}}},"x":["containers"]}}"#;
    assert_eq!(not_searched(&below("a", 30, schema)), None);
    let long = "k".repeat(254);
    assert_eq!(not_searched(&below(&long, 1, POD)), Some((String::new(), SearchLimit::Path)));
    let behind = format!(r#"{{"a":{{"s":"{}","containers":1}},"b":{POD}}}"#, "x".repeat(24 << 20));
    assert_eq!(pointers(&behind).len(), 0);
    assert_eq!(not_searched(&behind), Some(("/b".to_owned(), SearchLimit::Length)));
    let parts = |n: usize| format!(r#"{{"a":[{}],"b":{POD}}}"#, vec![r#"{"containers":0}"#; n].join(","));
    assert_eq!((pointers(&parts(4_000)).len(), not_searched(&parts(4_000))), (1, None));
    assert_eq!(pointers(&parts(5_000)).len(), 0);
    assert_eq!(not_searched(&parts(5_000)), Some(("/b".to_owned(), SearchLimit::Parts)));
}

/// Each is read as a pod of its own, with all that is inside.
#[test]
fn templates_inside_of_templates_have_a_limit() {
    let nested = |length: usize| {
        let inner = format!(r#"{{"containers":[{{"image":"i"}}],"x":"{}"}}"#, "x".repeat(length));
        let spec =
            (0..12).fold(inner, |spec, _| format!(r#"{{"containers":[{{"image":"i"}}],"spec":{spec}}}"#));
        format!(r#"{{"template":{{"spec":{spec}}}}}"#)
    };
    assert_eq!((pointers(&nested(1_000)).len(), not_searched(&nested(1_000))), (13, None));
    let long = nested(500_000);
    let beyond = format!("/template{}", "/spec".repeat(5));
    assert_eq!((pointers(&long).len(), not_searched(&long)), (5, Some((beyond, SearchLimit::Nested))));
}

/// Each has a copy of its pointer, so neither many of them nor long pointers are kept.
#[test]
fn bare_specs_are_few_and_have_short_pointers() {
    let spec = r#""worker":{"containers":[{"name":"a","image":"b"}]}"#;
    let many = format!("{{{}}}", vec![spec; 1_000].join(","));
    assert_eq!(bare_specs(&many, true, &NEVER).len(), MAX_BARE_SPECS);
    let below = |key: String| (0..9).fold(format!("{{{spec}}}"), |json, _| format!(r#"{{"{key}":{json}}}"#));
    assert_eq!(bare_specs(&below("k".to_owned()), true, &NEVER).len(), 1);
    assert_eq!(bare_specs(&below("~".repeat(253)), true, &NEVER).len(), 0);
}
