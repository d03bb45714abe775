//! What a cluster is in the end is all that counts: events of its objects in any order between them, missed ones that a
//! list brings back, and Snapshots taken in between, give the Snapshot of the final objects and its answers.

use crate::support::generated_documents::{Dice, Documents};
use crate::support::generated_nodes;
use crate::support::generated_world::bases;
use crate::support::run_property::check;
use crate::support::server::review;
use crate::support::suite::Suite;
use fabric_admission::facts::FactKind;
use fabric_admission::review::admission_response::render;
use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("events_in_any_order::the_final_objects_are_all_that_counts", || {
        let fitted = Cell::new(0);
        check("interleaving", 500, Documents(case), |case| same(&case.0, &fitted))?;
        // Answers that give nothing would be alike whatever became of the events.
        if fitted.get() >= 200 { Ok(()) } else { Err(format!("{} pods were fitted", fitted.get()).into()) }
    });
}

const FABRICS: [&str; 2] = ["east", "west"];
const KINDS: [(&str, &str, FactKind); 4] = [
    ("", "Node", FactKind::Node),
    ("fabric-admission.dev", "FabricProfile", FactKind::FabricProfile),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", FactKind::NetworkAttachmentDefinition),
    ("", "Namespace", FactKind::Namespace),
];

fn case(dice: &mut Dice<'_>) -> Value {
    let events: Vec<Value> = (0..dice.below(40)).map(|_| event(dice)).collect();
    let pods: Vec<Value> = (0..3).map(|_| pod(dice)).collect();
    json!({"events": events, "pods": pods, "turned": dice.percent(50)})
}

/// An object becomes another one or goes; or a kind is listed again. Few names, so that they meet.
fn event(dice: &mut Dice<'_>) -> Value {
    let kind = dice.pick(&[0, 0, 0, 1, 1, 2, 3]);
    if dice.percent(8) {
        return json!({"kind": kind, "list": true});
    }
    let fabric = dice.pick(&FABRICS);
    let object = match kind {
        0 => {
            let mut node = generated_nodes::node(dice.below(5), dice);
            node["status"] =
                json!({"allocatable": {"nvidia.com/gpu": "8", "x.com/east": "8", "x.com/west": "8"}});
            node
        }
        1 => {
            json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": format!("p{}", dice.below(3))}, "spec": {
                "base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": fabric}}, "priority": dice.below(3),
                "rails": [{"network": format!("fabric/{fabric}"), "resource": format!("x.com/{}", dice.pick(&FABRICS)), "count": 8}]
            }})
        }
        2 => {
            json!({"metadata": {"namespace": "fabric", "name": fabric}, "spec": {"config": "{\"type\": \"sriov\"}"}})
        }
        _ => {
            json!({"metadata": {"name": "training", "annotations": {"fabric-admission.dev/profile": format!("p{}", dice.below(3))}}})
        }
    };
    // Some are not heard of, as while the API server is away: a list comes after them.
    json!({"kind": kind, "object": object, "gone": dice.percent(25), "missed": dice.percent(15), "look": dice.percent(20)})
}

fn pod(dice: &mut Dice<'_>) -> Value {
    let mut pod = crate::support::server::bare_pod();
    pod["metadata"]["annotations"] = match dice.below(3) {
        0 => json!({"fabric-admission.dev/profile": format!("p{}", dice.below(3))}),
        _ => json!({}),
    };
    if dice.percent(60) {
        pod["spec"]["nodeSelector"] = json!({"fabric": dice.pick(&FABRICS)});
    }
    pod["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    pod
}

/// The cluster as it is: objects by kind, namespace and name.
type Objects = BTreeMap<(usize, String, String), Value>;

fn put(builder: &mut Builder, kind: usize, object: &Value) {
    let (group, name, _) = KINDS[kind];
    // What shrinking has made unreadable is not known in either of the two.
    drop(builder.add(Layer::Live, group, name, &object.to_string(), "default"));
}

/// What a list of a kind does.
fn list(builder: &mut Builder, kind: usize, objects: &Objects) {
    let mut keep = BTreeSet::new();
    for ((_, namespace, name), object) in objects.iter().filter(|((of, ..), _)| *of == kind) {
        put(builder, kind, object);
        keep.insert((namespace.clone(), name.clone()));
    }
    let kept = |namespace: &str, name: &str| keep.contains(&(namespace.to_owned(), name.to_owned()));
    builder.finish_list_and_remove_unlisted_objects(Layer::Live, KINDS[kind].2, kept);
}

fn same(case: &Value, fitted: &Cell<usize>) -> Result<(), String> {
    let mut lived = Builder::new(bases().to_vec());
    let (mut objects, mut missed) = (Objects::new(), BTreeSet::new());
    for event in case["events"].as_array().into_iter().flatten() {
        let Some(kind) = event["kind"].as_u64().and_then(|n| usize::try_from(n).ok()) else { continue };
        if event["list"] == true {
            missed.remove(&kind);
            list(&mut lived, kind, &objects);
            continue;
        }
        let object = &event["object"];
        let part = |key| object["metadata"][key].as_str().unwrap_or_default().to_owned();
        let id = (kind, part("namespace"), part("name"));
        let heard = event["missed"] != true && !missed.contains(&kind);
        if !heard {
            missed.insert(kind);
        }
        let (group, name, _) = KINDS[kind];
        if event["gone"] == true {
            if heard {
                lived.remove(Layer::Live, group, name, &id.1, &id.2);
            }
            objects.remove(&id);
        } else {
            if heard {
                put(&mut lived, kind, object);
            }
            objects.insert(id, object.clone());
        }
        if event["look"] == true {
            drop(lived.build());
        }
    }
    for kind in missed {
        list(&mut lived, kind, &objects);
    }
    let mut fresh = Builder::new(bases().to_vec());
    let mut all: Vec<_> = objects.iter().collect();
    if case["turned"] == true {
        all.reverse();
    }
    all.into_iter().for_each(|((kind, ..), object)| put(&mut fresh, *kind, object));
    for builder in [&mut lived, &mut fresh] {
        builder.set_listed(fabric_admission::facts::FactKind::NetworkAttachmentDefinition, true);
    }
    let (lived, fresh) = (lived.build(), fresh.build());
    if lived != fresh {
        return Err(format!("{lived:?}\nis not\n{fresh:?}"));
    }
    for pod in case["pods"].as_array().into_iter().flatten() {
        let (found, expected) = (answer(pod, &lived)?, answer(pod, &fresh)?);
        if found != expected {
            return Err(format!("{found}\nis not\n{expected}"));
        }
        fitted.set(fitted.get() + usize::from(found.contains("\"patch\"")));
    }
    Ok(())
}

fn answer(pod: &Value, snapshot: &Snapshot) -> Result<String, String> {
    let body = review("u", ("", "Pod"), "CREATE", pod).to_string();
    match decide_body_for_anyone(body.as_bytes(), WebhookEntry::Mutate, snapshot) {
        Ok(outcome) => Ok(String::from_utf8_lossy(&render(&outcome)).into_owned()),
        Err(error) => Ok(error.to_string()),
    }
}
