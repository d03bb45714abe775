//! Findings that annotations ignore: listed with their reason, and without effect on the verdict.

use crate::support::root;
use crate::support::round_trip::{Review, review, same};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("suppressions::what_is_set_aside_counts_for_nothing", counts_for_nothing);
    suite.add("suppressions::errors_stay_unless_somebody_lets_them_go", errors);
    suite.add("suppressions::some_rules_are_never_set_aside", never);
    suite.add("suppressions::every_wrong_annotation_is_reported", wrong);
    suite.add("suppressions::annotations_are_bounded", bounds);
    suite.add("suppressions::of_objects_and_workloads", objects);
}

fn pod(annotations: &Value, env: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": annotations},
        "spec": {"containers": [{"name": "c", "image": "example.com/c:1", "command": ["all_reduce_perf"], "env": env,
            "resources": {"limits": {"nvidia.com/gpu": 1, "rdma/ib": 1}},
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}}]}})
}

fn word() -> Value {
    json!([{"name": "NCCL_CROSS_NIC", "value": "on"}])
}

fn disabled() -> Value {
    json!([{"name": "NCCL_IB_DISABLE", "value": "1"}])
}

fn ignore(rule: &str, reason: &str) -> Value {
    json!({format!("fabric-admission.dev/ignore.{rule}"): reason, "fabric-admission.dev/ignore.FAB803": "none here"})
}

fn reviewed(object: &Value, args: &[&str]) -> Result<Review, String> {
    let mut all: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
    all.push("-".to_owned());
    review(&all, object.to_string().as_bytes(), root())
}

fn suppressed(review: &Review) -> Vec<(String, String)> {
    let all = review.results().iter().flat_map(|r| r["suppressed"].as_array()).flatten();
    let text = |v: &Value| v.as_str().unwrap_or("?").to_owned();
    all.map(|s| (text(&s["rule"]), text(&s["reason"]))).collect()
}

fn counts_for_nothing() -> Outcome {
    let with = reviewed(&pod(&ignore("FAB402", " reads words "), &word()), &["--fail-on", "info"])?;
    same("rules", Vec::<String>::new(), with.rules())?;
    same("exit code", 0, with.ran.code)?;
    let mut set_aside = suppressed(&with);
    set_aside.sort();
    let expected = [("FAB402", "reads words"), ("FAB803", "none here")];
    same("set aside", expected.map(|(r, w)| (r.to_owned(), w.to_owned())).to_vec(), set_aside)?;
    let entry = &with.results()[0]["suppressed"];
    let entry = entry.as_array().and_then(|a| a.iter().find(|s| s["rule"] == "FAB402")).ok_or("no entry")?;
    assert_eq!(
        (&entry["path"], &entry["severity"]),
        (&json!("/spec/containers/0/env/0/value"), &json!("warning"))
    );
    assert!(entry["line"] == 1 && entry["column"].is_u64(), "{entry}");
    let without = reviewed(&pod(&json!({}), &word()), &["--fail-on", "warning"])?;
    same("exit code", 1, without.ran.code)?;
    Ok(same("set aside", Vec::new(), suppressed(&without))?)
}

fn errors() -> Outcome {
    let object = pod(&ignore("FAB401", "measures TCP"), &disabled());
    let kept = reviewed(&object, &[])?;
    same("rules", ["FAB401", "FAB815"].map(str::to_owned).to_vec(), kept.rules())?;
    same(
        "exit code and verdict",
        (1, "deny"),
        (kept.ran.code, kept.results()[0]["verdict"].as_str().unwrap_or("?")),
    )?;
    let let_go = reviewed(&object, &["--ignorable", "errors"])?;
    same("rules", Vec::<String>::new(), let_go.rules())?;
    Ok(same("exit code", 0, let_go.ran.code)?)
}

fn never() -> Outcome {
    let mut refused = pod(&ignore("FAB804", "please"), &json!([]));
    refused["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("no-such");
    let review = reviewed(&refused, &["--ignorable", "errors"])?;
    assert!(review.rules().contains(&"FAB804".to_owned()) && review.rules().contains(&"FAB815".to_owned()));
    let mut half = pod(&ignore("FAB201", "a placeholder"), &json!([]));
    half["spec"]["containers"][0]["resources"]["limits"]["rdma/ib"] = json!("$N");
    let review = reviewed(&half, &["--ignorable", "errors"])?;
    assert!(review.rules().contains(&"FAB201".to_owned()) && review.ran.code == 1, "{:?}", review.rules());
    // Nor what is said about such annotations.
    let review = reviewed(&pod(&ignore("FAB815", "quiet"), &json!([])), &[])?;
    Ok(same("rules", vec!["FAB815".to_owned()], review.rules())?)
}

fn wrong() -> Outcome {
    for (rule, reason, severity, words) in [
        ("FAB4O2", "a letter", "warning", "Did you mean fabric-admission.dev/ignore.FAB402?"),
        ("nonsense", "x", "warning", "no rule has this id"),
        ("FAB402", " ", "warning", "gives no reason"),
        ("FAB501", "nothing to ignore", "info", "reports nothing on this object"),
    ] {
        let review = reviewed(&pod(&ignore(rule, reason), &word()), &[])?;
        let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
        let reported: Vec<&Value> = findings.filter(|f| f["rule"] == "FAB815").collect();
        assert!(reported.len() == 1 && reported[0].to_string().contains(words), "{rule}: {reported:?}");
        assert_eq!(reported[0]["severity"], severity, "{rule}");
        assert_eq!(reported[0]["path"], format!("/metadata/annotations/fabric-admission.dev~1ignore.{rule}"));
        assert!(review.rules().contains(&"FAB402".to_owned()), "{rule}");
    }
    Ok(())
}

fn bounds() -> Outcome {
    let mut annotations = serde_json::Map::new();
    for n in 0..40 {
        annotations.insert(format!("fabric-admission.dev/ignore.FAB{n:03}"), json!("x"));
    }
    let review = reviewed(&pod(&Value::Object(annotations), &json!([])), &[])?;
    let findings = review.results()[0]["findings"].as_array().cloned().unwrap_or_default();
    let reported = findings.iter().filter(|f| f["rule"] == "FAB815").count();
    assert!(reported == 33, "{reported}");
    assert!(findings.iter().any(|f| f["message"].to_string().contains("8 annotations")), "{findings:?}");
    let long = format!("\u{1b}[31m{}", "é".repeat(5_000));
    let review = reviewed(&pod(&ignore("FAB402", &long), &word()), &[])?;
    let (_, reason) = suppressed(&review).into_iter().find(|(r, _)| r == "FAB402").ok_or("not set aside")?;
    assert!(reason.chars().count() < 220 && !reason.contains(char::is_control), "{reason}");
    Ok(())
}

fn objects() -> Outcome {
    let policy = json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": "p", "annotations": {"fabric-admission.dev/ignore.FAB301": "DPDK pods share it"}},
        "spec": {"deviceType": "vfio-pci", "isRdma": true, "numVfs": 8, "resourceName": "r",
            "nodeSelector": {"a": "b"}, "priority": 90, "nicSelector": {"vendor": "15b3", "pfNames": ["ens1f0np0"]}}});
    let kept = reviewed(&policy, &[])?;
    same("rules", ["FAB301", "FAB815"].map(str::to_owned).to_vec(), kept.rules())?;
    let let_go = reviewed(&policy, &["--ignorable", "errors"])?;
    assert!(let_go.rules().is_empty() && suppressed(&let_go).len() == 1, "{:?}", let_go.json);
    // A finding on the workload is set aside on the workload, one on its template there.
    let mut pod = pod(
        &json!({"fabric-admission.dev/ignore.FAB803": "x", "fabric-admission.dev/ignore.FAB402": "x"}),
        &word(),
    );
    pod["spec"]["resourceClaims"] = json!([{"name": "c", "resourceClaimName": "one"}]);
    pod["spec"]["containers"][0]["resources"]["claims"] = json!([{"name": "c"}]);
    let template = json!({"metadata": pod["metadata"], "spec": pod["spec"]});
    let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"parallelism": 2, "template": template}});
    let review = reviewed(&job, &[])?;
    same("rules", vec!["FAB707".to_owned()], review.rules())?;
    job["metadata"]["annotations"] = json!({"fabric-admission.dev/ignore.FAB707": "time-shared"});
    let review = reviewed(&job, &[])?;
    same("rules", Vec::<String>::new(), review.rules())?;
    let own = review.results().iter().find(|r| r["template"].is_null()).ok_or("no result of its own")?;
    Ok(same("reason", "time-shared", own["suppressed"][0]["reason"].as_str().unwrap_or("?"))?)
}
