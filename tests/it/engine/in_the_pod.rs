//! The containers that a profile adds to pods: they cost a pod nothing that it did not have, keep its class, and stand
//! beside others that add init containers.

use crate::support::generated_cases;
use crate::support::generated_documents::Documents;
use crate::support::generated_world::World;
use crate::support::in_the_pod::IMAGE;
use crate::support::run_property::check;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::pod::Quantity;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn add(suite: &mut Suite) {
    let name = "in_the_pod::effective_requests_and_class_stay";
    suite
        .add(name, move || check(name, 400, Documents(generated_cases::case), |case| costs_nothing(&case.0)));
    for (name, write) in WRITERS {
        suite.add(format!("in_the_pod::beside_{name}"), move || every_order(*write));
    }
    suite.add("in_the_pod::a_user_keeps_own_containers_of_the_names", names_of_the_user);
    suite.add("in_the_pod::devices_are_counted_once", counted_once);
    suite.add("in_the_pod::the_text_of_a_review_is_copied", copied_from_a_review);
    suite.add("in_the_pod::long_settings_are_not_copied", long_settings);
}

/// The case with and without the containers, in every profile that may have them.
fn costs_nothing(case: &Value) -> Result<(), String> {
    let with = |on: bool| {
        let mut case = case.clone();
        for profile in case["profiles"].as_array_mut().into_iter().flatten() {
            let Some(spec) = profile["spec"].as_object_mut() else { continue };
            spec.remove("preflight");
            spec.remove("monitor");
            if on && spec.get("inject").is_none_or(|inject| inject == "full") {
                spec.insert("preflight".into(), json!({"image": IMAGE}));
                spec.insert("monitor".into(), json!({"image": IMAGE}));
            }
        }
        World::new(&case)
    };
    let (off, on) = (with(false), with(true));
    if off.decide().map(|d| d.profile) != on.decide().map(|d| d.profile) {
        return Ok(()); // The base of the profile has another level, so the profile with containers is refused.
    }
    let (before, after) = (off.patched()?, on.patched()?);
    let (least, most) = (effective(&before), effective(&after));
    for name in least.keys().chain(most.keys()).collect::<BTreeSet<_>>() {
        let (least, most) = (least.get(name).copied().unwrap_or(0), most.get(name).copied().unwrap_or(0));
        // The monitor's own, in units rounded up.
        let own = match name.as_str() {
            "cpu" => 1,
            "memory" => 64 << 20,
            "ephemeral-storage" => 16 << 20,
            _ => 0,
        };
        if most < least || most > least.saturating_add(own) {
            return Err(format!("{name}: {least} without our containers, {most} with them"));
        }
    }
    let (old, new) = (class(&before), class(&after));
    if old != new {
        return Err(format!("the pod was {old} and is {new}"));
    }
    Ok(())
}

fn list<'v>(pod: &'v Value, key: &str) -> Vec<&'v Value> {
    pod["spec"][key].as_array().into_iter().flatten().collect()
}

fn amounts(container: &Value, key: &str) -> BTreeMap<String, i64> {
    let units = |v: &Value| {
        let text = v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        Quantity::parse(&text).map_or(0, |q| q.units_rounded_up().max(0))
    };
    let all = container["resources"][key].as_object().into_iter().flatten();
    all.filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), units(v))).collect()
}

/// The request of each resource as the API server defaults it.
fn requests(container: &Value) -> BTreeMap<String, i64> {
    let mut all = amounts(container, "limits");
    all.extend(amounts(container, "requests"));
    all
}

/// What the scheduler counts (KEP-753).
fn effective(pod: &Value) -> BTreeMap<String, i64> {
    let mut sidecars: BTreeMap<String, i64> = BTreeMap::new();
    let mut most: BTreeMap<String, i64> = BTreeMap::new();
    let add = |sum: &mut BTreeMap<String, i64>, one: &BTreeMap<String, i64>| {
        one.iter().for_each(|(k, v)| {
            let entry = sum.entry(k.clone()).or_default();
            *entry = entry.saturating_add(*v);
        });
    };
    let raise = |most: &mut BTreeMap<String, i64>, one: &BTreeMap<String, i64>| {
        one.iter().for_each(|(k, v)| {
            let entry = most.entry(k.clone()).or_default();
            *entry = (*entry).max(*v);
        });
    };
    for container in list(pod, "initContainers") {
        let mut now = sidecars.clone();
        add(&mut now, &requests(container));
        raise(&mut most, &now);
        if container["restartPolicy"] == "Always" {
            sidecars = now;
        }
    }
    let mut all = sidecars;
    list(pod, "containers").into_iter().for_each(|c| add(&mut all, &requests(c)));
    raise(&mut most, &all);
    most
}

/// Quality of service (k8s.io/kubernetes pkg/apis/core/v1/helper/qos).
fn class(pod: &Value) -> &'static str {
    let all: Vec<&Value> = list(pod, "containers").into_iter().chain(list(pod, "initContainers")).collect();
    let both = ["cpu", "memory"];
    let any = all.iter().any(|c| {
        let requests = requests(c);
        both.iter().any(|name| requests.get(*name).is_some_and(|n| *n > 0))
    });
    let guaranteed = all.iter().all(|c| {
        let (limits, requests) = (amounts(c, "limits"), requests(c));
        both.iter().all(|name| limits.get(*name).is_some_and(|n| *n > 0 && requests.get(*name) == Some(n)))
    });
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

type Write = fn(&mut Value);

/// Others that add init containers, each once.
const WRITERS: &[(&str, Write); 4] = &[
    // istio/istio pkg/kube/inject: its containers stand first.
    ("istio", |pod| {
        put_first(
            pod,
            json!({"name": "istio-proxy", "image": "proxyv2:1", "restartPolicy": "Always", "args": ["proxy"]}),
        );
        put_first(pod, json!({"name": "istio-init", "image": "proxyv2:1"}));
    }),
    // NVIDIA/NVSentinel preflight/pkg/webhook, before or behind the containers that are there.
    ("nvsentinel_first", |pod| put_first(pod, diagnosis())),
    ("nvsentinel_last", |pod| put_last(pod, diagnosis())),
    ("an_app_container", |pod| {
        let containers = pod["spec"]["containers"].as_array_mut().unwrap();
        if containers.iter().all(|c| c["name"] != "linkerd-proxy") {
            containers.insert(0, json!({"name": "linkerd-proxy", "image": "proxy:1"}));
        }
    }),
];

fn diagnosis() -> Value {
    json!({"name": "preflight-dcgm-diag", "image": "dcgm:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}})
}

fn init(pod: &mut Value) -> &mut Vec<Value> {
    if !pod["spec"]["initContainers"].is_array() {
        pod["spec"]["initContainers"] = json!([]);
    }
    pod["spec"]["initContainers"].as_array_mut().unwrap()
}

fn put_first(pod: &mut Value, container: Value) {
    let list = init(pod);
    list.retain(|c| c["name"] != container["name"]);
    list.insert(0, container);
}

fn put_last(pod: &mut Value, container: Value) {
    let list = init(pod);
    if list.iter().all(|c| c["name"] != container["name"]) {
        list.push(container);
    }
}

fn world(pod: &Value) -> World {
    let rails = json!([{"network": "fabric/net", "resource": "example.com/vf", "count": 8}]);
    let spec = json!({"base": "roce-sriov", "rails": rails, "preflight": {"image": IMAGE}, "monitor": {"image": IMAGE}});
    let profile = json!({
        "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "site"}, "spec": spec,
    });
    World::new(&json!({"pod": pod, "profiles": [profile], "namespace": {"name": "team"}, "mutate": true}))
}

fn trainer() -> Value {
    json!({
        "metadata": {"name": "p", "namespace": "team", "annotations": {"fabric-admission.dev/profile": "site"}},
        "spec": {"containers": [{"name": "t", "image": "t:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
    })
}

fn us(pod: &Value) -> Result<(Value, bool), String> {
    let world = world(pod);
    let decision = world.decide().ok_or("the pod cannot be read")?;
    Ok((world.patched()?, decision.patch.is_empty()))
}

fn names(pod: &Value) -> Vec<&str> {
    list(pod, "initContainers").into_iter().filter_map(|c| c["name"].as_str()).collect()
}

/// In any order and again, the pod comes to rest, with each container once and ours in their order.
fn every_order(write: Write) -> Outcome {
    for calls in ["wu", "uw", "wuw", "uwu", "uwuw"] {
        let mut pod = trainer();
        for call in calls.chars() {
            match call {
                'w' => write(&mut pod),
                _ => pod = us(&pod)?.0,
            }
        }
        let (_, rests) = us(&pod)?;
        let all = names(&pod);
        let ours: Vec<&str> = all.iter().copied().filter(|n| n.starts_with("fabric-")).collect();
        let once = all.iter().collect::<BTreeSet<_>>().len() == all.len();
        if !rests || !once || ours != ["fabric-install", "fabric-preflight", "fabric-monitor"] {
            return Err(format!("{calls}: {all:?}, rests: {rests}").into());
        }
        let mut twice = pod.clone();
        write(&mut twice);
        if twice != pod {
            return Err(format!("{calls}: the other writer does not rest").into());
        }
    }
    Ok(())
}

/// The user's container with the name of our container is not changed, whatever it starts. FAB821 reports the name.
fn names_of_the_user() -> Outcome {
    for (name, rest) in [
        ("fabric-preflight", json!({"command": ["/fabric-admission/fabric-admission", "serve"]})),
        ("fabric-preflight", json!({"args": ["preflight"]})),
        ("fabric-monitor", json!({"args": ["monitor"]})),
        ("fabric-install", json!({"command": ["cp", "a", "b"]})),
    ] {
        let mut pod = trainer();
        let mut container = json!({"name": name, "image": "own:1"});
        container.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        put_last(&mut pod, container.clone());
        let (patched, _) = us(&pod)?;
        let found = list(&patched, "initContainers").into_iter().filter(|c| c["name"] == name).count();
        let findings = world(&pod).decide().ok_or("the pod cannot be read")?.findings;
        if found != 1 || patched["spec"]["initContainers"][0] != container {
            return Err(format!("{name}: {patched:#}").into());
        }
        if findings.iter().all(|f| f.rule != "FAB821") {
            return Err(format!("{container}: {findings:?}").into());
        }
    }
    Ok(())
}

/// Our own containers count for nothing: the accelerators, `/dev/shm` and units of the pod that is created again from its
/// dump are those of the first.
fn counted_once() -> Outcome {
    let pod = trainer();
    let (patched, _) = us(&pod)?;
    let (first, second) = (world(&pod).decide().unwrap(), world(&patched).decide().unwrap());
    let of = |d: &fabric_admission::review::Decision| (d.plan.accelerators, d.plan.targets.clone());
    if of(&first) != of(&second) || !second.findings.is_empty() {
        return Err(format!("{:?} and {:?}: {:?}", of(&first), of(&second), second.findings).into());
    }
    Ok(())
}

/// Fields that our read model does not have are in the copy, also where the pod is read together with its review.
fn copied_from_a_review() -> Outcome {
    use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
    let mut pod = trainer();
    pod["spec"]["containers"][0]["securityContext"] =
        json!({"seccompProfile": {"type": "RuntimeDefault"}, "runAsGroup": 7, "future": {"a": [1.50]}});
    pod["spec"]["containers"][0]["imagePullPolicy"] = "Never".into();
    pod["spec"]["containers"][0]["env"] =
        json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}}]);
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let request = json!({"uid": "u", "kind": kind, "namespace": "team", "operation": "CREATE", "object": pod, "oldObject": null});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    let world = world(&pod);
    let answer = decide_body_for_anyone(review.to_string().as_bytes(), WebhookEntry::Mutate, &world.snapshot)
        .map_err(|e| e.to_string())?;
    let text = answer.decision.patch.text();
    let patch: json_patch::Patch = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut patched = pod.clone();
    json_patch::patch(&mut patched, &patch).map_err(|e| e.to_string())?;
    let preflight = &patched["spec"]["initContainers"][1];
    let own = &pod["spec"]["containers"][0];
    let context = &preflight["securityContext"];
    let copied = preflight["imagePullPolicy"] == "Never"
        && preflight["env"][0] == own["env"][0]
        && ["seccompProfile", "runAsGroup", "future"].iter().all(|k| context[k] == own["securityContext"][k])
        && context["capabilities"]["add"] == json!(["IPC_LOCK"]);
    if !copied {
        return Err(format!("{preflight:#}").into());
    }
    Ok(())
}

/// Settings of more than 256 KiB are not copied, and the pod still gets all else.
fn long_settings() -> Outcome {
    for (length, copied) in [(200 << 10, true), (300 << 10, false)] {
        let mut pod = trainer();
        pod["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "x".repeat(length)}]);
        let decision = world(&pod).decide().ok_or("no decision")?;
        let added = |name: &str| decision.patch.text().contains(name);
        let reported = decision.findings.iter().any(|f| f.rule == "FAB821" && f.message.contains("256 KiB"));
        let has = (added("\"fabric-preflight\""), added("\"fabric-monitor\""), reported);
        if has != (copied, true, !copied) {
            return Err(format!("{length} bytes: preflight, monitor, finding: {has:?}").into());
        }
    }
    Ok(())
}
