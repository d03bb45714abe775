//! Padding hides no error: what a rule needs is found wherever it stands, or a finding names what is not checked.

use crate::support::root;
use crate::support::round_trip::{review, same};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("beyond_limits::sidecars_hide_no_resource", resources);
    suite.add("beyond_limits::repeated_networks_hide_no_network", networks);
    suite.add("beyond_limits::equal_terms_of_an_affinity_count_once", terms);
    suite.add("beyond_limits::a_reference_counts_as_it_is_written", references);
    suite.add("beyond_limits::containers_whose_variables_are_not_read", containers);
}

/// The profile requires `NCCL_NET=IB`.
const PROFILE: &str = "examples/profiles/h100-roce.yaml";

/// The rules that report a pod of these containers.
fn rules(annotations: &Value, containers: &[Value]) -> Result<Vec<String>, String> {
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "training", "annotations": annotations}, "spec": {"containers": containers}});
    let arguments = ["--profiles", PROFILE, "-"].map(str::to_owned);
    let mut rules = review(&arguments, pod.to_string().as_bytes(), root())?.rules();
    rules.dedup();
    Ok(rules)
}

fn trainer(env: &Value, resource: &str) -> Value {
    json!({"name": "trainer", "image": "example.com/c:1", "env": env,
        "resources": {"limits": {"nvidia.com/gpu": "8", resource: "1"}}})
}

fn env(value: &str) -> Value {
    json!([{"name": "NCCL_NET", "value": value}])
}

fn reports(what: &str, expected: bool, rule: &str, found: &[String]) -> Result<(), String> {
    same(&format!("{what}: {rule} in {found:?}"), expected, found.iter().any(|other| other == rule))
}

fn resources() -> Outcome {
    let sidecar = |i: usize| {
        json!({"name": format!("s{i}"), "image": "example.com/s:1",
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}})
    };
    for sidecars in [0, 200] {
        let mut containers: Vec<Value> = (0..sidecars).map(sidecar).collect();
        containers.push(trainer(&env("Socket"), "openshift.io/roce_rail0"));
        let found = rules(&json!({}), &containers)?;
        reports(&format!("{sidecars} sidecars"), true, "FAB403", &found)?;
        reports(&format!("{sidecars} sidecars"), false, "FAB803", &found)?;
    }
    Ok(())
}

fn networks() -> Outcome {
    for repeated in [0, 200] {
        let list = vec!["a"; repeated].into_iter().chain(["fabric/net-rail0"]).collect::<Vec<_>>().join(",");
        let annotations = json!({"k8s.v1.cni.cncf.io/networks": list});
        let found = rules(&annotations, &[trainer(&env("Socket"), "example.com/x")])?;
        reports(&format!("{repeated} networks before"), true, "FAB403", &found)?;
    }
    Ok(())
}

fn references() -> Outcome {
    let of_profile = json!({"fabric-admission.dev/profile": "h100-roce"});
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    let named = |value: &str| vec![variable("A", value), variable("NCCL_NET", "$(A)")];
    let padded = |more: Vec<Value>| [more, named("Socket")].concat();
    let many = (0..5_000).map(|i| variable(&format!("P{i}"), "x")).collect();
    let long = (0..5).map(|i| variable(&format!("Q{i}"), &format!("$(Q{i}){}", "y".repeat(4_000)))).collect();
    let text = vec![variable("E", ""), variable("NCCL_NET", &format!("{}Socket", "$(E)".repeat(1_100)))];
    for (what, env, refused) in [
        ("the required value", named("IB"), false),
        ("another value", named("Socket"), true),
        ("after many variables", padded(many), true),
        ("after long references", padded(long), true),
        ("a long text", text, true),
    ] {
        let found = rules(&of_profile, &[trainer(&env.into(), "openshift.io/roce_rail0")])?;
        reports(what, refused, "FAB403", &found)?;
    }
    Ok(())
}

fn containers() -> Outcome {
    let debugging = |i: usize| json!({"name": format!("c{i}"), "image": "example.com/c:1", "env": [{"name": "NCCL_DEBUG", "value": "WARN"}]});
    let off = json!([{"name": "NCCL_NET", "value": "IB"}, {"name": "NCCL_IB_DISABLE", "value": "1"}]);
    for (before, rule, other) in [(63, "FAB413", "FAB820"), (64, "FAB820", "FAB413")] {
        let mut containers: Vec<Value> = (0..before).map(debugging).collect();
        containers.push(trainer(&off, "rdma/hca"));
        let found = rules(&json!({}), &containers)?;
        reports(&format!("{before} containers before"), true, rule, &found)?;
        reports(&format!("{before} containers before"), false, other, &found)?;
    }
    Ok(())
}

/// A pod that names a lax profile and asks for the nodes of a strict one. Terms that are equal or contradict themselves change
/// nothing.
fn terms() -> Outcome {
    let profile = |name: &str, spec: Value| json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec});
    let strict = json!({"transport": "ethernet", "attachment": "none", "nodeSelector": {"matchLabels": {"pool": "strict"}},
        "env": [{"name": "NCCL_IB_TC", "value": "106", "policy": "require"}]});
    let lax = json!({"transport": "ethernet", "attachment": "none"});
    let is_in = |pool: &str| json!({"key": "pool", "operator": "In", "values": [pool]});
    let asking = json!({"matchExpressions": [is_in("strict")]});
    let impossible = |i: usize| json!({"matchExpressions": [is_in("strict"), is_in(&format!("other{i}"))]});
    let with = |more: Vec<Value>| [more, vec![asking.clone()]].concat();
    for (what, terms) in [
        ("one term", with(vec![])),
        ("equal terms", vec![asking.clone(); 200]),
        ("impossible terms", with((0..200).map(impossible).collect())),
    ] {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "training",
                "annotations": {"fabric-admission.dev/profile": "lax"}},
            "spec": {"containers": [{"name": "c", "image": "example.com/c:1", "env": [{"name": "NCCL_IB_TC", "value": "0"}],
                "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}});
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({ "nodeSelectorTerms": terms });
        let all = [profile("strict", strict.clone()), profile("lax", lax.clone()), pod];
        let input: String = all.iter().map(|object| format!("---\n{object}\n")).collect();
        let rules = review(&["-".to_owned()], input.as_bytes(), root())?.rules();
        reports(what, true, "FAB403", &rules)?;
    }
    Ok(())
}
