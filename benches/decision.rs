//! What a decision costs, beside what merely reading the same body costs. The floor is the decoder alone: the
//! envelope and the fields of a pod that decide something. `cargo bench --bench decision`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod scene;
mod shapes;

use criterion::{BenchmarkId, Criterion, Throughput};
use fabric_admission::json::decode_with_place;
use fabric_admission::pod::PodView;
use fabric_admission::review::decide_webhook_request::{Answer, WebhookEntry, decide_body_for_anyone};
use fabric_admission::review::{admission_response, admission_review};
use fabric_admission::snapshot::{Layer, Snapshot};
use scene::{pod, review};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::time::Duration;

/// The answer of the mutating webhook.
fn decide(body: &[u8], snapshot: &Snapshot) -> Answer {
    decide_body_for_anyone(body, WebhookEntry::Mutate, snapshot).unwrap()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    training_pod(&mut criterion);
    slope(&mut criterion);
    worst(&mut criterion);
    devices(&mut criterion);
    hostile(&mut criterion);
    criterion.final_summary();
}

/// The review that the bars are about, and the same work left out step by step.
fn training_pod(criterion: &mut Criterion) {
    let body = review(&pod(8, true));
    assert!((7200..=7800).contains(&body.len()), "{} bytes", body.len());
    let snapshot = snapshot(1, 10);
    let outcome = decide(&body, &snapshot);
    assert!(!outcome.decision.denied, "{:?}", outcome.decision.findings);
    assert_eq!(outcome.decision.patch.read_operations().len(), 11);
    let mut idle = pod(0, false);
    // Variables of NCCL are a sign of a fabric, for which a pod is decoded.
    let variables = idle["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    variables.retain(|v| !v["name"].as_str().unwrap().starts_with("NCCL_"));
    let idle = review(&idle);
    assert!(!decide(&idle, &snapshot).decision.in_scope);

    let mut group = criterion.benchmark_group("training pod");
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
    group.bench_function("decision", |b| b.iter(|| decide(black_box(&body), &snapshot)));
    group.bench_function("decision and answer", |b| {
        b.iter(|| admission_response::render(&decide(black_box(&body), &snapshot)))
    });
    group.bench_function("fields alone", |b| b.iter(|| floor(black_box(&body))));
    group.bench_function("serde_json::Value", |b| {
        b.iter(|| serde_json::from_slice::<Value>(black_box(&body)).unwrap())
    });
    group.throughput(Throughput::Bytes(u64::try_from(idle.len()).unwrap()));
    group.bench_function("out of scope", |b| b.iter(|| decide(black_box(&idle), &snapshot)));
    group.finish();
}

/// What a decision costs as the cluster grows: for a pod that names its profile, and for one whose profile
/// is found by what the pod asks for.
fn slope(criterion: &mut Criterion) {
    let named = review(&pod(8, true));
    let mut found = pod(8, false);
    found["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/sriov_resource"] = "8".into();
    let found = review(&found);
    let mut group = criterion.benchmark_group("slope");
    for (profiles, networks) in [(1, 10), (64, 10), (512, 10), (1, 10_000), (512, 10_000)] {
        let snapshot = snapshot(profiles, networks);
        for (how, body) in [("named", &named), ("found", &found)] {
            assert_eq!(decide(body, &snapshot).decision.profile.as_deref(), Some("site-0"));
            let id = BenchmarkId::new(how, format!("{profiles} profiles, {networks} networks"));
            group.bench_function(id, |b| b.iter(|| decide(black_box(body), &snapshot)));
        }
    }
    group.finish();
}

/// The largest bodies that come through, whatever a decision walks being as long as it can be. The bar is 50 ms.
fn worst(criterion: &mut Criterion) {
    let snapshot = snapshot(1, 3000);
    let mut group = criterion.benchmark_group("worst");
    group.sample_size(10).measurement_time(Duration::from_secs(4));
    let shapes = shapes::shapes();
    let fits = |body: &Vec<u8>, least: usize| (least << 20..=8 << 20).contains(&body.len());
    let wrong: Vec<_> = shapes.iter().filter(|(_, body, _, least)| !fits(body, *least)).collect();
    let wrong: Vec<_> =
        wrong.iter().map(|(name, body, ..)| format!("{name}: {} bytes", body.len())).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    for (name, body, entry, _) in shapes {
        group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
        // Some of them are refused as they are read; that must cost little as well.
        group.bench_function(name, |b| {
            b.iter(|| {
                decide_body_for_anyone(black_box(&body), entry, &snapshot)
                    .map(|outcome| admission_response::render(&outcome))
                    .is_ok()
            })
        });
        if name == "containers x env" {
            group.bench_function(format!("{name}, fields alone"), |b| b.iter(|| floor(black_box(&body))));
        }
    }
    group.finish();
}

/// Networks and containers with devices, as many of each as fit: what networks take is compared with what containers
/// hold, under a profile that serves every network and under one of two rails.
fn devices(criterion: &mut Criterion) {
    let (body, snapshot) = many_devices(1000, 4000);
    let mut group = criterion.benchmark_group("devices");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
    for profile in ["every-network", "two-rails"] {
        let body = String::from_utf8(body.clone()).unwrap().replace("PROFILE", profile).into_bytes();
        assert_eq!(decide(&body, &snapshot).decision.profile.as_deref(), Some(profile));
        group.bench_function(profile, |b| b.iter(|| decide(black_box(&body), &snapshot)));
    }
    group.bench_function("fields alone", |b| b.iter(|| floor(black_box(&body))));
    group.finish();
}

/// A review of a pod that names so many networks, and of whose containers each holds 62 of their resources; and the
/// networks.
fn many_devices(networks: usize, containers: usize) -> (Vec<u8>, Snapshot) {
    let mut builder = scene::builder();
    for (name, spec) in [
        ("every-network", json!({"base": "nri-compat"})),
        (
            "two-rails",
            json!({"base": "roce-sriov", "rails": [
                {"network": "n0", "resource": "x.io/0"}, {"network": "n1", "resource": "x.io/1"}]}),
        ),
    ] {
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        let profile = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec});
        builder.add(Layer::Live, "fabric-admission.dev", kind, &profile.to_string(), "").unwrap();
    }
    for i in 0..networks {
        let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": format!("x.io/{i}")});
        let metadata = json!({"name": format!("n{i}"), "namespace": "team", "annotations": annotations});
        let config = r#"{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"sriov"}]}"#;
        let network = json!({"metadata": metadata, "spec": {"config": config}}).to_string();
        builder.add(Layer::Live, "k8s.cni.cncf.io", "NetworkAttachmentDefinition", &network, "").unwrap();
    }
    let mut pod = pod(8, true);
    let names: Vec<String> = (0..networks).map(|i| format!("n{i}")).collect();
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = names.join(",").into();
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = "PROFILE".into();
    let container = |c: usize| {
        let name = |i: usize| (format!("x.io/{}", (c * 62 + i) % networks), json!(1));
        let mut limits: Map<_, _> = (0..62).map(name).collect();
        limits.insert("nvidia.com/gpu".to_owned(), json!(1));
        json!({"name": format!("c{c}"), "resources": {"limits": limits}})
    };
    pod["spec"]["containers"] = (0..containers).map(container).collect();
    (review(&pod), builder.build())
}

/// Pods that nobody writes and anybody may send: a list repeated until the body is 256 KiB long. What is said of
/// twice the body must cost about twice as much.
fn hostile(criterion: &mut Criterion) {
    const SIZES: [usize; 2] = [128 << 10, 256 << 10];
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let snapshot = snapshot(1, 10);
    type Shape = fn(usize) -> Value;
    let shapes: [(&str, Shape); 6] = [
        ("resources", many_resources),
        ("targets", many_targets),
        ("volumes", many_volumes),
        ("networks", many_networks),
        ("variables", many_variables),
        ("shell text", long_shell_text),
    ];
    for (name, shape) in shapes {
        for size in SIZES {
            let body = review(&shape(size));
            assert!(body.len().abs_diff(size) < 24 << 10, "{name}: {} bytes", body.len());
            let id = BenchmarkId::new(name, format!("{} KiB", size >> 10));
            group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
            // Some of them are refused as they are read; that must cost little as well.
            group.bench_function(id, |b| {
                b.iter(|| decide_body_for_anyone(black_box(&body), WebhookEntry::Mutate, &snapshot).is_ok())
            });
        }
    }
    group.finish();
}

/// One container that lists resource after resource, in limits and in requests.
fn many_resources(size: usize) -> Value {
    let mut pod = pod(8, true);
    let list: Map<_, _> = (0..size / 32).map(|i| (format!("a.io/{i:05}"), json!(1))).collect();
    let mut limits = list.clone();
    limits.insert("nvidia.com/gpu".to_owned(), json!(8));
    pod["spec"]["containers"][0]["resources"] = json!({"limits": limits, "requests": list});
    pod
}

/// Containers that each get everything but `IPC_LOCK`.
fn many_targets(size: usize) -> Value {
    let mut pod = pod(8, true);
    let container = json!({"name": "a", "resources": {"limits": {"nvidia.com/gpu": 2}}});
    pod["spec"]["containers"] = vec![container; size / 58].into();
    pod["spec"]["securityContext"]["runAsUser"] = 1000.into();
    pod
}

/// Containers that mount what is not among the volumes.
fn many_volumes(size: usize) -> Value {
    let mut pod = pod(8, true);
    let mount = json!({"name": "gone", "mountPath": "/dev/shm"});
    let container =
        json!({"name": "a", "resources": {"limits": {"nvidia.com/gpu": 2}}, "volumeMounts": [mount]});
    pod["spec"]["containers"] = vec![container; size / 230].into();
    pod["spec"]["volumes"] = (0..size / 36).map(|i| json!({"name": format!("v{i:06}")})).collect();
    pod
}

/// Variables that begin as NCCL's and are not known.
fn many_variables(size: usize) -> Value {
    let mut pod = pod(8, true);
    let variable = |i| json!({"name": format!("NCCL_SOCKET_IFN{i:07}"), "value": "eth0"});
    pod["spec"]["containers"][0]["env"] = (0..size / 49).map(variable).collect();
    pod
}

/// A command that sets variable after variable.
fn long_shell_text(size: usize) -> Value {
    let mut pod = pod(8, true);
    pod["spec"]["containers"][0]["args"] =
        json!(["-c", "export NCCL_DEBUG=\"${NCCL_DEBUG:-INFO}\"; ".repeat((size - 8000) / 46)]);
    pod
}

/// An annotation that asks for network after network.
fn many_networks(size: usize) -> Value {
    let mut pod = pod(8, true);
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] =
        vec!["a"; size / 2 - 8000].join(",").into();
    pod
}

/// Reads the fields that a decision reads, and nothing more. Returns how many variables there are.
fn floor(body: &[u8]) -> usize {
    let request = admission_review::parse(body).unwrap();
    let pod: PodView<'_> = decode_with_place::decode_object(request.object.unwrap().get()).unwrap();
    black_box(&pod).containers().iter().map(|c| c.env().len()).sum()
}

/// Profiles `site-0` and on, each with networks and a resource of its own, and network attachments.
fn snapshot(profiles: usize, networks: usize) -> Snapshot {
    let mut builder = scene::builder();
    for i in 0..profiles {
        let mut spec = json!({"base": "roce-sriov"});
        if i > 0 {
            let network = format!("default/fabric-{i}");
            spec["rails"] =
                json!([{"network": network, "resource": format!("example.com/fabric_{i}"), "count": 8}]);
        }
        let metadata = json!({"name": format!("site-{i}")});
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        let profile = json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec});
        builder.add(Layer::Live, "fabric-admission.dev", kind, &profile.to_string(), "").unwrap();
    }
    scene::networks(&mut builder, networks);
    builder.build()
}
