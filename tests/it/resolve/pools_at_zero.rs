//! Pools at zero: a profile that the pod's selectors ask for beats one that they only leave open (docs/adr/0020). Compared
//! with a model that looks at every node that could exist; and once pools have grown, the answer is the same.

use super::one_profile_for_all_ranks::{FABRICS, POOLS, TYPE, TYPES, World, carries, case, node, server};
use crate::support::generated_documents::Documents;
use crate::support::round_trip::same;
use crate::support::run_property::check;
use crate::support::suite::Suite;
use crate::support::{root, run};
use fabric_admission::demands::Subject;
use fabric_admission::json::decode_with_place;
use fabric_admission::pod::PodView;
use fabric_admission::profile::Profile;
use fabric_admission::resolve::{Evidence, Resolution, Strength, resolve_profile_of_pod};
use fabric_admission::snapshot::{Ambiguity, Snapshot};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("pools_at_zero::why_says_it_in_one_line", || Ok(one_line()?));
    suite.add("pools_at_zero::as_every_node_that_could_exist", || {
        let counts = [const { Cell::new(0) }; 2];
        let name = "pools_at_zero::as_every_node_that_could_exist";
        check(name, 300, Documents(case), |case| as_the_model(&case.0, &counts))?;
        enough(&counts)
    });
    suite.add("pools_at_zero::the_answer_at_zero_stays_when_pools_grow", || {
        let counts = [const { Cell::new(0) }; 2];
        let name = "pools_at_zero::the_answer_at_zero_stays_when_pools_grow";
        check(name, 1000, Documents(case), |case| stays(&case.0, &counts))?;
        enough(&counts)
    });
    suite.add("pools_at_zero::a_node_without_accelerators_changes_nothing", || {
        let counts = [const { Cell::new(0) }; 2];
        let name = "pools_at_zero::a_node_without_accelerators_changes_nothing";
        check(name, 1000, Documents(case), |case| without_any_node(&case.0, &counts))?;
        enough(&counts)
    });
}

/// Which profile a pod asks for while its pool is at zero, and which it leaves open.
fn one_line() -> Result<(), String> {
    for (file, step, words) in [
        (
            "a-label-asks-for-a-pool-at-zero",
            "ask for the nodes of: h100-roce; do not exclude: b200-ib",
            "the one whose nodes the pod's selectors ask for; no such node exists now",
        ),
        (
            "no-node-is-known-and-a-label-asks",
            "ask for the nodes of: h100-roce; do not exclude: b200-ib",
            "the one whose nodes the pod's selectors ask for; no such node exists now",
        ),
        (
            "an-instance-type-asks-for-a-pool-at-zero",
            "ask for an instance type of: p5-efa; do not exclude: b200-ib",
            "the one whose instance type the pod's selectors ask for; no such node exists now",
        ),
        (
            "a-pool-at-zero-that-nothing-asks-for",
            "do not exclude: b200-ib, h100-roce",
            "it has no candidate node, and its selectors fit several profiles",
        ),
        (
            "a-node-without-accelerators-has-no-say",
            "do not exclude: h100-roce, tcp",
            "it has no candidate node, and its selectors fit several profiles",
        ),
    ] {
        let ran = run(
            &["why", "-o", "json", &format!("tests/facts-behind-rules/resolve/{file}.yaml")],
            b"",
            root(),
        )?;
        let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stdout))?;
        let result = &report["results"][0];
        let steps = result["why"]["steps"].as_array().into_iter().flatten();
        let said: Vec<&str> =
            steps.filter(|s| s["step"] == "selectors").filter_map(|s| s["said"].as_str()).collect();
        same(file, vec![format!("the pod's selectors {step}").as_str()], said)?;
        same(file, Some(words), result["review"]["evidence"].as_str())?;
    }
    Ok(())
}

fn enough(counts: &[Cell<usize>; 2]) -> crate::support::suite::Outcome {
    let counts = [counts[0].get(), counts[1].get()];
    if counts.iter().all(|n| *n >= 10) { Ok(()) } else { Err(format!("reached {counts:?}").into()) }
}

fn add_one(count: &Cell<usize>) {
    count.set(count.get() + 1);
}

fn world<'a>(case: &'a Value, nodes: Vec<Value>) -> World<'a> {
    let name = |node: &Value| node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let nodes = nodes.into_iter().map(|node| (name(&node), node)).collect();
    World { case, ambiguity: Ambiguity::Deny, nodes }
}

/// `None` for a pod that shrinking has made unreadable.
fn resolved(case: &Value, snapshot: &Snapshot) -> Option<Resolution> {
    let text = case["pod"].to_string();
    let pod = decode_with_place::decode_object::<PodView<'_>>(&text).ok()?;
    Some(resolve_profile_of_pod(&Subject::of(&pod, "team", snapshot), None))
}

/// The profile that the selectors ask for, if that is the answer.
fn asked(resolution: &Resolution) -> Option<String> {
    match resolution {
        Resolution::Profile { profile, evidence: Evidence::Selectors(Strength::Nodes) } => {
            Some(profile.name.clone())
        }
        _ => None,
    }
}

/// One node for each combination of labels, and for values that nothing here names.
fn every_node() -> &'static [Value] {
    static CELL: OnceLock<Vec<Value>> = OnceLock::new();
    CELL.get_or_init(nodes)
}

fn nodes() -> Vec<Value> {
    let with = |values: &[&'static str]| {
        let other = ["", "other"];
        values.iter().copied().chain(other).collect::<Vec<_>>()
    };
    let mut nodes = Vec::new();
    for pool in with(&POOLS) {
        for fabric in with(&FABRICS) {
            for kind in with(&TYPES) {
                for generation in ["", "0", "1", "2", "3"] {
                    let mut labels = json!({});
                    for (key, value) in
                        [("pool", pool), ("fabric", fabric), (TYPE, kind), ("gen", generation)]
                    {
                        if !value.is_empty() {
                            labels[key] = value.into();
                        }
                    }
                    nodes.push(node("n", &json!({"labels": labels, "gpu": true}), false));
                }
            }
        }
    }
    nodes
}

/// The profile that is on every node that fits the pod, if no other one could win on any of them.
fn model(case: &Value, profiles: &[Arc<Profile>], units: u32) -> Option<String> {
    let fitting: Vec<&Value> = every_node()
        .iter()
        .filter(|node| crate::facts::where_pods_may_land::fits(&case["pod"], node))
        .collect();
    let gold = BTreeMap::from([("tier".to_owned(), "gold".to_owned())]);
    let usable = profiles.iter().filter(|p| {
        p.namespaces.as_ref().is_none_or(|selector| selector.matches(&gold))
            && p.accelerators_per_node <= units
    });
    let with = usable.map(|p| (p, fitting.iter().filter(|node| carries(p, node)).count()));
    let possible: Vec<(&Arc<Profile>, bool)> =
        with.filter(|(_, nodes)| *nodes > 0).map(|(p, nodes)| (p, nodes == fitting.len())).collect();
    let rank = |(p, asked): &(&Arc<Profile>, bool)| (p.priority, *asked);
    let best = possible.iter().filter(|(_, asked)| *asked).max_by_key(|p| rank(p))?;
    let rivals = possible.iter().filter(|p| rank(p) >= rank(best)).count();
    (rivals == 1).then(|| best.0.name.clone())
}

fn as_the_model(case: &Value, counts: &[Cell<usize>; 2]) -> Result<(), String> {
    let snapshot = world(case, vec![server()]).snapshot();
    let Some(found) = resolved(case, &snapshot) else { return Ok(()) };
    let units = &case["pod"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"];
    let Some(units) = units.as_str().and_then(|u| u.parse().ok()) else { return Ok(()) };
    let profiles: Vec<Arc<Profile>> = snapshot.profiles().cloned().collect();
    let expected = model(case, &profiles, units);
    if asked(&found) != expected {
        return Err(format!("expected {expected:?}, found {found:?}"));
    }
    let beaten = expected.is_some() && profiles.len() > 1;
    add_one(&counts[usize::from(!beaten)]);
    Ok(())
}

/// Whatever nodes are added: those of any kind, with their plugins or before.
fn stays(case: &Value, counts: &[Cell<usize>; 2]) -> Result<(), String> {
    let zero = world(case, vec![server()]).snapshot();
    let Some(first) = resolved(case, &zero).as_ref().and_then(asked) else { return Ok(()) };
    let kinds = case["kinds"].as_array().cloned().unwrap_or_default();
    for skip in 0..=kinds.len() {
        for late in [false, true] {
            let grown = kinds.iter().enumerate().filter(|(i, _)| *i != skip);
            let grown = grown.map(|(i, kind)| node(&format!("n{i}"), kind, late));
            let snapshot = world(case, std::iter::once(server()).chain(grown).collect()).snapshot();
            let Some(then) = resolved(case, &snapshot) else { return Ok(()) };
            let name = then.profile().map(|(profile, _)| profile.name.clone());
            if name.as_ref() != Some(&first) {
                return Err(format!("{first} at zero, then {then:?}"));
            }
            let by_nodes =
                matches!(then, Resolution::Profile { evidence: Evidence::Nodes | Evidence::Asked, .. });
            add_one(&counts[usize::from(by_nodes)]);
        }
    }
    Ok(())
}

/// Whatever labels and profiles it carries.
fn without_any_node(case: &Value, counts: &[Cell<usize>; 2]) -> Result<(), String> {
    let kinds = case["kinds"].as_array().cloned().unwrap_or_default();
    let plain = kinds.iter().enumerate().map(|(i, kind)| node(&format!("n{i}"), kind, true));
    let plain = world(case, std::iter::once(server()).chain(plain).collect()).snapshot();
    let (plain, server_only) =
        (resolved(case, &plain), resolved(case, &world(case, vec![server()]).snapshot()));
    if format!("{plain:?}") != format!("{server_only:?}") {
        return Err(format!("with plain nodes {plain:?}, with the server's {server_only:?}"));
    }
    let (none, one) = (world(case, Vec::new()).snapshot(), world(case, vec![server()]).snapshot());
    let (Some(none), Some(one)) = (resolved(case, &none), resolved(case, &one)) else { return Ok(()) };
    if format!("{none:?}") != format!("{one:?}") {
        return Err(format!("without a node {none:?}, with one {one:?}"));
    }
    let asks =
        |evidence: &Evidence| matches!(evidence, Evidence::Selectors(strength) if *strength > Strength::Open);
    let by_strength = none.profile().is_some_and(|(_, evidence)| asks(evidence));
    add_one(&counts[usize::from(by_strength)]);
    Ok(())
}
