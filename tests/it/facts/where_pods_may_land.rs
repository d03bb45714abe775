//! The node filter beside a model of its own, written from the documentation of Kubernetes (Assigning Pods to
//! Nodes; Taints and Tolerations) and asked node by node. Known differences, which the model shares: cordons and the
//! taints that come and go with a node's life keep nobody away, and a taint named like a resource that the pod asks
//! for is tolerated.

use crate::support::generated_documents::{Dice, Documents};
use crate::support::generated_nodes::{self, REQUIRED};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::json::decode_with_place;
use fabric_admission::nodes::{HOSTNAME_LABEL, NodeConstraintsOfPod, NodeView, classes_pod_can_run_on};
use fabric_admission::pod::PodView;
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("where_pods_may_land::is_what_the_scheduler_would_do", || {
        // Sets that are empty, whole and in between; a model that never differs from "everything" proves nothing.
        let reached = [const { Cell::new(0) }; 4];
        check("where_pods_may_land::is_what_the_scheduler_would_do", 5000, Documents(case), |case| {
            agrees(&case.0, &reached)
        })?;
        let reached = reached.map(Cell::into_inner);
        if reached.iter().all(|n| *n > 500) { Ok(()) } else { Err(format!("reached {reached:?}").into()) }
    });
}

fn case(dice: &mut Dice<'_>) -> Value {
    let mut nodes: Vec<Value> = Vec::new();
    for i in 0..1 + dice.below(8) {
        let mut node = node(i, dice);
        if i > 0 && dice.percent(50) {
            // Alike but for its name and host.
            let own = std::mem::replace(&mut node, dice.pick(&nodes));
            node["metadata"]["name"] = own["metadata"]["name"].clone();
            let labels = node["metadata"]["labels"].as_object_mut();
            labels.into_iter().for_each(|l| drop(l.remove(HOSTNAME_LABEL)));
            if let Some(host) = own["metadata"]["labels"].get(HOSTNAME_LABEL) {
                node["metadata"]["labels"][HOSTNAME_LABEL] = host.clone();
            }
        }
        nodes.push(node);
    }
    let pods: Vec<Value> = (0..3).map(|_| pod(dice)).collect();
    json!({"nodes": nodes, "pods": pods})
}

fn node(number: usize, dice: &mut Dice<'_>) -> Value {
    let mut node = generated_nodes::node(number, dice);
    if dice.percent(20) {
        let passing =
            ["node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "karpenter.sh/disrupted"];
        let taint = json!({"key": dice.pick(&passing), "effect": "NoSchedule"});
        node["spec"]["taints"].as_array_mut().into_iter().for_each(|t| t.push(taint.clone()));
        node["spec"]["unschedulable"] = true.into();
    }
    node
}

fn pod(dice: &mut Dice<'_>) -> Value {
    let mut spec = generated_nodes::spec(dice);
    if dice.percent(20) {
        let units = dice.pick(&["1", "0"]);
        spec["containers"] = json!([{"name": "c", "resources": {"limits": {"x.io/gpu": units}}}]);
    }
    if dice.percent(6) {
        spec["nodeName"] = format!("n{}", dice.below(8)).into();
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
}

/// A snapshot of nodes alone.
pub(crate) fn snapshot<'a>(nodes: impl Iterator<Item = &'a Value>) -> Result<Snapshot, String> {
    let mut builder = Builder::new(Vec::new());
    for node in nodes {
        builder
            .add(Layer::Cluster, "", "Node", &node.to_string(), "")
            .map_err(|error| format!("{error}: {node}"))?;
    }
    Ok(builder.build())
}

/// The classes that a pod can land on.
pub(crate) fn classes(pod: &Value, view: &NodeView) -> Result<BTreeSet<usize>, String> {
    let text = pod.to_string();
    let pod: PodView<'_> = decode_with_place::decode_object(&text).map_err(|e| e.message)?;
    Ok(classes_pod_can_run_on(&NodeConstraintsOfPod::of(&pod), view).ones().collect())
}

fn agrees(case: &Value, reached: &[Cell<usize>; 4]) -> Result<(), String> {
    let list = |key: &str| case[key].as_array().cloned().unwrap_or_default();
    let nodes = list("nodes");
    let snapshot = snapshot(nodes.iter())?;
    let view = snapshot.nodes_for_audience();
    for pod in list("pods") {
        let fitting: Vec<&str> =
            nodes.iter().filter(|n| fits(&pod, n)).filter_map(|n| n["metadata"]["name"].as_str()).collect();
        let expected: BTreeSet<usize> = fitting.iter().filter_map(|n| view.class_number_of_node(n)).collect();
        let found = classes(&pod, view)?;
        if found != expected {
            return Err(format!("classes {found:?}, not {expected:?} of {fitting:?}, for {}", pod["spec"]));
        }
        // Per-node conditions decide where a class is there, though some node of it is not fit.
        let shared = nodes.iter().filter_map(|n| n["metadata"]["name"].as_str()).any(|n| {
            !fitting.contains(&n)
                && view.class_number_of_node(n).is_some_and(|class| expected.contains(&class))
        });
        let kinds = [fitting.is_empty(), fitting.len() == nodes.len(), !fitting.is_empty(), shared];
        for (count, _) in reached.iter().zip(kinds).filter(|(_, is)| *is) {
            count.set(count.get() + 1);
        }
    }
    Ok(())
}

/// The model.
pub(crate) fn fits(pod: &Value, node: &Value) -> bool {
    let (spec, name) = (&pod["spec"], node["metadata"]["name"].as_str());
    if spec["nodeName"].is_string() {
        // The pod is bound; no scheduler is asked.
        return spec["nodeName"].as_str() == name;
    }
    let labels = &node["metadata"]["labels"];
    let selected = spec["nodeSelector"]
        .as_object()
        .is_none_or(|labels_wanted| labels_wanted.iter().all(|(k, v)| labels[k] == *v));
    let required = spec["affinity"]["nodeAffinity"].get(REQUIRED);
    let wanted = required.is_none_or(|required| {
        required["nodeSelectorTerms"].as_array().into_iter().flatten().any(|term| {
            let expressions = term["matchExpressions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let fields = term["matchFields"].as_array().map(Vec::as_slice).unwrap_or_default();
            let named = json!({"metadata.name": name});
            !(expressions.is_empty() && fields.is_empty())
                && expressions.iter().all(|e| holds(e, labels))
                && fields.iter().all(|f| holds(f, &named))
        })
    });
    let taints = node["spec"]["taints"].as_array().map(Vec::as_slice).unwrap_or_default();
    selected && wanted && taints.iter().all(|taint| !repels(taint) || tolerated(taint, spec))
}

/// An expression on labels as the documentation's table has it.
fn holds(expression: &Value, labels: &Value) -> bool {
    let label = expression["key"].as_str().and_then(|key| labels[key].as_str());
    let values: Vec<&str> =
        expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let numbers = || {
        let bound = values.first()?.parse::<i64>().ok()?;
        Some((label?.parse::<i64>().ok()?, bound))
    };
    match expression["operator"].as_str() {
        Some("In") => label.is_some_and(|l| values.contains(&l)),
        Some("NotIn") => label.is_none_or(|l| !values.contains(&l)),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        Some("Gt") => numbers().is_some_and(|(label, bound)| label > bound),
        Some("Lt") => numbers().is_some_and(|(label, bound)| label < bound),
        _ => false,
    }
}

fn repels(taint: &Value) -> bool {
    let key = taint["key"].as_str().unwrap_or_default();
    taint["effect"] != "PreferNoSchedule"
        && !key.starts_with("node.kubernetes.io/")
        && key != "karpenter.sh/disrupted"
}

fn tolerated(taint: &Value, spec: &Value) -> bool {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let by_resource = spec["containers"].as_array().into_iter().flatten().any(|c| {
        let units = &c["resources"]["limits"][text(&taint["key"])];
        !units.is_null() && units != "0"
    });
    by_resource
        || spec["tolerations"].as_array().into_iter().flatten().any(|toleration| {
            let is = |field: &str| text(&toleration[field]) == text(&taint[field]);
            let key =
                is("key") || (text(&toleration["key"]).is_empty() && toleration["operator"] == "Exists");
            let effect = text(&toleration["effect"]).is_empty() || is("effect");
            let value = match text(&toleration["operator"]).as_str() {
                "Exists" => true,
                "" | "Equal" => is("value"),
                _ => false,
            };
            key && effect && value
        })
}
