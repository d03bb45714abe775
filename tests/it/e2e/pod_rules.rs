//! Every rule on pods that can deny: its bad example is refused by a real API server, its good one is taken.

use super::support::plane::Plane;
use super::support::site::Site;
use super::trial;
use crate::support::round_trip::documents;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::rules::{MayBeIgnored, RULES, Rule, Severity};
use serde_json::Value;
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "rules_on_pods_deny_their_bad_examples", deny);
}

/// An example, taken apart.
struct Example {
    pods: Vec<Value>,
    profiles: String,
    facts: String,
}

impl Example {
    fn of(manifest: &str) -> Self {
        let all: Vec<Value> = documents(manifest.as_bytes()).into_iter().map(|(_, json)| json).collect();
        let those = |keep: &dyn Fn(&Value) -> bool| {
            let kept = all.iter().filter(|o| keep(o)).map(|o| format!("---\n{o}\n"));
            kept.collect::<String>()
        };
        Self {
            pods: all.iter().filter(|o| o["kind"] == "Pod").cloned().collect(),
            profiles: those(&|o| o["kind"] == "FabricProfile"),
            facts: those(&|o| o["kind"] != "FabricProfile" && o["kind"] != "Pod"),
        }
    }
}

/// Rules whose bad examples are errors only in the review of an operator: the webhook answers without the address pools and
/// interfaces that a pod's own networks name (docs/adr/0021-audiences.md).
const FOR_OPERATORS: [&str; 2] = ["FAB136", "FAB227"];

fn deny(plane: &Plane) -> Outcome {
    let judged = RULES
        .iter()
        .copied()
        .filter(|m| m.severity == Severity::Error && m.waiver != MayBeIgnored::File)
        .filter(|m| !Example::of(m.files.bad).pods.is_empty() && !FOR_OPERATORS.contains(&m.id));
    let judged: Vec<&Rule> = judged.collect();
    assert!(judged.len() > 15, "{} rules", judged.len());
    // Examples speak of the namespace `default`, where their networks are.
    plane.kubectl(
        &["label", "namespace", "default", "fabric-admission.dev/mode=enforce", "--overwrite"],
        "",
    )?;
    let outcome = judge_all(plane, &judged);
    plane.kubectl(&["label", "namespace", "default", "fabric-admission.dev/mode-"], "")?;
    let wrong = outcome?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn judge_all(plane: &Plane, judged: &[&Rule]) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let mut alone = Vec::new();
    let shared = Site::start(plane, &[], &[])?;
    for rule in judged {
        for (manifest, bad) in [(rule.files.bad, true), (rule.files.good, false)] {
            let example = Example::of(manifest);
            if example.profiles.is_empty() && example.facts.is_empty() {
                judge(plane, rule, &example, bad, &mut wrong)?;
            } else {
                alone.push((*rule, example, bad));
            }
        }
    }
    drop(shared);
    for (rule, example, bad) in alone {
        let mut files = Vec::new();
        // In the place of the site's own profile, where the example brings one.
        if !example.profiles.is_empty() {
            files.push(("profiles.yaml", example.profiles.as_str()));
        }
        files.push(("facts.yaml", example.facts.as_str()));
        let _site = Site::start(plane, &files, &["--cluster", "facts.yaml"])?;
        judge(plane, rule, &example, bad, &mut wrong)?;
    }
    Ok(wrong)
}

fn judge(
    plane: &Plane,
    rule: &Rule,
    example: &Example,
    bad: bool,
    wrong: &mut Vec<String>,
) -> Result<(), String> {
    let id = rule.id;
    let mut refused = false;
    for pod in &example.pods {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or("default");
        if namespace != "default" {
            plane.apply(&format!(
                "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}, labels: {{fabric-admission.dev/mode: enforce}}}}\n"
            ))?;
        }
        let args = ["create", "--dry-run=server", "-n", namespace, "-f", "-"];
        let done = plane.kubectl(&args, &pod.to_string())?;
        // What the API server refuses by itself never reaches the final rules.
        let ours = done.stderr.contains(id) || rule.waiver == MayBeIgnored::Api;
        match (bad, done.ok) {
            (false, false) => wrong.push(format!("{id}, good: {}", done.stderr)),
            (true, false) if ours => refused = true,
            (true, false) => wrong.push(format!("{id}, bad: {}", done.stderr)),
            _ => {}
        }
    }
    if bad && !refused {
        wrong.push(format!("{id}: the bad example is taken"));
    }
    Ok(())
}
