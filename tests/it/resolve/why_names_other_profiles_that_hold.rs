//! What `why` says of profiles beside the pod's own: those of its nodes that hold as well, and those that are open to all.

use crate::support::generated_world::World;
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{read, root, run};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::Stage;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("also_held::why_names_the_profiles_of_the_nodes", || Ok(also_held()?));
    suite.add("also_held::a_restriction_that_nobody_applied_keeps_no_pod_off", || Ok(unapplied()?));
    suite.add("also_held::a_request_that_the_stored_pod_lacks_is_zero", || Ok(absent_request()?));
    suite.add("also_held::why_names_the_profiles_that_every_namespace_can_use", || Ok(open()?));
}

const STRICTER: &str = "resolve/a-laxer-profile-that-is-named-lifts-nothing.yaml";

fn also_held() -> Result<(), String> {
    let field = root().join("tests/facts-behind-rules");
    let text = run(&["why", STRICTER], b"", &field)?.stdout;
    if !text.contains("also holds  the required and forbidden values of profile strict of the pod's nodes") {
        return Err(text);
    }
    let json = run(&["why", "-o", "json", STRICTER], b"", &field)?.stdout;
    let json: Value = serde_json::from_str(&json).map_err(|e| e.to_string())?;
    same("alsoHeld", &serde_json::json!(["strict"]), &json["results"][0]["why"]["alsoHeld"])
}

/// A profile with `namespaces: {}` is meant for every namespace.
fn open() -> Result<(), String> {
    let words = "profiles without spec.namespaces, which every namespace can use\n     ";
    let text = run(&["why", STRICTER], b"", &root().join("tests/facts-behind-rules"))?.stdout;
    let files = read(&root().join("tests/facts-behind-rules").join(STRICTER))?
        .replace("  env:", "  namespaces: {}\n  env:");
    let meant = run(&["why", "-"], files.as_bytes(), root())?.stdout;
    match (text.contains(&format!("{words}lax, strict\n")), meant.contains(&format!("{words}lax\n"))) {
        (true, true) => Ok(()),
        _ => Err(format!("{text}\n{meant}")),
    }
}

/// Placement and resources of a profile count while the answer adds them. A pod that arrives at the end without them runs
/// anywhere.
fn unapplied() -> Result<(), String> {
    let node = |pool: &str, resource: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": pool, "labels": {"pool": pool}},
            "status": {"allocatable": {"nvidia.com/gpu": "8", resource: "8"}}})
    };
    let profile = |name: &str, own: Value| {
        let mut object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
            "metadata": {"name": name}, "spec": {"transport": "ethernet", "attachment": "none"}});
        own.as_object().into_iter().flatten().for_each(|(key, value)| object["spec"][key] = value.clone());
        object
    };
    let pool = |name: &str| json!({"matchLabels": {"pool": name}});
    for (restriction, lax) in [
        ("placement", json!({"nodeSelector": pool("lax"), "placement": {"nodeAffinity": "required"}})),
        ("resources", json!({"resources": [{"name": "example.com/lax", "quantity": 1}]})),
    ] {
        let forbid = json!([{"name": "NCCL_ALGO", "policy": "forbid"}]);
        let world = World::new(&json!({
            "pod": {"metadata": {"name": "p", "annotations": {"fabric-admission.dev/profile": "lax"}}, "spec": {
                "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}},
            "objects": [node("strict", "example.com/strict"), node("lax", "example.com/lax")],
            "profiles": [profile("lax", lax), profile("strict", json!({"nodeSelector": pool("strict"), "env": forbid}))],
        }));
        let refused = |pod: &Value, stage| -> Result<bool, String> {
            let decision =
                world.decide_as(pod, stage, EnforcementMode::Enforce).ok_or("the pod cannot be read")?;
            Ok(decision.findings.iter().any(|f| f.rule == "FAB403"))
        };
        let patched = world.patched()?;
        let actual = [
            refused(&world.pod, Stage::Mutate)?,
            refused(&patched, Stage::Final)?,
            refused(&world.pod, Stage::Final)?,
        ];
        if actual != [false, false, true] {
            return Err(format!("{restriction}: with it, after it, without it: refused {actual:?}"));
        }
    }
    Ok(())
}

/// Before the pod is stored, a LimitRange or another webhook may add the request.
fn absent_request() -> Result<(), String> {
    let source = json!({"resourceFieldRef": {"resource": "requests.cpu"}});
    let world = World::new(&json!({
        "pod": {"metadata": {"name": "p", "annotations": {"fabric-admission.dev/profile": "strict"}}, "spec": {
            "containers": [{"name": "t", "image": "i", "env": [{"name": "NCCL_IB_TC", "valueFrom": source}],
                "resources": {"limits": {"nvidia.com/gpu": 8}}}]}},
        "profiles": [{"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
            "metadata": {"name": "strict"}, "spec": {"transport": "ethernet", "attachment": "none",
                "env": [{"name": "NCCL_IB_TC", "value": "106", "policy": "require"}]}}],
    }));
    let refused = |stage| -> Result<bool, String> {
        let decision =
            world.decide_as(&world.pod, stage, EnforcementMode::Enforce).ok_or("the pod cannot be read")?;
        Ok(decision.findings.iter().any(|f| f.rule == "FAB403" && f.message.contains("is \"0\"")))
    };
    match (refused(Stage::Mutate)?, refused(Stage::Final)?) {
        (false, true) => Ok(()),
        other => Err(format!("before it is stored, in the stored pod: refused {other:?}")),
    }
}
