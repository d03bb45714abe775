//! Objects that serve as facts and cannot be read: findings on inputs, warnings for files of the cluster, and never
//! the end of a review.

use crate::support::round_trip::{Review, review, same};
use crate::support::suite::Suite;
use crate::support::{Scratch, run};

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: good, namespace: team}\nspec:\n  containers:\n  - name: c\n    \
                   image: i\n    resources: {limits: {nvidia.com/gpu: 1}}\n";

/// Name, content, rule, severity, pointer, line and column, words of the message.
type Fault = (&'static str, &'static str, &'static str, &'static str, &'static str, (u64, u64), &'static str);

const FAULTS: &[Fault] = &[
    (
        "policy",
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a}\nspec:\n  numVfs: \"8\"\n",
        "FAB366",
        "error",
        "/spec/numVfs",
        (5, 3),
        "whole number",
    ),
    (
        "namespace",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n  labels:\n    a: b\n    c: [1]\n",
        "FAB809",
        "warning",
        "/metadata/labels/c",
        (7, 5),
        "Namespace cannot be read",
    ),
    (
        "node_state",
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodeState\nmetadata: {name: a}\nstatus:\n  interfaces:\n  - {}\n  - name: [x]\n",
        "FAB809",
        "warning",
        "/status/interfaces/1/name",
        (7, 5),
        "string",
    ),
    (
        "definition",
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec:\n  config: {type: sriov}\n",
        "FAB366",
        "error",
        "/spec/config",
        (5, 3),
        "expects a string",
    ),
    (
        "config_of_definition",
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec:\n  config: '{\"type\": \"sriov\",}'\n",
        "FAB103",
        "error",
        "/spec/config",
        (5, 28),
        "a comma before the closing bracket",
    ),
    (
        "config_without_plugin",
        "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec: {config: '{}'}\n",
        "FAB103",
        "error",
        "/spec/config",
        (4, 17),
        "`type` and `plugins` are both missing",
    ),
    (
        "device_plugin",
        "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nmetadata: {name: nic-cluster-policy}\nspec:\n  sriovDevicePlugin:\n    config: |\n      {\"resourceList\": [}\n",
        "FAB302",
        "error",
        "/spec/sriovDevicePlugin/config",
        (7, 25),
        "line 1, column 19, near `sourceList\": [}`: expected value",
    ),
];

/// Adds the trials.
pub(crate) fn add(suite: &mut Suite) {
    for fault in FAULTS {
        suite.add(format!("unreadable_facts::input::{}", fault.0), || Ok(input(fault)?));
        suite.add(format!("unreadable_facts::in_a_list::{}", fault.0), || Ok(in_a_list(fault)?));
        suite.add(format!("unreadable_facts::cluster::{}", fault.0), || Ok(cluster(fault)?));
    }
    suite.add("unreadable_facts::a_profile_is_an_input_error", || Ok(profile()?));
    suite.add("unreadable_facts::serve_starts_without_it", || Ok(serve()?));
    suite.add("unreadable_facts::a_good_fact_is_no_result", || {
        let good =
            "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodeState\nmetadata: {name: a}\n";
        let review = review(&["-".to_owned()], good.as_bytes(), crate::support::root())?;
        same("results", 0, review.results().len())?;
        let reason = review.list("skipped")[0]["reason"].as_str().unwrap_or_default().to_owned();
        Ok(same(
            "reason",
            "SriovNetworkNodeState: used as a fact about the cluster; no rule checks this object",
            reason.as_str(),
        )?)
    });
}

fn of_rule<'a>(review: &'a Review, rule: &str) -> Vec<&'a serde_json::Value> {
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    findings.filter(|f| f["rule"] == rule).collect()
}

fn good_is_reviewed(review: &Review) -> Result<(), String> {
    same("errors", 0, review.list("errors").len())?;
    let good = review.results().iter().any(|r| r["name"] == "good" && r["template"] == "");
    if good { Ok(()) } else { Err(format!("the pod is not reviewed: {}", review.json)) }
}

fn input((_, content, rule, severity, pointer, place, words): &Fault) -> Result<(), String> {
    let text = format!("{content}---\n{POD}");
    let review = review(&["-".to_owned()], text.as_bytes(), crate::support::root())?;
    same("exit code", i32::from(*severity == "error"), review.ran.code)?;
    good_is_reviewed(&review)?;
    let [finding] = of_rule(&review, rule)[..] else {
        return Err(format!("expected one {rule}: {}", review.json));
    };
    same("severity", Some(*severity), finding["severity"].as_str())?;
    same("pointer", Some(*pointer), finding["path"].as_str())?;
    let at = (finding["line"].as_u64(), finding["column"].as_u64());
    same("line and column", (Some(place.0), Some(place.1)), at)?;
    let message = finding["message"].as_str().unwrap_or_default();
    if message.contains(words) { Ok(()) } else { Err(format!("expected {words:?} in {message:?}")) }
}

/// The pointer is the object's, the place the file's.
fn in_a_list((_, content, rule, _, pointer, place, _): &Fault) -> Result<(), String> {
    let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for (number, line) in content.lines().enumerate() {
        text.push_str(if number == 0 { "- " } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    let review = review(&["-".to_owned()], text.as_bytes(), crate::support::root())?;
    let [finding] = of_rule(&review, rule)[..] else {
        return Err(format!("expected one {rule}: {}", review.json));
    };
    same("pointer", Some(*pointer), finding["path"].as_str())?;
    let at = (finding["line"].as_u64(), finding["column"].as_u64());
    same("line and column", (Some(place.0 + 3), Some(place.1 + 2)), at)
}

fn cluster((_, content, rule, _, pointer, (line, column), _): &Fault) -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("facts.yaml", content)?;
    scratch.write("pod.yaml", POD)?;
    let args = ["--cluster", "facts.yaml", "pod.yaml"].map(str::to_owned);
    let review = review(&args, b"", scratch.path())?;
    same("exit code", 0, review.ran.code)?;
    good_is_reviewed(&review)?;
    let reported: Vec<&str> = review.ran.stderr.lines().collect();
    if !matches!(*rule, "FAB366" | "FAB809") {
        return same("stderr", Vec::<&str>::new(), reported);
    }
    let start = format!("warning: facts.yaml:{line}:{column}: ");
    match reported[..] {
        [one] if one.starts_with(&start) && one.contains(pointer) => Ok(()),
        _ => Err(format!("expected one line {start:?} with {pointer}: {reported:?}")),
    }
}

fn profile() -> Result<(), String> {
    let text = format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: p}}\nspec: []\n---\n{POD}"
    );
    let review = review(&["-".to_owned()], text.as_bytes(), crate::support::root())?;
    same("exit code", 2, review.ran.code)?;
    same("errors", 1, review.list("errors").len())?;
    same("line", Some(4), review.list("errors")[0]["line"].as_u64())
}

/// It gets as far as the certificate, which is not there.
fn serve() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("facts.yaml", FAULTS[0].1)?;
    let args = [
        "serve",
        "--cluster",
        "facts.yaml",
        "--tls-cert",
        "absent",
        "--tls-key",
        "absent",
        "--bind",
        "127.0.0.1:0",
        "--admin-bind",
        "127.0.0.1:0",
    ];
    let ran = run(&args, b"", scratch.path())?;
    same("exit code", 2, ran.code)?;
    let warned = ran.stderr.lines().any(|l| l.starts_with("warning: facts.yaml:5:3: "));
    if warned && ran.stderr.contains("absent") { Ok(()) } else { Err(ran.stderr) }
}
