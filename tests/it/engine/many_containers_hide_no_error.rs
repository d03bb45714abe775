//! A denial stays, however many harmless containers stand beside the reason for it: each of them may have findings of its
//! own, and the number of findings of a rule is limited.

use crate::support::generated_cases;
use crate::support::generated_documents::Documents;
use crate::support::generated_world::{World, of_rule};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::demands::AcceleratorDemands;
use fabric_admission::profile::schema::EnvPolicy;
use fabric_admission::review::Decision;
use fabric_admission::rules::{RULES, Severity};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// More than a rule may have findings.
const CROWD: usize = 60;
/// What holds whatever the pod's author writes: namespace isolation, and the profile of the pod's nodes.
const HELD: [&str; 2] = ["FAB150", "FAB403"];
/// A device that NCCL must not use may be for another container, so this error needs a pod without others.
const OF_OTHERS: &str = "FAB401";
const CONTAINERS: &str = "fabric-admission.dev/containers";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("many_containers_hide_no_error::hides_no_error_of_an_example", || {
        let examples = RULES.iter().filter(|rule| rule.files.no_example.is_empty()).map(|rule| of_rule(rule));
        let examples: Vec<Value> = examples.filter(|case| case["pod"]["spec"].is_object()).collect();
        let denied = examples.iter().map(hides_nothing).collect::<Result<Vec<bool>, String>>()?;
        let denied = denied.into_iter().filter(|denied| *denied).count();
        if denied < 15 { Err(format!("only {denied} examples are denied").into()) } else { Ok(()) }
    });
    let name = "many_containers_hide_no_error::hides_no_error";
    suite.add(name, move || {
        check(name, 100, Documents(generated_cases::case), |case| {
            hides_nothing(&case.0)?;
            hides_nothing(&breaks_its_profile(&case.0)).map(drop)
        })
    });
}

/// The case with a profile that forbids what each container of the pod sets.
fn breaks_its_profile(case: &Value) -> Value {
    let mut case = case.clone();
    let wish = json!({"name": "NCCL_SOCKET_IFNAME", "value": "eth0"});
    let forbidden = json!({"name": "NCCL_ALGO", "policy": "forbid"});
    for spec in case["profiles"].as_array_mut().into_iter().flatten().filter_map(|p| p.get_mut("spec")) {
        if spec.is_object() {
            spec["env"] = json!([wish, forbidden]);
        }
    }
    // Shrinking makes fields of other types.
    let containers = case.pointer_mut("/pod/spec/containers").and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten().filter(|container| container.is_object()) {
        container["env"] = json!([{"name": "NCCL_ALGO", "value": "Ring"}]);
    }
    case
}

/// Rules with an error.
fn errors(decision: &Decision) -> BTreeSet<&'static str> {
    decision.findings.iter().filter(|f| f.severity == Severity::Error).map(|f| f.rule).collect()
}

/// Compares the errors of a pod with those of the same pod in a crowd. Returns whether there were any.
fn hides_nothing(case: &Value) -> Result<bool, String> {
    let world = World::new(case);
    // Shrinking makes pods that the API server would refuse.
    let Some(alone) = world.decide().map(|decision| errors(&decision)) else { return Ok(false) };
    for targets in [false, true] {
        let Some(pod) = crowded(&world, targets) else { return Ok(false) };
        let Some(beside) = world.decide_on(&pod).map(|decision| errors(&decision)) else { return Ok(false) };
        // With the annotation, the webhook may add nothing. Then it has no reason to report errors about its additions.
        let may_go = |rule: &str| rule == OF_OTHERS || targets && !HELD.contains(&rule);
        if let Some(hidden) = alone.difference(&beside).find(|rule| !may_go(rule)) {
            return Err(format!("{hidden} is hidden (all containers are targets: {targets}): {}", world.pod));
        }
    }
    Ok(!alone.is_empty())
}

/// The pod with harmless containers before its own, or after them if these request no accelerators: some profiles are then for
/// the first container (network-resources-injector). The harmless containers have no resources, and another value for
/// each variable that profiles only wish for, also with spelling mistakes. `targets`: an annotation names all of them.
fn crowded(world: &World, targets: bool) -> Option<Value> {
    let mut pod = world.pod.clone();
    let lists = world.snapshot.profiles().flat_map(|profile| &profile.env);
    let env: Vec<Value> = lists
        .filter(|entry| entry.policy == EnvPolicy::Default)
        .flat_map(|entry| [entry.name.to_string(), format!("{}S", entry.name)])
        .chain(["NCCL_DEBUGS".to_owned()])
        .take(20)
        .map(|name| json!({"name": name, "value": "7"}))
        .collect();
    let containers = pod["spec"]["containers"].as_array()?;
    let idle = |at: usize| json!({"name": format!("idle-{at}"), "image": "example.com/idle:1", "env": env});
    let mut all: Vec<Value> = (0..CROWD).map(idle).chain(containers.iter().cloned()).collect();
    let text = pod.to_string();
    let demands = AcceleratorDemands::demands_of_pod(
        &serde_json::from_str(&text).ok()?,
        &world.namespace,
        &world.snapshot,
    );
    if !(0..containers.len()).any(|index| demands.of_app_container(index).any) {
        all.rotate_left(CROWD);
    }
    if targets {
        // The list may not name the proxy of a mesh.
        let own =
            || all.iter().filter(|c| !matches!(c["name"].as_str(), Some("istio-proxy" | "linkerd-proxy")));
        let names = own().filter_map(|c| c["name"].as_str()).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.collect();
        let annotations = pod["metadata"]["annotations"].as_object();
        // A list of the pod's author decides which containers get the fabric. No list can have a container without a name.
        if names.len() < own().count() || annotations.is_some_and(|a| a.contains_key(CONTAINERS)) {
            return None;
        }
        if !pod["metadata"]["annotations"].is_object() {
            pod["metadata"]["annotations"] = json!({});
        }
        pod["metadata"]["annotations"][CONTAINERS] = names.join(",").into();
    }
    pod["spec"]["containers"] = all.into();
    Some(pod)
}
