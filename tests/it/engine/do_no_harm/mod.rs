//! Do no harm: a pod that is complete for its fabric gains no attachment and no unit under any base and any fitting
//! profile, whatever facts are at hand; and the ranks of a gang get equal plans while facts come and go.

mod corpus;
mod gang;

use crate::support::complete_pods;
use crate::support::generated_documents::Documents;
use crate::support::generated_world::{World, bases};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::plan::{Edit, Plan};
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    let name = "do_no_harm::a_complete_pod_gains_nothing";
    suite.add(name, move || check(name, 150, Documents(complete_pods::case), |case| gains_nothing(&case.0)));
    for shape in complete_pods::SHAPES {
        let name = format!("do_no_harm::every_base_leaves_{}", shape.name);
        suite.add(name, move || Ok(gains_nothing(&complete_pods::plain(shape))?));
    }
    let name = "do_no_harm::findings_on_what_we_add_say_so";
    suite.add(name, move || {
        check(name, 800, Documents(crate::support::generated_cases::case), |case| says_whose(&case.0))
    });
    corpus::add(suite);
    gang::add(suite);
}

/// A finding that points at something which is not in the user's file says that a profile sets it.
fn says_whose(case: &Value) -> Result<(), String> {
    let world = World::new(case);
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    for finding in &decision.findings {
        // A place where something is missing is nowhere, or wherever the plan happens to put something.
        let ours = world.pod.pointer(&finding.path).is_none() && patched.pointer(&finding.path).is_some();
        let name = decision.profile.as_deref().unwrap_or("no profile");
        let message = fabric_admission::report::message_with_profile_that_sets_value(&decision, finding);
        if ours && !message.contains(name) {
            return Err(format!("{} at {}: {message}", finding.rule, finding.path));
        }
    }
    Ok(())
}

/// Changes of a plan that add attachments or units.
fn added(plan: &Plan) -> Vec<String> {
    let adds = |edit: &Edit| match edit {
        Edit::Networks { .. } | Edit::Quantity { .. } => true,
        Edit::Annotation { key, .. } => key.starts_with("networking.gke.io/"),
        _ => false,
    };
    plan.changes.iter().filter(|c| adds(&c.edit)).map(|c| c.edit.summary()).collect()
}

/// Profiles that a complete pod is planned under: every base as it stands, every base with rails over the pod's own
/// resource and over others', and a fabric whose networks are the pod's.
fn profiles(case: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut add = |spec: Value| {
        let metadata = json!({"name": format!("p{}", all.len())});
        all.push(json!({
            "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": metadata, "spec": spec,
        }));
    };
    for base in bases() {
        let base = base.metadata.name.as_str();
        // A pod with this resource and without networks is complete on CoreWeave's InfiniBand nodes. On the RoCE nodes, which
        // this base is for, each interface needs a network of Multus. Here --profile says that the pod runs there; what keeps
        // pods of InfiniBand nodes from this profile is in `golden::a-resource-of-nodes-with-another-fabric`.
        if base == "coreweave-roce" && case["resource"] == "rdma/ib" {
            continue;
        }
        add(json!({"base": base}));
        // With the containers that a profile may add: they ask nothing that the pod does not have.
        if !base.starts_with("gke") && base != "nri-compat" {
            let image = crate::support::in_the_pod::IMAGE;
            add(json!({"base": base, "preflight": {"image": image}, "monitor": {"image": image}}));
        }
        if base.starts_with("gke") || base == "nri-compat" {
            continue;
        }
        let Some(resource) = case["resource"].as_str() else { continue };
        let count = case["count"].as_u64().unwrap_or(8).max(1);
        // The profile of the pod's own fabric, which its platform team wrote under another name.
        let rails = json!([{"network": "fabric/net", "resource": resource, "count": count}]);
        let fixed = json!([{"name": resource, "quantity": 1, "per": "container"}]);
        let attaches = case["count"].as_u64() > Some(0);
        match (case["perRail"] == true, attaches) {
            (true, _) => add(json!({"base": base, "rails": rails})),
            (false, true) => {
                let rails = json!([{"network": "fabric/net", "count": 1}]);
                add(json!({"base": base, "rails": rails, "resources": fixed}));
            }
            (false, false) => add(json!({"base": base, "rails": [], "resources": fixed})),
        }
    }
    all
}

/// Plans a complete pod under each profile, with all facts, without any, and with those that the case keeps.
fn gains_nothing(case: &Value) -> Result<(), String> {
    let objects = case["objects"].as_array().cloned().unwrap_or_default();
    let kept: Vec<Value> = case["kept"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .filter_map(|at| objects.get(usize::try_from(at).ok()?).cloned())
        .collect();
    for profile in profiles(case) {
        for facts in [&objects, &Vec::new(), &kept] {
            let world = World::new(&json!({
                "pod": case["pod"], "profiles": [profile], "objects": facts, "flag": true,
                "namespace": {"name": case["pod"]["metadata"]["namespace"]},
            }));
            if world.profile.is_none() {
                return Err(format!("refused: {profile}"));
            }
            // Shrinking makes pods that the API server would refuse.
            let Some(decision) = world.decide() else { return Ok(()) };
            let added = added(&decision.plan);
            if !added.is_empty() {
                let counted = decision
                    .plan
                    .user_fabric
                    .map(|b| (b.attachments_in_words(), b.units_in_words(), b.result_in_words()));
                return Err(format!(
                    "{} facts, {}: {added:?}; counted {counted:?}",
                    facts.len(),
                    profile["spec"]
                ));
            }
        }
    }
    Ok(())
}
