//! One profile a gang: between the admission of two ranks of a job, nodes come, go, are cordoned, drained, turn
//! NotReady or lose their plugins, and the ranks must never get two different profiles. That one of them gets none,
//! and is refused or warned about, is allowed. Half of the clusters have a node that is for no training pod, such as the
//! one that the server itself runs on; the others may have no node at all.
//!
//! It holds of sequences
//! (a) that only add nodes: what the pod may run on grows, and with it the set of profiles found there. A profile
//!     that joins makes the pod ambiguous. From no node at all the selectors decide, among all profiles whose nodes
//!     could ever fit the pod, and the default where nodes of no profile could;
//! (b) that only delete, down to zero: the set of profiles found shrinks. When its last node goes, the selector step
//!     asks which profiles' nodes could fit the pod. The first profile is among them, for a node of it did fit; the
//!     step knows no priority, so the answer is that profile or none;
//! (c) of any kind that keep one node on which the first rank could run with its profile: the profile stays found.
//!
//! With the setting `pin` the highest priority decides, so that (a) and (c) hold where no node joins whose profile
//! (or, on nodes without one, the default) has a higher one, and (b) and (c) while a node of the pinned profile
//! stays.

use crate::support::generated_documents::{Dice, Documents, put};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::demands::Subject;
use fabric_admission::facts::FactKind;
use fabric_admission::json::decode_with_place;
use fabric_admission::pod::{AcceleratorNames, PodView};
use fabric_admission::profile::Profile;
use fabric_admission::resolve::{Evidence, Resolution, resolve_profile_of_pod};
use fabric_admission::review::{PodRequest, Stage, decide_pod};
use fabric_admission::snapshot::{Ambiguity, Builder, Layer, Settings, Snapshot};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Which sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Only {
    Adds,
    Deletes,
    KeepsARank,
}

pub(crate) fn add(suite: &mut Suite) {
    for (name, only) in [
        ("one_profile_for_all_ranks::nodes_only_come", Only::Adds),
        ("one_profile_for_all_ranks::nodes_only_go", Only::Deletes),
        ("one_profile_for_all_ranks::a_node_of_the_first_rank_stays", Only::KeepsARank),
    ] {
        for (setting, ambiguity) in
            [("deny", Ambiguity::Deny), ("warn", Ambiguity::Warn), ("pin", Ambiguity::Pin)]
        {
            let name = format!("{name}_{setting}");
            suite.add(name.clone(), move || {
                let counts = [const { Cell::new(0) }; 4];
                check(&name, 500, Documents(case), |case| one_profile(&case.0, only, ambiguity, &counts))?;
                // Decisions with a profile after one; by nodes, by selectors, by default or priority.
                let counts = counts.map(Cell::into_inner);
                let enough = counts.iter().all(|n| *n >= 8);
                if enough { Ok(()) } else { Err(format!("reached {counts:?}").into()) }
            });
        }
    }
}

pub(super) const TYPE: &str = "node.kubernetes.io/instance-type";
pub(super) const POOLS: [&str; 3] = ["x", "y", "z"];
pub(super) const FABRICS: [&str; 3] = ["east", "west", "north"];
pub(super) const TYPES: [&str; 2] = ["h100", "b200"];

pub(super) fn case(dice: &mut Dice<'_>) -> Value {
    let kinds: Vec<Value> = (0..2 + dice.below(4)).map(|_| kind(dice)).collect();
    let profiles: Vec<Value> = (0..2 + dice.below(3)).map(|i| profile(i, dice)).collect();
    let start: Vec<usize> = (0..dice.below(6)).map(|_| dice.below(kinds.len())).collect();
    let operations =
        ["add", "add", "delete", "delete", "delete", "cordon", "drain", "notReady", "units", "plugin"];
    let steps: Vec<Value> = (0..2 + dice.below(7))
        .map(|_| json!({"do": dice.pick(&operations), "kind": dice.below(kinds.len()), "which": dice.below(6)}))
        .collect();
    let mut case =
        json!({"kinds": kinds, "profiles": profiles, "start": start, "steps": steps, "pod": pod(dice)});
    put(&mut case, "default", 40, dice, |dice| format!("p{}", dice.below(3)).into());
    put(&mut case, "cluster", 30, dice, |_| true.into());
    put(&mut case, "server", 50, dice, |_| true.into());
    case
}

fn kind(dice: &mut Dice<'_>) -> Value {
    let mut labels = json!({});
    put(&mut labels, "pool", 80, dice, |dice| dice.pick(&POOLS).into());
    put(&mut labels, "fabric", 75, dice, |dice| dice.pick(&FABRICS).into());
    put(&mut labels, TYPE, 60, dice, |dice| dice.pick(&TYPES).into());
    put(&mut labels, "gen", 30, dice, |dice| dice.pick(&["1", "2"]).into());
    json!({"labels": labels, "gpu": dice.percent(85), "taint": dice.percent(20)})
}

fn profile(number: usize, dice: &mut Dice<'_>) -> Value {
    let mut spec = json!({"transport": "roce", "attachment": "none"});
    put(&mut spec, "nodeSelector", 70, dice, |dice| {
        let mut selector = json!({"matchLabels": {"fabric": dice.pick(&FABRICS)}});
        put(&mut selector["matchLabels"], "pool", 20, dice, |dice| dice.pick(&POOLS).into());
        put(
            &mut selector,
            "matchExpressions",
            25,
            dice,
            |dice| json!([{"key": "pool", "operator": dice.pick(&["In", "NotIn"]), "values": [dice.pick(&POOLS)]}]),
        );
        selector
    });
    // Both would be two statements about the same nodes, which may contradict each other.
    if spec["nodeSelector"].is_null() {
        put(&mut spec, "instanceTypes", 50, dice, |dice| json!([dice.pick(&TYPES)]));
    }
    put(&mut spec, "priority", 50, dice, |dice| dice.pick(&[5, 10]).into());
    put(
        &mut spec,
        "namespaces",
        12,
        dice,
        |dice| json!({"matchLabels": {"tier": dice.pick(&["gold", "tin"])}}),
    );
    put(&mut spec, "acceleratorsPerNode", 15, dice, |_| 4.into());
    let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": format!("p{number}")}, "spec": spec})
}

fn pod(dice: &mut Dice<'_>) -> Value {
    let units = dice.pick(&["8", "8", "4"]);
    let mut spec = json!({"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": units}}}]});
    put(&mut spec, "nodeSelector", 45, dice, |dice| {
        let mut selector = json!({});
        put(&mut selector, "pool", 55, dice, |dice| dice.pick(&POOLS).into());
        put(&mut selector, "fabric", 30, dice, |dice| dice.pick(&FABRICS).into());
        put(&mut selector, TYPE, 30, dice, |dice| dice.pick(&TYPES).into());
        selector
    });
    put(&mut spec, "affinity", 35, dice, |dice| {
        let terms: Vec<Value> = (0..1 + dice.below(2)).map(|_| term(dice)).collect();
        json!({"nodeAffinity": {crate::support::generated_nodes::REQUIRED: {"nodeSelectorTerms": terms}}})
    });
    put(&mut spec, "tolerations", 50, dice, |dice| {
        dice.pick(&[json!([{"key": "dedicated", "operator": "Exists"}]), json!([{"operator": "Exists"}])])
    });
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rank"}, "spec": spec})
}

fn term(dice: &mut Dice<'_>) -> Value {
    let expressions = (0..1 + dice.below(2)).map(|_| {
        let (key, values) = dice.pick(&[("pool", &POOLS[..]), ("fabric", &FABRICS[..]), (TYPE, &TYPES[..])]);
        match dice.below(6) {
            0..3 => json!({"key": key, "operator": "In", "values": [dice.pick(values), dice.pick(values)]}),
            3 => json!({"key": key, "operator": "NotIn", "values": [dice.pick(values)]}),
            4 => json!({"key": key, "operator": dice.pick(&["Exists", "DoesNotExist"])}),
            _ => json!({"key": "gen", "operator": dice.pick(&["Gt", "Lt"]), "values": [dice.pick(&["1", "2"])]}),
        }
    });
    json!({"matchExpressions": expressions.collect::<Vec<_>>()})
}

/// A node of a kind. One whose plugin comes late joins without its accelerators.
pub(super) fn node(name: &str, kind: &Value, late: bool) -> Value {
    let mut labels = kind["labels"].clone();
    if !labels.is_object() {
        labels = json!({});
    }
    labels["kubernetes.io/hostname"] = name.into();
    let taints = if kind["taint"] == true {
        json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    } else {
        json!([])
    };
    let mut allocatable = json!({"pods": "110"});
    if kind["gpu"] == true && !late {
        allocatable["nvidia.com/gpu"] = "8".into();
    }
    json!({"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints},
        "status": {"allocatable": allocatable}})
}

/// A node that is for no training pod, such as the one that the server runs on.
pub(super) fn server() -> Value {
    json!({"metadata": {"name": "server"}, "status": {"allocatable": {"pods": "110"}}})
}

pub(super) struct World<'a> {
    pub(super) case: &'a Value,
    pub(super) ambiguity: Ambiguity,
    pub(super) nodes: BTreeMap<String, Value>,
}

impl World<'_> {
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut builder = Builder::new(Vec::new());
        let mut add = |group: &str, kind: &str, object: &Value| {
            // What shrinking has made unreadable is not there.
            drop(builder.add(Layer::Cluster, group, kind, &object.to_string(), ""));
        };
        for profile in self.case["profiles"].as_array().into_iter().flatten() {
            add("fabric-admission.dev", "FabricProfile", profile);
        }
        self.nodes.values().for_each(|node| add("", "Node", node));
        let default = self.case["default"].as_str();
        let cluster = default.filter(|_| self.case["cluster"] == true).map(str::to_owned);
        let mut metadata = json!({"name": "team", "labels": {"tier": "gold"}});
        if let Some(name) = default.filter(|_| cluster.is_none()) {
            metadata["annotations"] = json!({"fabric-admission.dev/profile": name});
        }
        add("", "Namespace", &json!({"metadata": metadata}));
        // A cluster whose nodes were listed: it has no others.
        builder.set_listed(FactKind::Node, true);
        builder.replace_settings(Settings {
            accelerators: AcceleratorNames::default(),
            ambiguity: self.ambiguity,
            default_profile: cluster,
            ..Settings::default()
        });
        builder.build()
    }

    /// The first decision's node, on which a rank could run: one of the profile's, or one of no profile for the
    /// default.
    fn node_of(&self, profile: &Profile, evidence: &Evidence) -> Option<&String> {
        let fits = |node: &Value| {
            let by_default = matches!(evidence, Evidence::NamespaceAnnotation | Evidence::ClusterDefault);
            let gpu = !node["status"]["allocatable"]["nvidia.com/gpu"].is_null();
            let served = carries(profile, node) || by_default;
            gpu && served && crate::facts::where_pods_may_land::fits(&self.case["pod"], node)
        };
        self.nodes.iter().find(|(_, node)| fits(node)).map(|(name, _)| name)
    }
}

fn labels(node: &Value) -> BTreeMap<String, String> {
    let labels = node["labels"].as_object().or_else(|| node["metadata"]["labels"].as_object());
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    labels.into_iter().flatten().map(|(k, v)| (k.clone(), text(v))).collect()
}

/// Whether a node, or a kind of them, is one of a profile's.
pub(super) fn carries(profile: &Profile, node: &Value) -> bool {
    let labels = labels(node);
    match &profile.node_selector {
        Some(selector) => selector.matches(&labels),
        None => labels.get(TYPE).is_some_and(|t| profile.instance_types.contains(t)),
    }
}

fn one_profile(
    case: &Value,
    only: Only,
    ambiguity: Ambiguity,
    counts: &[Cell<usize>; 4],
) -> Result<(), String> {
    let kinds = case["kinds"].as_array().cloned().unwrap_or_default();
    let kind = |n: &Value| kinds.get(usize::try_from(n.as_u64().unwrap_or(0)).unwrap_or(0));
    let mut world = World { case, ambiguity, nodes: BTreeMap::new() };
    if case["server"] == true {
        world.nodes.insert("server".to_owned(), server());
    }
    for (i, start) in case["start"].as_array().into_iter().flatten().enumerate() {
        let name = format!("n{i}");
        world.nodes.extend(kind(start).map(|kind| (name.clone(), node(&name, kind, false))));
    }
    let text = case["pod"].to_string();
    // The first answer with a profile, and the node that must stay.
    let mut first: Option<(String, Evidence, Option<String>)> = None;
    let steps = case["steps"].as_array().cloned().unwrap_or_default();
    let mut last = Snapshot::default();
    for (at, step) in std::iter::once(&Value::Null).chain(&steps).enumerate() {
        let kept = first.as_ref().and_then(|(_, _, kept)| kept.clone());
        // Under `pin` no node of a higher priority joins, by its profile or by the default.
        let higher = |kind: &Value| {
            ambiguity == Ambiguity::Pin
                && first.as_ref().is_some_and(|(name, ..)| {
                    let priority = last.profile(name).map_or(0, |p| p.priority);
                    let default = case["default"].as_str().and_then(|name| last.profile(name));
                    last.profiles().any(|p| p.priority > priority && carries(p, kind))
                        || default.is_some_and(|p| p.priority > priority)
                })
        };
        let pinned = matches!(first, Some((_, Evidence::Priority, _)));
        let keeps = only == Only::KeepsARank || (pinned && only == Only::Deletes);
        if step["do"] == "add" || step["do"] == "plugin" {
            if only == Only::Deletes || kind(&step["kind"]).is_none_or(higher) {
                continue;
            }
        } else if step["do"] == "delete" && only == Only::Adds {
            continue;
        }
        let which = usize::try_from(step["which"].as_u64().unwrap_or(0)).unwrap_or(0);
        let name = world.nodes.keys().filter(|n| *n != "server").nth(which).cloned();
        match step["do"].as_str() {
            Some("add") => {
                let name = format!("m{at}");
                let late = which % 2 == 1;
                world.nodes.extend(kind(&step["kind"]).map(|kind| (name.clone(), node(&name, kind, late))));
            }
            Some("delete") => {
                if let Some(name) = name.filter(|n| !keeps || Some(n) != kept.as_ref()) {
                    world.nodes.remove(&name);
                }
            }
            Some(operation) => {
                if let Some(node) = name.and_then(|n| world.nodes.get_mut(&n)) {
                    change(node, operation);
                }
            }
            None => {}
        }
        last = world.snapshot();
        let snapshot = &last;
        // A case that shrinking has made unreadable proves nothing.
        let Ok(pod) = decode_with_place::decode_object::<PodView<'_>>(&text) else { return Ok(()) };
        let resolution = resolve_profile_of_pod(&Subject::of(&pod, "team", snapshot), None);
        let decided = decided(&text, snapshot)?;
        if decided.as_deref() != resolution.profile().map(|(p, _)| p.name.as_str()) {
            return Err(format!("decided {decided:?}, resolved {resolution:?}"));
        }
        let Resolution::Profile { profile, evidence } = &resolution else { continue };
        match &first {
            None => {
                let kept = world.node_of(profile, evidence).cloned();
                if kept.is_none() && (only == Only::KeepsARank || *evidence == Evidence::Priority) {
                    // No rank can run with it; the next answer may be the first.
                    continue;
                }
                first = Some((profile.name.clone(), evidence.clone(), kept));
            }
            Some((name, by, _)) if *name != profile.name => {
                return Err(format!(
                    "{name} ({by:?}), then {} ({evidence:?}) after step {at}; nodes now {:?}",
                    profile.name, world.nodes
                ));
            }
            Some(_) => {
                let by = match evidence {
                    Evidence::Nodes => 1,
                    Evidence::Selectors(_) if only == Only::KeepsARank => 3,
                    Evidence::Selectors(_) => 2,
                    _ => 3,
                };
                counts[0].set(counts[0].get() + 1);
                counts[by].set(counts[by].get() + 1);
                if only == Only::KeepsARank {
                    // Selectors have no say where a node stays.
                    counts[2].set(counts[2].get() + 1);
                }
            }
        }
    }
    Ok(())
}

/// What happens to a node while it stays: none of it may change an answer.
fn change(node: &mut Value, operation: &str) {
    let taint = |key: &str, effect: &str| json!({"key": key, "effect": effect});
    let mut taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let units = node["status"]["allocatable"].get("nvidia.com/gpu").cloned();
    match (operation, units) {
        ("units", Some(units)) => {
            node["status"]["allocatable"]["nvidia.com/gpu"] = if units == "8" { "0" } else { "8" }.into();
        }
        // A plugin that registers late.
        ("plugin", None) => node["status"]["allocatable"]["nvidia.com/gpu"] = "8".into(),
        ("notReady", _) => {
            taints.push(taint("node.kubernetes.io/not-ready", "NoExecute"));
            node["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
        }
        ("cordon" | "drain", _) => {
            taints.push(taint("node.kubernetes.io/unschedulable", "NoSchedule"));
            node["spec"]["unschedulable"] = true.into();
            if operation == "drain" {
                taints.push(taint("ToBeDeletedByClusterAutoscaler", "NoSchedule"));
            }
        }
        _ => {}
    }
    node["spec"]["taints"] = taints.into();
}

fn decided(json: &str, snapshot: &Snapshot) -> Result<Option<String>, String> {
    let request = PodRequest { stage: Stage::Mutate, ..PodRequest::in_enforcing_namespace("team") };
    Ok(decide_pod(json, request, snapshot).map_err(|e| e.message)?.profile)
}
