//! What a decision costs as the cluster grows, for a pod whose profile is found by the nodes it can run on.
//!
//! ```text
//! cargo bench --bench nodes                                      times
//! cargo bench --bench nodes -- --count NODES PROFILES NETWORKS   so many decisions and resolutions, to count
//!                                                                instructions of; docs/testing.md
//! cargo bench --bench nodes -- --build NODES                     time and memory of an index
//! cargo bench --bench nodes -- --policies NODES                  time of a SriovNetworkNodePolicy beside so many states
//! ```
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod scene;

use criterion::{BenchmarkId, Criterion};
use fabric_admission::demands::Subject;
use fabric_admission::facts::{EnforcementMode, FactKind};
use fabric_admission::json::decode_with_place;
use fabric_admission::nodes::{NodeBuilder, NodeObject};
use fabric_admission::pod::PodView;
use fabric_admission::resolve::{Resolution, resolve_profile_of_pod};
use fabric_admission::review::decide_object_that_makes_no_pods;
use fabric_admission::review::decide_webhook_request::{Answer, WebhookEntry, decide_body_for_anyone};
use fabric_admission::rules::{ObjectContext, ObjectEvent};
use fabric_admission::snapshot::{Layer, Snapshot};
use scene::{pod, review};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Nodes, profiles, networks: each grows alone, then all of them.
const SIZES: [(usize, usize, usize); 9] = [
    (10, 8, 10),
    (1000, 8, 10),
    (10_000, 8, 10),
    (130_000, 8, 10),
    (10_000, 1, 10),
    (10_000, 64, 10),
    (10_000, 512, 10),
    (10_000, 8, 10_000),
    (130_000, 512, 10_000),
];
/// Decisions that are counted.
const COUNTED: usize = 20;

/// The answer of the mutating webhook.
fn decide(body: &[u8], snapshot: &Snapshot) -> Answer {
    decide_body_for_anyone(body, WebhookEntry::Mutate, snapshot).unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let numbers: Vec<usize> = args.iter().skip(1).filter_map(|a| a.parse().ok()).collect();
    match (args.first().map(String::as_str), &numbers[..]) {
        (Some("--count"), [nodes, profiles, networks]) => count(*nodes, *profiles, *networks),
        (Some("--build"), [nodes]) => build(*nodes),
        (Some("--policies"), [nodes]) => policies(*nodes),
        _ => {
            let mut criterion = Criterion::default().configure_from_args();
            slope(&mut criterion);
            changes(&mut criterion);
            criterion.final_summary();
        }
    }
}

fn slope(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("nodes");
    let pod = training_pod();
    let (text, body) = (pod.to_string(), review(&pod));
    for (nodes, profiles, networks) in SIZES {
        let snapshot = snapshot(nodes, profiles, networks);
        let size = format!("{nodes} nodes, {profiles} profiles, {networks} networks");
        assert_eq!(decide(&body, &snapshot).decision.profile.as_deref(), Some("site-0"), "{size}");
        group.bench_function(BenchmarkId::new("decision", &size), |b| {
            b.iter(|| decide(black_box(&body), &snapshot));
        });
        let view: PodView<'_> = decode_with_place::decode_object(&text).unwrap();
        group.bench_function(BenchmarkId::new("candidates", &size), |b| {
            b.iter(|| candidates(black_box(&view), &snapshot));
        });
    }
    group.finish();
}

/// What one change of a node costs, and a view after it.
fn changes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("changes");
    group.sample_size(20);
    for nodes in [10_000, 130_000] {
        let mut index = NodeBuilder::default();
        (0..nodes).for_each(|i| add(&mut index, &node(i, "")));
        index.rebuild_view_if_changed();
        // The same class as before, one that others have, and one of its own.
        let same = node(70, "");
        let moved = same.replace("\"rack-1\"", "\"rack-25\"");
        let alone = same.replace("\"rack-1\"", "\"rack-new\"");
        for (name, change) in [("nothing", &same), ("another class", &moved), ("a new class", &alone)] {
            group.bench_function(BenchmarkId::new(name, nodes), |b| {
                b.iter(|| {
                    add(&mut index, change);
                    let there = index.rebuild_view_if_changed();
                    add(&mut index, &same);
                    (there, index.rebuild_view_if_changed())
                });
            });
        }
    }
    group.finish();
}

/// Decisions and resolutions, so many that a counter of instructions can tell them from the rest.
fn count(nodes: usize, profiles: usize, networks: usize) {
    let snapshot = snapshot(nodes, profiles, networks);
    let pod = training_pod();
    let (text, body) = (pod.to_string(), review(&pod));
    let view: PodView<'_> = decode_with_place::decode_object(&text).unwrap();
    // What is made once for a Snapshot is made now.
    decide(&body, &snapshot);
    for _ in 0..COUNTED {
        counted_decision(&body, &snapshot);
        counted_candidates(&view, &snapshot);
    }
    println!("{COUNTED} decisions, {} classes", snapshot.nodes_for_audience().classes().all().count_ones(..));
}

#[inline(never)]
fn counted_decision(body: &[u8], snapshot: &Snapshot) {
    black_box(decide(black_box(body), snapshot));
}

#[inline(never)]
fn counted_candidates(pod: &PodView<'_>, snapshot: &Snapshot) {
    black_box(candidates(black_box(pod), snapshot));
}

fn build(nodes: usize) {
    let filler = "x".repeat(30_000);
    let start = Instant::now();
    let mut bytes = 0;
    for i in 0..nodes {
        bytes += black_box(node(i, &filler)).len();
    }
    let text = start.elapsed();
    let (before, start) = (resident(), Instant::now());
    let mut index = NodeBuilder::default();
    for i in 0..nodes {
        add(&mut index, &node(i, &filler));
    }
    let (added, start) = (start.elapsed().saturating_sub(text), Instant::now());
    let view = index.rebuild_view_if_changed();
    println!(
        "{nodes} nodes of {} kB: read and sorted in {added:.1?}, the view in {:.1?}; {} classes; {} MiB, at most {}",
        bytes / nodes.max(1) / 1000,
        start.elapsed(),
        view.classes().all().count_ones(..),
        resident().0.saturating_sub(before.0) / 1024,
        resident().1.saturating_sub(before.0) / 1024,
    );
}

/// One policy at a time beside the NICs of all nodes: one that fits, one of the last pool, one that no NIC answers to, and
/// one for a pool without states.
fn policies(nodes: usize) {
    let mut builder = scene::builder();
    let (group, state) = ("sriovnetwork.openshift.io", "SriovNetworkNodeState");
    for i in 0..nodes {
        builder.add(Layer::Live, "", "Node", &node(i, ""), "").unwrap();
        let nics: Vec<Value> = (0..8)
            .map(|n| {
                json!({"name": format!("ens{n}f0np0"), "pciAddress": format!("0000:{n}a:00.0"), "vendor": "15b3",
                    "deviceID": "1021", "linkType": "ETH", "mtu": 9000, "numVfs": 8, "totalvfs": 16})
            })
            .collect();
        let name = format!("gpu-{i:06}.cluster.example.com");
        let object =
            json!({"metadata": {"name": name, "namespace": "sriov"}, "status": {"interfaces": nics}});
        // The last pool has none.
        if i / 64 % 8 != 7 || i < 7 {
            builder.add(Layer::Live, group, state, &object.to_string(), "").unwrap();
        }
    }
    let start = Instant::now();
    let snapshot = builder.build();
    println!("{nodes} nodes: a view in {:.1?}", start.elapsed());
    for (what, pool, nic) in [
        ("fits", "pool-0", "ens1f0np0"),
        ("is for a late pool", "pool-6", "ens1f0np0"),
        ("no NIC answers to", "pool-0", "ens9f0np0"),
        ("is for nodes without states", "pool-7", "ens1f0np0"),
    ] {
        let policy = json!({"metadata": {"name": "p", "namespace": "sriov"}, "spec": {"resourceName": "r", "numVfs": 8,
            "isRdma": true, "priority": 90, "mtu": 1500, "nicSelector": {"vendor": "15b3", "pfNames": [nic]},
            "nodeSelector": {"example.com/pool": pool}}})
        .to_string();
        let start = Instant::now();
        let context =
            ObjectContext::new((group, "SriovNetworkNodePolicy"), &policy, ObjectEvent::Given, &snapshot);
        let findings = decide_object_that_makes_no_pods(&context, EnforcementMode::Enforce).findings;
        let rules: Vec<_> = findings.iter().map(|f| f.rule).collect();
        println!("a policy that {what}: {:.2?} {rules:?}", start.elapsed());
    }
}

/// Resident memory now, and the most of it so far (KiB).
fn resident() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    (field("VmRSS:"), field("VmHWM:"))
}

fn candidates(pod: &PodView<'_>, snapshot: &Snapshot) -> Resolution {
    resolve_profile_of_pod(&Subject::of(pod, "team", snapshot), None)
}

/// The training pod of the other bench, without annotation, for one pool.
fn training_pod() -> Value {
    let mut pod = pod(8, false);
    pod["spec"]["nodeSelector"] =
        json!({"example.com/pool": "pool-0", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"});
    pod["spec"]["tolerations"]
        .as_array_mut()
        .unwrap()
        .push(json!({"key": "nvidia.com/gpu", "operator": "Exists"}));
    pod
}

fn add(index: &mut NodeBuilder, text: &str) {
    index.add_or_replace_node(&serde_json::from_str::<NodeObject<'_>>(text).unwrap());
}

/// A node with about sixty labels: of 8 pools, 3 zones and racks of 64 nodes.
fn node(number: usize, filler: &str) -> String {
    use std::fmt::Write;
    let (rack, name) = (number / 64, format!("gpu-{number:06}.cluster.example.com"));
    let (pool, zone) = (if number < 8 { number } else { rack % 8 }, rack % 3);
    let mut labels = format!(
        r#""kubernetes.io/hostname":"{name}","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","example.com/pool":"pool-{pool}","topology.kubernetes.io/zone":"zone-{zone}","topology.kubernetes.io/region":"region-1","example.com/rack":"rack-{rack}","node.kubernetes.io/instance-type":"h100-8","nvidia.com/gpu.present":"true","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.count":"8""#
    );
    for i in 0..50 {
        let _ = write!(labels, r#","feature.node.kubernetes.io/cpu-cpuid.FEATURE{i}":"true""#);
    }
    format!(
        r#"{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{name}","labels":{{{labels}}},"annotations":{{"filler":"{filler}"}}}},"spec":{{"taints":[{{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}}]}},"status":{{"allocatable":{{"cpu":"192","memory":"2Ti","pods":"110","nvidia.com/gpu":"8","nvidia.com/sriov_resource":"8","example.com/rail":"8"}}}}}}"#
    )
}

/// Profiles `site-0` and on, the first eight for a pool each and the others for pools that are not there; nodes
/// and networks.
fn snapshot(nodes: usize, profiles: usize, networks: usize) -> Snapshot {
    let mut builder = scene::builder();
    let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
    for i in 0..profiles {
        let labels = json!({"example.com/pool": format!("pool-{i}")});
        let mut spec = json!({"base": "roce-sriov", "nodeSelector": {"matchLabels": labels}});
        if i > 0 {
            spec["rails"] = json!([{"network": format!("default/fabric-{i}"), "resource": "example.com/rail", "count": 8}]);
        }
        let profile =
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": format!("site-{i}")}, "spec": spec});
        builder.add(Layer::Live, "fabric-admission.dev", kind, &profile.to_string(), "").unwrap();
    }
    scene::networks(&mut builder, networks);
    // As a server knows them from its watches.
    builder.set_listed(FactKind::NetworkAttachmentDefinition, true);
    builder.set_listed(FactKind::Node, true);
    for i in 0..nodes {
        builder.add(Layer::Live, "", "Node", &node(i, ""), "").unwrap();
    }
    builder.build()
}
