//! Bodies close to 8 MiB, or objects close to the 3 MiB that an object may have, which nobody writes and anybody may
//! send: whatever a decision walks, as long as it can be.

use super::scene::{pod, review};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::decide_webhook_request::WebhookEntry;
use serde_json::{Value, json};

/// Name, body, the entry it comes to, and how long it must be (MiB).
pub(crate) type Shape = (&'static str, Vec<u8>, WebhookEntry, usize);

/// All of them.
pub(crate) fn shapes() -> Vec<Shape> {
    let objects = WebhookEntry::Object(EnforcementMode::Enforce);
    vec![
        ("containers x env", containers(1000, variables(60)), WebhookEntry::Mutate, 7),
        ("containers x NCCL env", containers(1000, nccl_variables(140)), WebhookEntry::Mutate, 7),
        (
            "containers alone",
            many(
                36_000,
                |i| json!({"name": format!("c{i}"), "resources": {"limits": {"nvidia.com/gpu": 8, "rdma/a": 1, "nvidia.com/sriov_resource": 1}}}),
            ),
            WebhookEntry::Mutate,
            3,
        ),
        (
            "containers alone, final",
            many(
                36_000,
                |i| json!({"name": format!("c{i}"), "resources": {"limits": {"nvidia.com/gpu": 8, "rdma/a": 1, "nvidia.com/sriov_resource": 1}}}),
            ),
            WebhookEntry::Validate,
            3,
        ),
        ("env of one container", containers(1, nccl_variables(90_000)), WebhookEntry::Mutate, 4),
        (
            "networks, short",
            networks(&vec!["default/sriov-rdma-network"; 2400].join(",")),
            WebhookEntry::Mutate,
            0,
        ),
        (
            "networks, distinct",
            networks(&numbered(2900, |i| format!("default/network-{i}"))),
            WebhookEntry::Mutate,
            0,
        ),
        (
            "networks, list",
            networks(&format!(
                "[{}]",
                numbered(1100, |i| format!("{{\"name\":\"network-{i}\",\"namespace\":\"default\"}}"))
            )),
            WebhookEntry::Mutate,
            0,
        ),
        ("networks, too long", networks(&vec!["a"; 3_900_000].join(",")), WebhookEntry::Mutate, 7),
        (
            "shell text",
            shell(&"export NCCL_IB_HCA_=mlx5; echo \"$NCCL_DEBUG\" && ".repeat(150_000)),
            WebhookEntry::Mutate,
            7,
        ),
        ("shell text, quotes", shell(&"'\"`$(".repeat(1_300_000)), WebhookEntry::Mutate, 7),
        ("shell words", words(400_000), WebhookEntry::Mutate, 7),
        ("volumes and mounts", volumes(60_000), WebhookEntry::Mutate, 5),
        ("hostPath volumes", host_paths(40_000), WebhookEntry::Mutate, 4),
        ("resources", resources(200_000), WebhookEntry::Mutate, 7),
        ("annotations", annotations(90_000), WebhookEntry::Mutate, 6),
        ("node affinity", affinity(50_000), WebhookEntry::Mutate, 4),
        (
            "NAD",
            object("k8s.cni.cncf.io", "NetworkAttachmentDefinition", &json!({"config": plugins(40_000)})),
            objects,
            2,
        ),
        (
            "NAD, routes",
            object("k8s.cni.cncf.io", "NetworkAttachmentDefinition", &json!({"config": routes(60_000)})),
            objects,
            1,
        ),
        // Texts of just under 256 KiB: longer ones are not read.
        (
            "NAD, each plugin wrong",
            object("k8s.cni.cncf.io", "NetworkAttachmentDefinition", &json!({"config": wrong_plugins(6500)})),
            objects,
            0,
        ),
        (
            "metaPlugins",
            object(
                "sriovnetwork.openshift.io",
                "SriovNetwork",
                &json!({"resourceName": "rdma_vf", "metaPlugins": vec!["{}"; 80_000].join(",")}),
            ),
            objects,
            0,
        ),
        (
            "metaPlugins, each without type",
            object("mellanox.com", "MacvlanNetwork", &json!({"metaPlugins": vec!["{}"; 80_000].join(",")})),
            objects,
            0,
        ),
        (
            "NicClusterPolicy",
            object(
                "mellanox.com",
                "NicClusterPolicy",
                &json!({"rdmaSharedDevicePlugin": {"config": pools("configList", 25_000)}, "sriovDevicePlugin": {"config": pools("resourceList", 10)}}),
            ),
            objects,
            2,
        ),
        (
            "node policy",
            object("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", &node_policy(150_000)),
            objects,
            2,
        ),
        ("ConfigMap", config_map(), objects, 2),
    ]
}

fn many(n: usize, container: impl Fn(usize) -> Value) -> Vec<u8> {
    let mut pod = pod(1, true);
    pod["spec"]["containers"] = (0..n).map(container).collect();
    review(&pod)
}

fn containers(n: usize, env: Vec<Value>) -> Vec<u8> {
    let mut container = pod(1, true)["spec"]["containers"][0].take();
    container["env"] = env.into();
    many(n, |i| {
        let mut container = container.clone();
        container["name"] = format!("trainer-{i}").into();
        container
    })
}

fn variables(n: usize) -> Vec<Value> {
    let value = |i| format!("{i}-{}", "x".repeat(76));
    (0..n).map(|i| json!({"name": format!("VARIABLE_NUMBER_{i}"), "value": value(i)})).collect()
}

/// Names that rules look at, and names that are nearly theirs.
fn nccl_variables(n: usize) -> Vec<Value> {
    const NAMES: [&str; 8] = [
        "NCCL_IB_DISABLE",
        "NCCL_IB_HCA",
        "NCCL_SOCKET_IFNAME",
        "NCCL_NVLS_ENABLE",
        "NCCL_IB_HCAS",
        "nccl_debug",
        "NCCL_NET",
        "UCX_NET_DEVICES",
    ];
    let value = |i: usize| ["true", "=mlx5_0:1,mlx5_1,mlx5_2", "^lo,docker0", "auto"][i % 4];
    (0..n).map(|i| json!({"name": format!("{}{}", NAMES[i % 8], if i < 8 { String::new() } else { format!("_{i}") }), "value": value(i)})).collect()
}

fn numbered(n: usize, text: impl Fn(usize) -> String) -> String {
    (0..n).map(text).collect::<Vec<_>>().join(",")
}

fn networks(text: &str) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = text.into();
    review(&pod)
}

fn shell(text: &str) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["spec"]["containers"][0]["command"] = json!(["bash", "-c", text]);
    review(&pod)
}

fn words(n: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["spec"]["containers"][0]["args"] = (0..n).map(|i| format!("NCCL_IB_{i}=a")).collect();
    review(&pod)
}

fn volumes(n: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["spec"]["volumes"] =
        (0..n).map(|i| json!({"name": format!("v{i:06}"), "emptyDir": {"medium": "Memory"}})).collect();
    pod["spec"]["containers"][0]["volumeMounts"] = (0..n)
        .map(|i| json!({"name": format!("v{i:06}"), "mountPath": format!("/dev/shm/{i:06}")}))
        .collect();
    review(&pod)
}

/// Every container mounts what every volume of the node shows.
fn host_paths(n: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["spec"]["volumes"] = (0..n)
        .map(|i| json!({"name": format!("v{i:06}"), "hostPath": {"path": "/dev/infiniband"}}))
        .collect();
    let container = |i: usize| {
        json!({"name": format!("c{i}"), "resources": {"limits": {"nvidia.com/gpu": 1}},
               "volumeMounts": [{"name": format!("w{i:06}"), "mountPath": "/dev/shm"}]})
    };
    pod["spec"]["containers"] = (0..n / 2).map(container).collect();
    review(&pod)
}

fn resources(n: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    for i in 0..n {
        pod["spec"]["containers"][0]["resources"]["limits"][format!("example.com/resource-rdma{i:07}")] =
            "1".into();
    }
    review(&pod)
}

fn annotations(n: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    for i in 0..n {
        pod["metadata"]["annotations"][format!("k8s.v1.cni.cncf.io/networks-{i}")] =
            "{\"name\":\"default/sriov-rdma-network\"}".into();
    }
    review(&pod)
}

fn affinity(n: usize) -> Vec<u8> {
    let mut pod = pod(8, false);
    let term = |i| json!({"matchExpressions": [{"key": format!("label-{i}"), "operator": "In", "values": ["a", "b", "c"]}]});
    let terms: Vec<Value> = (0..n).map(term).collect();
    pod["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    review(&pod)
}

/// A request that creates an object.
fn object(group: &str, kind: &str, spec: &Value) -> Vec<u8> {
    let object = json!({"metadata": {"name": "large", "namespace": "team"}, "spec": spec});
    created(group, kind, &object)
}

fn created(group: &str, kind: &str, object: &Value) -> Vec<u8> {
    let kind = json!({"group": group, "version": "v1", "kind": kind});
    let request = json!({"uid": "u", "kind": kind, "namespace": "team", "operation": "CREATE", "object": object, "oldObject": null});
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
        .to_string()
        .into_bytes()
}

fn plugins(n: usize) -> String {
    let plugins: Vec<Value> = (0..n)
        .map(|i| json!({"type": "macvlan", "master": format!("eth{i}"), "ipam": {"type": "host-local"}}))
        .collect();
    json!({"cniVersion": "1.0.0", "plugins": plugins}).to_string()
}

fn wrong_plugins(n: usize) -> String {
    let plugins = vec![json!({"type": "sriov", "vlan": 5000}); n];
    json!({"cniVersion": "1.0.0", "plugins": plugins}).to_string()
}

fn routes(n: usize) -> String {
    let routes: Vec<Value> =
        (0..n).map(|i| json!({"dst": format!("10.{}.{}.0/24", i / 256 % 256, i % 256)})).collect();
    json!({"type": "sriov", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.0.0.0/8"}]], "routes": routes}}).to_string()
}

/// The text of a device plugin's configuration.
fn pools(list: &str, n: usize) -> String {
    let pool = |i| json!({"resourceName": format!("pool_{i}"), "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"], "ifNames": ["ens1f0"]}});
    json!({list: (0..n).map(pool).collect::<Vec<_>>()}).to_string()
}

fn node_policy(n: usize) -> Value {
    let names: Vec<String> = (0..n).map(|i| format!("ens{}f0#{}-{}", i, i % 8, i % 8 + 1)).collect();
    json!({"resourceName": "rdma_vf", "deviceType": "netdevice", "isRdma": true, "numVfs": 8,
           "nicSelector": {"vendor": "15b3", "pfNames": names}})
}

fn config_map() -> Vec<u8> {
    let data = json!({"config.json": pools("resourceList", 25_000)});
    created(
        "",
        "ConfigMap",
        &json!({"metadata": {"name": "device-plugin", "namespace": "team"}, "data": data}),
    )
}
