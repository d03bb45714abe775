//! The ranks of a gang get one answer: between the admission of two of them network attachments, claim templates and
//! DeviceClasses are created, deleted, or reach us late. Either the plans of both are equal, or one of them saw that an
//! object it names was not there, says so in a warning, and added neither networks nor units.

use super::added;
use crate::support::complete_pods;
use crate::support::generated_documents::{Dice, Documents, put};
use crate::support::generated_world::World;
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::review::Decision;
use fabric_admission::rules::Severity;
use serde_json::{Value, json};
use std::cell::Cell;

pub(super) fn add(suite: &mut Suite) {
    let name = "do_no_harm::ranks_of_a_gang_get_equal_plans";
    suite.add(name, move || {
        let counts = [const { Cell::new(0) }; 3];
        check(name, 400, Documents(case), |case| equal_plans(&case.0, &counts))?;
        let counts = counts.map(Cell::into_inner);
        // Equal plans that add something, equal plans that add nothing, and ranks that were warned.
        let enough = counts.iter().all(|n| *n >= 20);
        if enough { Ok(()) } else { Err(format!("reached {counts:?}").into()) }
    });
}

/// A pod of a gang, the objects it may need, and which of them each rank sees.
fn case(dice: &mut Dice<'_>) -> Value {
    let mut case = match dice.percent(45) {
        true => complete_pods::case(dice),
        false => partial(dice),
    };
    let classes = [
        ("dranet", "dra.net"),
        ("fabric.example.com", "fabric.example.com"),
        ("our-gpus", "gpu.nvidia.com"),
        ("mrdma.google.com", "dra.net"),
    ];
    let objects = case["objects"].as_array_mut().unwrap();
    for (class, driver) in classes {
        let expression = format!("device.driver == '{driver}'");
        objects.push(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": class},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }));
    }
    let count = objects.len();
    let ranks: Vec<Value> = (0..2 + dice.below(3))
        .map(|_| (0..count).filter(|_| dice.percent(75)).collect::<Vec<_>>().into())
        .collect();
    case["ranks"] = ranks.into();
    case["base"] = dice.pick(&["roce-sriov", "infiniband-sriov", "roce-macvlan", "aws-efa"]).into();
    case
}

/// A pod that brings a part: some networks, some units, a claim.
fn partial(dice: &mut Dice<'_>) -> Value {
    let networks = ["fabric/net", "team-rails", "storage", "capture", "other/secret"];
    let mut annotations = json!({});
    put(&mut annotations, "k8s.v1.cni.cncf.io/networks", 70, dice, |dice| {
        let (network, times) = (dice.pick(&networks), dice.pick(&[1, 1, 2, 8]));
        let mut names = vec![network; times];
        if dice.percent(30) {
            names.push(dice.pick(&networks));
        }
        names.join(",").into()
    });
    let mut limits = json!({"nvidia.com/gpu": dice.pick(&[8, 8, 2, 1])});
    let resources = ["example.com/vf", "rdma/hca_a", "example.com/other"];
    let resource = dice.pick(&resources);
    put(&mut limits, resource, 40, dice, |dice| dice.pick(&[1, 2, 8]).into());
    let mut resources = json!({"limits": limits});
    let mut spec = json!({});
    put(&mut spec, "resourceClaims", 25, dice, |_| json!([{"name": "c", "resourceClaimTemplateName": "c"}]));
    if !spec["resourceClaims"].is_null() {
        resources["claims"] = json!([{"name": "c"}]);
    }
    spec["containers"] = json!([{"name": "trainer", "image": "example.com/t:1", "resources": resources}]);
    let definition = |namespace: &str, name: &str, resource: Option<&str>, plugin: &str| {
        let annotations = resource.map_or(json!({}), |r| json!({"k8s.v1.cni.cncf.io/resourceName": r}));
        json!({
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
            "spec": {"config": json!({"type": plugin}).to_string()},
        })
    };
    let class = dice.pick(&["dranet", "fabric.example.com", "our-gpus", "gpu.nvidia.com"]);
    let requests = json!([{"name": "d", "exactly": {"deviceClassName": class}}]);
    json!({
        "pod": {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": "rank-0", "namespace": "team", "annotations": annotations}},
        "objects": [
            definition("fabric", "net", Some("example.com/vf"), "sriov"),
            definition("team", "team-rails", Some("example.com/vf"), "sriov"),
            definition("team", "capture", Some("example.com/vf"), "sriov"),
            definition("team", "storage", None, "macvlan"),
            definition("other", "secret", Some("example.com/vf"), "sriov"),
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                "metadata": {"name": "c", "namespace": "team"}, "spec": {"spec": {"devices": {"requests": requests}}}},
        ],
    })
}

/// A network that nobody names: a server has listed all networks before it decides, however few there are, so that one that
/// it does not know is missing.
fn listed() -> Value {
    json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "listed", "namespace": "default"}, "spec": {"config": "{\"type\": \"macvlan\"}"}})
}

fn decide(case: &Value, seen: &[Value]) -> Option<Decision> {
    let rails = json!([{"network": "fabric/net", "resource": "example.com/vf", "count": 8}]);
    let base = &case["base"];
    let profile = json!({
        "apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p0"},
        "spec": {"base": base, "rails": rails},
    });
    let world = World::new(&json!({
        "pod": case["pod"], "profiles": [profile], "objects": seen, "flag": true,
        "namespace": {"name": case["pod"]["metadata"]["namespace"]},
    }));
    world.decide()
}

fn equal_plans(case: &Value, counts: &[Cell<usize>; 3]) -> Result<(), String> {
    let objects = case["objects"].as_array().cloned().unwrap_or_default();
    let mut first: Option<(Vec<String>, usize)> = None;
    for (rank, seen) in case["ranks"].as_array().into_iter().flatten().enumerate() {
        let numbers = seen.as_array().into_iter().flatten().filter_map(Value::as_u64);
        let seen = numbers.filter_map(|at| objects.get(usize::try_from(at).ok()?).cloned());
        let seen: Vec<Value> = seen.chain([listed()]).collect();
        // Shrinking makes pods that the API server would refuse.
        let Some(decision) = decide(case, &seen) else { return Ok(()) };
        let added = added(&decision.plan);
        // Nothing is added, and the author was warned.
        let warned = decision.findings.iter().any(|f| f.severity >= Severity::Warning);
        if added.is_empty() && warned {
            counts[2].set(counts[2].get() + 1);
            continue;
        }
        match &first {
            None => first = Some((added, rank)),
            Some((before, _)) if *before == added => {
                let at = usize::from(added.is_empty());
                counts[at].set(counts[at].get() + 1);
            }
            Some((before, other)) => {
                return Err(format!("rank {other} gets {before:?}, rank {rank} gets {added:?}"));
            }
        }
    }
    Ok(())
}
