//! Lists, as kubectl reads them: an object of any kind with `items`, lists in lists, and items without a kind. No object of
//! a list is left out silently.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, run};
use serde_json::{Value, json};

/// The rule that reports the networks annotation of [`pod`].
const RULE: &str = "FAB101";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("lists_of_objects::values_that_are_not_objects_are_counted", || Ok(no_objects()?));
    suite.add("lists_of_objects::each_object_is_reviewed", || Ok(reviewed()?));
    suite.add("lists_of_objects::objects_beside_items_are_reviewed_too", || Ok(both()?));
    suite.add("lists_of_objects::lists_that_are_too_deep_are_an_error", || Ok(too_deep()?));
    suite.add("lists_of_objects::why_and_audit_read_the_same_objects", || Ok(why_and_audit()?));
    suite.add("lists_of_objects::items_without_a_kind_are_facts", || Ok(facts()?));
    suite.add("lists_of_objects::objects_of_an_audit_that_cannot_be_read_are_errors", || Ok(unreadable()?));
}

/// A pod with an error.
fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "bad", "annotations": {"k8s.v1.cni.cncf.io/networks": "[{"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
}

fn good() -> Value {
    let mut good = pod();
    good["metadata"] = json!({"name": "good"});
    good
}

fn without(mut object: Value, keys: &[&str]) -> Value {
    for key in keys {
        object.as_object_mut().map(|object| object.remove(*key));
    }
    object
}

fn list(kind: &str, version: &str, items: Vec<Value>) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {}, "items": items})
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(pod(), |inner, _| list("List", "v1", vec![inner]))
}

fn review(input: &Value) -> Result<(i32, Value), String> {
    let scratch = Scratch::new()?;
    scratch.write("input.json", input.to_string())?;
    let ran = run(&["review", "input.json", "-o", "json"], b"", scratch.path())?;
    let json = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    Ok((ran.code, json))
}

/// Names of the objects that have the error of [`pod`].
fn found(report: &Value) -> Vec<&str> {
    let results = report["results"].as_array().into_iter().flatten();
    let with = results.filter(|result| {
        result["findings"].as_array().into_iter().flatten().any(|finding| finding["rule"] == RULE)
    });
    with.filter_map(|result| result["name"].as_str()).collect()
}

fn reviewed() -> Result<(), String> {
    let untyped = || without(pod(), &["apiVersion", "kind"]);
    let deployment = |keys: &[&str]| {
        let template = without(pod(), &["apiVersion", "kind"]);
        let whole = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bad"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
        without(whole, keys)
    };
    for (what, input) in [
        ("a pod", pod()),
        ("a List", list("List", "v1", vec![good(), pod()])),
        ("nested Lists", nested(32)),
        ("a PodList", list("PodList", "v1", vec![pod()])),
        ("a PodList as the API server writes it", list("PodList", "v1", vec![untyped()])),
        (
            "a kind without a version",
            list(
                "PodList",
                "v1",
                vec![json!({"kind": "ConfigMap"}), {
                    let mut odd = without(pod(), &["apiVersion"]);
                    odd["kind"] = "ConfigMap".into();
                    odd
                }],
            ),
        ),
        ("a typed list in a List", list("List", "v1", vec![list("PodList", "v1", vec![untyped()])])),
        ("a DeploymentList", list("DeploymentList", "apps/v1", vec![deployment(&["apiVersion", "kind"])])),
        ("an unknown list", list("FooList", "a.example/v1", vec![pod()])),
    ] {
        let (code, report) = review(&input)?;
        same(&format!("exit code of {what}: {report}"), 1, code)?;
        same(&format!("objects of {what}"), vec!["bad"], found(&report))?;
    }
    Ok(())
}

/// For kubectl, an object with items is nothing but a list. Other programs may create the object itself.
fn both() -> Result<(), String> {
    let config_map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {}});
    let with_items = |mut object: Value, items: Value| {
        object["items"] = items;
        object
    };
    for (what, input, expected) in [
        // The search for pod templates also finds the item in the ConfigMap.
        ("a ConfigMap", with_items(config_map, json!([pod()])), vec!["x", "bad"]),
        ("a good pod", with_items(good(), json!([pod()])), vec!["bad"]),
        (
            "a good pod with an untyped one",
            with_items(good(), json!([without(pod(), &["kind"])])),
            vec!["bad"],
        ),
        ("a bad pod", with_items(pod(), json!([good()])), vec!["bad"]),
        ("two bad pods", with_items(pod(), json!([pod()])), vec!["bad", "bad"]),
        ("no list", with_items(pod(), json!(["a", 1])), vec!["bad"]),
        ("an empty list", with_items(pod(), json!([])), vec!["bad"]),
        ("null", with_items(pod(), Value::Null), vec!["bad"]),
    ] {
        let (code, report) = review(&input)?;
        same(&format!("exit code of {what}: {report}"), 1, code)?;
        same(&format!("objects of {what}"), expected, found(&report))?;
    }
    Ok(())
}

fn too_deep() -> Result<(), String> {
    let scratch = Scratch::new()?;
    for levels in [33, 45] {
        scratch.write("input.json", nested(levels).to_string())?;
        for command in ["review", "why", "audit --cluster", "discover --cluster", "profiles validate"] {
            let arguments: Vec<&str> = command.split(' ').chain(["input.json"]).collect();
            let ran = run(&arguments, b"", scratch.path())?;
            let words = "/items: these items are in 33 lists, one in another, and at most 32 are read; write the objects as \
                         separate documents";
            same(&format!("{arguments:?}: {}", ran.stderr), true, ran.stderr.contains(words))?;
            same(&format!("exit code of {arguments:?}"), 2, ran.code)?;
        }
    }
    // As a fact, such a list is ignored with a warning, like an object that cannot be read.
    scratch.write("pod.json", good().to_string())?;
    let ran = run(&["review", "pod.json", "--cluster", "input.json"], b"", scratch.path())?;
    let warned =
        ran.stderr.starts_with("warning: input.json:") && ran.stderr.contains("these items are in 33 lists");
    same(&ran.stderr, true, warned)
}

fn why_and_audit() -> Result<(), String> {
    let scratch = Scratch::new()?;
    for input in [list("PodList", "v1", vec![without(pod(), &["apiVersion", "kind"])]), nested(20), {
        let mut both = good();
        both["items"] = json!([pod()]);
        both
    }] {
        scratch.write("input.json", input.to_string())?;
        let why = run(&["why", "input.json"], b"", scratch.path())?;
        same(&format!("why shows the pod: {}", why.stdout), true, why.stdout.contains("bad"))?;
        let audit = run(&["audit", "--cluster", "input.json", "-o", "json"], b"", scratch.path())?;
        same(
            &format!("the audit shows the pod: {}{}", audit.stdout, audit.stderr),
            true,
            audit.stdout.contains(RULE),
        )?;
    }
    Ok(())
}

/// A NodeList of the API server counts for pods in files before it.
fn facts() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let namespace =
        json!({"metadata": {"name": "default", "labels": {"fabric-admission.dev/mode": "audit"}}});
    scratch.write("a.json", good().to_string())?;
    scratch.write("b.json", list("NamespaceList", "v1", vec![namespace]).to_string())?;
    let ran = run(&["review", ".", "-o", "json", "--fail-on", "never"], b"", scratch.path())?;
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    same("mode", &Value::from("audit"), &report["results"][0]["mode"])
}

/// An object of which not even the kind can be read may be a workload.
fn unreadable() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let odd = json!({"apiVersion": "v1", "kind": "Pod", "metadata": "text"});
    scratch.write("input.json", list("List", "v1", vec![good(), odd]).to_string())?;
    let ran = run(&["audit", "--cluster", "input.json"], b"", scratch.path())?;
    same(&format!("exit code: {}", ran.stderr), 2, ran.code)?;
    same(
        &ran.stderr,
        true,
        ran.stderr.contains("error: input.json:1:") && ran.stderr.contains("/items/1/metadata"),
    )
}

/// Millions of numbers fit in a short list.
fn no_objects() -> Result<(), String> {
    let scratch = Scratch::new()?;
    for (item, code, list) in [("1", 2, "errors"), ("{}", 0, "skipped")] {
        let items = vec![item; 5_000].join(",");
        scratch.write("list.yaml", format!("apiVersion: v1\nkind: List\nitems: [{items}]\n"))?;
        let ran = run(&["review", "list.yaml", "-o", "json"], b"", scratch.path())?;
        same(&format!("exit code of {item}"), code, ran.code)?;
        let result: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
        let all = result[list].as_array().map_or(0, Vec::len);
        same(&format!("{list} of {item}"), 1_001, all)?;
        let words =
            "4000 more values of this document are not Kubernetes objects; only the first 1000 are reported";
        same(&format!("{item}: {:.300}", ran.stderr), true, ran.stdout.contains(words))?;
    }
    Ok(())
}
