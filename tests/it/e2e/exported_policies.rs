//! `rules export`: what the API server judges by itself says what our rules say of the same object.

use super::corpus_pods::corpus_samples;
use super::exported_object_policies::network_crds;
use super::support::creates::{Created, Creator, each};
use super::support::plane::Plane;
use super::support::policies::Policies;
use super::trial;
use crate::support::api_pods::{Site, pod};
use crate::support::generated_documents::{Dice, Documents};
use crate::support::generated_world::World;
use crate::support::round_trip::documents;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::Stage;
use fabric_admission::rules::{RULES, Rule, Severity};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Generated pods that are compared.
const PODS: usize = 400;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "policies_speak_of_bad_examples_alone", examples);
    trial(suite, assets, "policies_judge_pods_as_the_rules_do", pods_alike);
    trial(suite, assets, "policies_bear_the_largest_pods", largest);
}

pub(super) fn exported() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().filter(|rule| rule.cel().is_some())
}

/// The objects of an example that its rule looks at, in a namespace.
pub(super) fn subjects(rule: &Rule, manifest: &str, namespace: &str) -> Vec<Value> {
    let all = documents(manifest.as_bytes()).into_iter().map(|(_, object)| object);
    let looked_at = all.filter(|object| {
        let kind = object["kind"].as_str().unwrap_or_default();
        if rule.kinds.is_empty() { kind == "Pod" } else { rule.kinds.iter().any(|(_, k)| *k == kind) }
    });
    looked_at
        .map(|mut object| {
            object["metadata"]["namespace"] = namespace.into();
            object
        })
        .collect()
}

fn examples(plane: &Plane) -> Outcome {
    let _crds = network_crds(plane)?;
    let policies = Policies::apply(plane, &["--network-objects", "enforce"])?;
    let namespace = plane.namespace(&[("fabric-admission.dev/mode", "enforce")])?;
    let create = |object: &Value| {
        plane.kubectl(&["create", "--dry-run=server", "--validate=ignore", "-f", "-"], &object.to_string())
    };
    let mut count = 0;
    for rule in exported() {
        let cel = rule.cel().ok_or("no CEL")?;
        let worst = cel.checks.iter().map(|c| c.severity).max().ok_or("no checks")?;
        let bad = subjects(rule, rule.files.bad, &namespace);
        let good = subjects(rule, rule.files.good, &namespace);
        assert!(!bad.is_empty() && !good.is_empty(), "{}: nothing to try", rule.id);
        policies.until(&format!("{} speaks of its bad example", rule.id), || {
            let done: Vec<_> = bad.iter().map(create).collect::<Result<_, _>>()?;
            let unknown = done.iter().find(|d| d.stderr.contains("no matches for kind"));
            unknown.map_or(Ok(()), |d| Err(d.stderr.clone()))?;
            Ok(done.iter().any(|d| d.stderr.contains(rule.id) && d.ok == (worst < Severity::Error)))
        })?;
        for object in &good {
            let done = create(object)?;
            assert!(
                done.ok && !done.stderr.contains("ValidatingAdmissionPolicy"),
                "{}: {}",
                rule.id,
                done.stderr
            );
        }
        count += 1;
    }
    eprintln!("{count} of {} rules are policies", RULES.len());
    Ok(())
}

/// What speaks of a pod: rules, each as error or warning.
pub(super) type Said = BTreeSet<(String, Severity)>;

/// Creates a pod where every policy only warns; the stored pod and what they say.
fn warned(api: &mut Creator<'_>, namespace: &str, pod: &Value) -> Result<Option<(Value, Said)>, String> {
    said(api.create_warned(namespace, pod)?)
}

/// What was stored, and what the policies say of it; `None` where it is refused.
pub(super) fn said((created, warnings): Created) -> Result<Option<(Value, Said)>, String> {
    let Ok(stored) = created else { return Ok(None) };
    let mut said = Said::new();
    for warning in warnings {
        let Some(rest) = warning.split("ValidatingAdmissionPolicy '").nth(1) else { continue };
        if warning.contains("resulted in error") || warning.contains("budget") {
            return Err(format!("an expression fails: {warning}"));
        }
        // Validation failed for ValidatingAdmissionPolicy 'NAME' with binding 'NAME': FABnnn …
        let name = rest.split(['.', '\'']).next().unwrap_or_default();
        let id =
            rest.split_once("': ").and_then(|(_, message)| message.split(' ').next()).unwrap_or_default();
        let rule = fabric_admission::rules::find_rule(id).ok_or(format!("no rule {id}: {warning}"))?;
        let severity = match name {
            "pod-errors" => Severity::Error,
            _ if name.contains("-warning") => Severity::Warning,
            _ => rule.severity,
        };
        said.insert((rule.id.to_owned(), severity));
    }
    Ok(Some((stored, said)))
}

fn pods_alike(plane: &Plane) -> Outcome {
    let policies = Policies::apply(plane, &[])?;
    let namespace = plane.namespace(&[("fabric-admission.dev/mode", "audit")])?;
    ready(&policies, plane, &namespace)?;
    let config = Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let any = |dice: &mut Dice<'_>| pod(&Site { profiles: &["gone"] }, dice);
    let mut pods = Vec::new();
    for _ in 0..PODS {
        pods.push(Documents(any).new_tree(&mut runner)?.current().0);
    }
    pods.extend(corpus_samples()?);
    for rule in exported().filter(|r| r.kinds.is_empty()) {
        pods.extend([rule.files.bad, rule.files.good].iter().flat_map(|m| subjects(rule, m, &namespace)));
    }
    let case = json!({"profiles": [], "objects": [], "namespace": {"name": namespace}});
    let world = World::new(&case);
    let results = each(plane, &pods, |api, pod| {
        let Some((stored, said)) = warned(api, &namespace, pod)? else { return Ok(None) };
        let decision = world
            .decide_as(&stored, Stage::Final, EnforcementMode::Audit)
            .ok_or("the engine cannot read it")?;
        let ours: Said = decision
            .findings
            .iter()
            .filter(|f| f.severity > Severity::Info)
            .map(|f| (f.rule.to_owned(), f.severity))
            .collect();
        Ok::<_, String>(Some((stored, said, ours)))
    });
    let mut taken = 0;
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut problems = Vec::new();
    for result in results {
        let Some((mut stored, said, ours)) = result? else { continue };
        stored["metadata"].as_object_mut().map(|m| m.remove("managedFields"));
        taken += 1;
        for (id, severity) in &said {
            counts.entry(id.clone()).or_default().0 += 1;
            if !ours.contains(&(id.clone(), *severity)) {
                problems.push(format!("the policy says {id} as {severity}, the rule does not: {stored}"));
            }
        }
        for rule in exported().filter(|r| r.kinds.is_empty()) {
            let Some(cel) = rule.cel() else { continue };
            let id = rule.id;
            let own: Vec<_> = ours.iter().filter(|(rule, _)| rule == id).collect();
            counts.entry(id.to_owned()).or_default().1 += usize::from(!own.is_empty());
            if cel.beyond.is_none() && own.iter().any(|o| !said.contains(o)) {
                problems.push(format!("the rule says {own:?}, the policy does not: {stored}"));
            }
        }
    }
    eprintln!(
        "{taken} of {} pods; by rule, spoken of by the policy and by the rule: {counts:#?}",
        pods.len()
    );
    assert!(
        problems.is_empty(),
        "{} problems, such as\n{}",
        problems.len(),
        problems[..problems.len().min(3)].join("\n")
    );
    assert!(taken * 2 > pods.len(), "too few pods are taken");
    let silent: Vec<_> = counts.iter().filter(|(_, (policy, _))| *policy == 0).map(|(id, _)| id).collect();
    assert!(silent.is_empty(), "never seen to speak: {silent:?}");
    Ok(())
}

/// Waits until every policy on pods is in force, by its bad example.
fn ready(policies: &Policies<'_>, plane: &Plane, namespace: &str) -> Result<(), String> {
    let mut api = Creator::new(plane);
    for rule in exported().filter(|r| r.kinds.is_empty()) {
        let bad = subjects(rule, rule.files.bad, namespace);
        policies.until(&format!("{} is in force", rule.id), || {
            for pod in &bad {
                let said = warned(&mut api, namespace, pod)?.map(|(_, said)| said).unwrap_or_default();
                if said.iter().any(|(id, _)| id == rule.id) {
                    return Ok(true);
                }
            }
            Ok(false)
        })?;
    }
    Ok(())
}

/// No pod that the API server takes costs more than CEL may: it takes 3 MiB.
fn largest(plane: &Plane) -> Outcome {
    let policies = Policies::apply(plane, &[])?;
    let namespace = plane.namespace(&[("fabric-admission.dev/mode", "audit")])?;
    ready(&policies, plane, &namespace)?;
    let mut api = Creator::new(plane);
    for (name, pod) in large_pods() {
        let size = pod.to_string().len();
        let start = Instant::now();
        let said = warned(&mut api, &namespace, &pod).map_err(|e| format!("{name} of {size} bytes: {e}"))?;
        let took = start.elapsed();
        let (_, said) = said.ok_or(format!("{name} of {size} bytes is refused"))?;
        let said: Vec<&str> = said.iter().map(|(id, _)| id.as_str()).collect();
        eprintln!("{name}, {size} bytes, {took:.1?}: {}", said.join(" "));
        // Without the limits of the policies, the API server gives up on the arguments after 34 s.
        assert!(took < Duration::from_secs(15), "{name} of {size} bytes: {took:.1?}");
    }
    Ok(())
}

/// Pods that nobody writes: each list that a policy walks as long as the API server, or the policy, takes it.
fn large_pods() -> Vec<(&'static str, Value)> {
    let pod = |containers: Vec<Value>, volumes: Value, annotations: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "annotations": annotations},
               "spec": {"containers": containers, "volumes": volumes}})
    };
    let container = |i: usize| {
        json!({"name": format!("c{i}"), "image": "a", "securityContext": {"privileged": true},
               "resources": {"limits": {"nvidia.com/gpu": 8, "rdma/a": 1}}})
    };
    let with = |key: &str, list: Vec<Value>| {
        let mut container = container(0);
        container[key] = list.into();
        vec![container]
    };
    let env =
        |n: usize| (0..n).map(|i| json!({"name": format!("NCCL_IB_{i}"), "value": "0"})).collect::<Vec<_>>();
    let hundred = (0..100).map(|i| {
        let mut container = container(i);
        container["env"] = env(60).into();
        container
    });
    let (mut capable, mut hungry) = (vec![container(0)], vec![container(0)]);
    let capabilities: Vec<String> = (0..10_000).map(|i| format!("A{i}")).collect();
    capable[0]["securityContext"]["capabilities"] = json!({"add": capabilities});
    hungry[0]["resources"]["limits"]["cpu"] = 1.into();
    for i in 1..10_000 {
        hungry[0]["resources"]["limits"][format!("hugepages-{i}")] = "0".into();
    }
    let volumes: Vec<Value> = (0..190).map(|i| json!({"name": format!("v{i}"), "emptyDir": {}})).collect();
    let mounts = (0..2000).map(|i| json!({"name": "v0", "mountPath": format!("/dev/shm/{i}")})).collect();
    let mounting = (0..100).map(|i| {
        let mounts =
            (0..200).map(|m| json!({"name": "v0", "mountPath": format!("/dev/shm/{m}")})).collect::<Vec<_>>();
        let mut container = container(i);
        container["volumeMounts"] = mounts.into();
        container
    });
    let networks = vec!["default/rdma-net"; 15_000].join(",");
    let keys: BTreeMap<String, &str> = (0..2000).map(|i| (format!("example.com/key-{i}"), "a")).collect();
    let (none, one) = (Value::Null, || vec![container(0)]);
    vec![
        ("thousands of containers", pod((0..3000).map(container).collect(), none.clone(), none.clone())),
        ("a hundred containers", pod(hundred.collect(), none.clone(), none.clone())),
        ("variables", pod(with("env", env(3000)), none.clone(), none.clone())),
        ("arguments", pod(with("args", vec!["a".into(); 100_000]), none.clone(), none.clone())),
        ("capabilities", pod(capable, none.clone(), none.clone())),
        ("resources", pod(hungry, none.clone(), none.clone())),
        ("mounts", pod(with("volumeMounts", mounts), volumes.clone().into(), none.clone())),
        ("mounts of a hundred containers", pod(mounting.collect(), volumes.into(), none.clone())),
        ("networks", pod(one(), none.clone(), json!({"k8s.v1.cni.cncf.io/networks": networks}))),
        ("annotations", pod(one(), none, json!(keys))),
    ]
}
