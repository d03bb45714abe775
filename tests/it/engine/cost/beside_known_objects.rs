//! Pods and known objects that grow together: what a pod states is not multiplied by what is known.

use super::costly_products::{body, entry, once_for, update};
use super::objects_to_grow::kind;
use super::{
    TIMES, beside_claims, beside_facts, beside_networks, beside_policies, compare, many_long_names,
    many_templates, repeated_in_workloads, shared_lists_and_texts, verdict, workloads_and_updates,
};
use crate::support::suite::Outcome;
use fabric_admission::review::decide_webhook_request::{SnapshotForAudience, WebhookEntry};
use fabric_admission::snapshot::{Audience, Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::time::Duration;

/// In proportion it is 8, and 64 where the cost is the product of two parts.
const MOST: f64 = 24.0;
const FLOOR: Duration = Duration::from_millis(2);

/// A known object: group, kind, namespace, the object.
pub(super) type Object = (&'static str, &'static str, &'static str, Value);
/// What grows, and how a pod of a size and the objects around it are made.
pub(super) type Shape = (&'static str, fn(usize) -> (Value, Vec<Object>));

const SHAPES: [Shape; 9] = [
    ("values of a label that differs on nearly every node, and nodes with the value", |n| {
        let is = json!({"key": "example.com/serial", "operator": "In", "values": vec!["none"; n * 2]});
        (on(json!([{ "matchExpressions": [is] }])), nodes(n))
    }),
    ("terms on a label that differs on nearly every node, and nodes with the value", |n| {
        let is = json!({"key": "example.com/serial", "operator": "In", "values": ["none"]});
        (on((0..n).map(|_| json!({ "matchExpressions": [is] })).collect()), nodes(n))
    }),
    ("names of nodes that are kept off, and nodes", |n| {
        let values: Vec<String> = (0..n * 2).map(|i| format!("x{i}")).collect();
        let not = json!({"key": "metadata.name", "operator": "NotIn", "values": values});
        let none = json!({"key": "kubernetes.io/hostname", "operator": "DoesNotExist"});
        (on(json!([{"matchFields": [not], "matchExpressions": [none]}])), nodes(n))
    }),
    ("attachments of a network, and its subnets", |n| {
        let address = |i: usize| json!({"address": format!("10.0.{}.{}/32", i / 256, i % 256)});
        let config = json!({"cniVersion": "1.0.0", "name": "b", "type": "macvlan",
            "ipam": {"type": "static", "addresses": (0..n * 4).map(address).collect::<Vec<_>>()}});
        (attached(&vec!["b".to_owned(); n * 2], json!([])), vec![network("b", &config, json!({}))])
    }),
    ("claims of one name, and requests of it", |n| {
        let uses: Vec<Value> = (0..n).map(|i| json!({"name": "c", "request": format!("r/{i}")})).collect();
        let claims = vec![json!({"name": "c", "resourceClaimTemplateName": "t"}); n];
        (claiming(json!(claims), json!(uses)), vec![template(4)])
    }),
    ("requests of a claim, and those that its template has", |n| {
        let uses: Vec<Value> = (0..n).map(|i| json!({"name": "c", "request": format!("r/{i}")})).collect();
        (claiming(json!([{"name": "c", "resourceClaimTemplateName": "t"}]), json!(uses)), vec![template(n)])
    }),
    ("claims on a template, and its requests", |n| {
        let claim = |i: usize| json!({"name": format!("c{i}"), "resourceClaimTemplateName": "t"});
        (claiming((0..n).map(claim).collect(), json!([])), vec![template(n)])
    }),
    ("networks whose devices nobody requests, and quantities that nobody can read", |n| {
        let names: Vec<String> = (0..n / 2).map(|i| format!("net{i}")).collect();
        let own = |i: usize| json!({"name": format!("c{i}"), "image": "x", "resources": {"limits": {format!("example.com/z{i}"): "1"}}});
        let nad = |name: &String| {
            let config = json!({"cniVersion": "1.0.0", "name": name, "type": "sriov"});
            network(name, &config, json!({"k8s.v1.cni.cncf.io/resourceName": format!("example.com/{name}")}))
        };
        let objects = names.iter().map(nad).collect();
        (attached(&names, (0..n * 2).map(own).collect()), objects)
    }),
    ("containers with /etc/nccl.conf, and files of its volume", |n| {
        let container = |i: usize| {
            json!({"name": format!("c{i}"), "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}},
                "volumeMounts": [{"name": "v", "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf"}]})
        };
        let volume = json!({"name": "v", "downwardAPI": {"items": vec![json!({"fieldRef": {"fieldPath": "a"}}); n * 4]}});
        let spec = json!({"containers": (0..n / 2).map(container).collect::<Vec<_>>(), "volumes": [volume]});
        (json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": spec}), vec![])
    }),
];

/// A pod with accelerators that runs only on nodes of one of these terms.
pub(super) fn on(terms: Value) -> Value {
    json!({"spec": {"containers": [{"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}],
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}})
}

/// More values of a label than classes may have, and nodes that share one.
fn nodes(n: usize) -> Vec<Object> {
    let node = |name: String, serial: String| {
        let labels = json!({"kubernetes.io/hostname": name, "fabric": "roce", "example.com/serial": serial});
        let object = json!({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
        ("", "Node", "", object)
    };
    let own = (0..4_200).map(|i| node(format!("u{i}"), format!("t{i}")));
    own.chain((0..n * 4).map(|i| node(format!("n{i}"), "none".to_owned()))).collect()
}

fn attached(networks: &[String], more: Value) -> Value {
    let mut containers =
        vec![json!({"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}})];
    containers.extend(more.as_array().cloned().unwrap_or_default());
    json!({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": networks.join(",")}}, "spec": {"containers": containers}})
}

fn network(name: &str, config: &Value, annotations: Value) -> Object {
    let object = json!({"metadata": {"name": name, "namespace": "team", "annotations": annotations}, "spec": {"config": config.to_string()}});
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "team", object)
}

fn claiming(claims: Value, uses: Value) -> Value {
    json!({"spec": {"resourceClaims": claims, "containers": [{"name": "a", "image": "x",
        "resources": {"limits": {"nvidia.com/gpu": 8}, "claims": uses}}]}})
}

fn template(requests: usize) -> Object {
    let request =
        |i: usize| json!({"name": format!("r{i}"), "exactly": {"deviceClassName": "gpu.nvidia.com"}});
    let requests: Vec<Value> = (0..requests).map(request).collect();
    let object = json!({"metadata": {"name": "t", "namespace": "team"}, "spec": {"spec": {"devices": {"requests": requests}}}});
    ("resource.k8s.io", "ResourceClaimTemplate", "team", object)
}

pub(super) fn snapshot(objects: &[Object]) -> Snapshot {
    let mut builder = Builder::new(crate::support::generated_world::bases().to_vec());
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p"}, "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": "roce"}}}});
    let all = std::iter::once(("fabric-admission.dev", "FabricProfile", "", &profile));
    for (group, kind, namespace, object) in all.chain(objects.iter().map(|(g, k, n, o)| (*g, *k, *n, o))) {
        builder.add(Layer::Live, group, kind, &object.to_string(), namespace).unwrap();
    }
    builder.build()
}

/// Every shape, with the audience that learns most of what makes it costly.
pub(super) fn all() -> impl Iterator<Item = (&'static Shape, Audience)> {
    let anyone = SHAPES
        .iter()
        .chain(&beside_facts::SHAPES)
        .chain(&beside_networks::SHAPES)
        .chain(&beside_claims::SHAPES)
        .chain(&shared_lists_and_texts::SHAPES)
        .chain(&many_long_names::SHAPES)
        .chain(&repeated_in_workloads::SHAPES)
        .map(|shape| (shape, Audience::Anyone));
    let tenants =
        workloads_and_updates::SHAPES.iter().chain(&beside_policies::SHAPES).chain(&many_templates::SHAPES);
    anyone.chain(tenants.map(|shape| (shape, Audience::Tenant)))
}

pub(super) fn proportionate() -> Outcome {
    let only: Option<String> = super::given("FABRIC_ADMISSION_COST_ONLY");
    let shapes: Vec<(&Shape, Audience)> =
        all().filter(|(s, _)| only.as_ref().is_none_or(|part| s.0.contains(part))).collect();
    let all = shapes.len();
    let taken: Vec<_> = shapes
        .into_iter()
        .map(|((what, make), audience)| {
            let made = [2, 100, 100 * TIMES].map(|n| {
                let (object, objects) = make(n);
                (request(object), snapshot(&objects))
            });
            let inputs = made.each_ref().map(|((_, body), _)| body.clone());
            compare((*what).to_owned(), inputs, FLOOR, |input, times| {
                let known = made.iter().find(|((_, body), _)| body == input);
                let decide = |_| {
                    known.map_or(Duration::MAX, |((entry, _), snapshot)| {
                        once_for(input, *entry, SnapshotForAudience { snapshot, audience })
                    })
                };
                (0..times).map(decide).min().unwrap_or_default()
            })
        })
        .collect();
    verdict("known", &taken, all, MOST)
}

/// The request to create an object, a pod if it names no kind. No text of the shapes has a `§` but the keys that stand for one
/// key many times.
pub(super) fn request(mut object: Value) -> (WebhookEntry, Vec<u8>) {
    let updates = object.as_object_mut().is_some_and(|members| members.remove("update").is_some());
    let named = object["kind"].is_string();
    let (group, kind) = if named { kind(&object) } else { ("", "Pod") };
    let (group, kind) = (group.to_owned(), kind.to_owned());
    let body = match updates {
        true => update(&group, &kind, object),
        false => body(&group, &kind, object),
    };
    let mut parts = std::str::from_utf8(&body).unwrap_or_default().split('§');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    (entry(&group, &kind), rest.fold(first, |text, part| text + part).into_bytes())
}
