//! Pods with many claims on devices. Each claim is compared with the known claims and templates. Shapes for
//! [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape};
use serde_json::{Value, json};

pub(super) const SHAPES: [Shape; 3] = [
    ("claims on devices, and requests of their templates", |n| {
        let (uses, templates) = (used(n), (0..n).map(|i| template(i, (n / 25).min(32), 8)).collect());
        (pod(n, uses), templates)
    }),
    ("claims on devices that no container uses, and requests of their templates", |n| {
        (pod(n, Vec::new()), (0..n).map(|i| template(i, (n / 25).min(32), 8)).collect())
    }),
    ("containers that use whole claims, and requests of their templates", |n| {
        let mut made = pod(16, used(16));
        let user = json!({"image": "x", "resources": {"claims": used(16)}});
        made["spec"]["containers"].as_array_mut().unwrap().extend(vec![user; n / 2]);
        let class = json!({"metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]}});
        let requests = ((n / 25).pow(2) / 32).clamp(1, 32);
        let mut objects: Vec<Object> = (0..16).map(|i| accelerators(i, requests)).collect();
        objects.push(("resource.k8s.io", "DeviceClass", "", class));
        (made, objects)
    }),
];

/// A pod with so many claims, each on a template of its own.
fn pod(claims: usize, uses: Vec<Value>) -> Value {
    let claim = |i: usize| json!({"name": format!("c{i}"), "resourceClaimTemplateName": format!("t{i}")});
    json!({"spec": {"resourceClaims": (0..claims).map(claim).collect::<Vec<_>>(), "containers": [{"name": "a", "image": "x",
        "resources": {"limits": {"nvidia.com/gpu": 8}, "claims": uses}}]}})
}

fn used(claims: usize) -> Vec<Value> {
    (0..claims).map(|i| json!({"name": format!("c{i}")})).collect()
}

/// A template with so many requests, each with so many alternatives. The API server allows 32 and 8
/// (k8s.io/api resource/v1, `DeviceRequestsMaxSize` and `FirstAvailableDeviceRequestMaxSize`).
fn template(nth: usize, requests: usize, alternatives: usize) -> Object {
    let ask = |k: usize| json!({"name": format!("a{k}"), "deviceClassName": format!("class-of-devices-{k}")});
    let request = |r: usize| json!({"name": format!("r{r}"), "firstAvailable": (0..alternatives).map(ask).collect::<Vec<_>>()});
    let requests: Vec<Value> = (0..requests).map(request).collect();
    let object = json!({"metadata": {"name": format!("t{nth}"), "namespace": "team"}, "spec": {"spec": {"devices": {"requests": requests}}}});
    ("resource.k8s.io", "ResourceClaimTemplate", "team", object)
}

/// A template with so many requests of one accelerator.
fn accelerators(nth: usize, requests: usize) -> Object {
    let request = |r: usize| json!({"name": format!("r{r}"), "exactly": {"deviceClassName": "gpu"}});
    let requests: Vec<Value> = (0..requests).map(request).collect();
    let object = json!({"metadata": {"name": format!("t{nth}"), "namespace": "team"}, "spec": {"spec": {"devices": {"requests": requests}}}});
    ("resource.k8s.io", "ResourceClaimTemplate", "team", object)
}
