//! Complete pods, by the shapes of public manifests: what the guides of clouds, operators and DRA drivers tell their
//! users to write. Nothing here knows what a plan would add.

use crate::support::generated_documents::{Dice, put};
use serde_json::{Value, json};

/// A public shape.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Name, for the trial.
    pub(crate) name: &'static str,
    /// Namespaces and names of its networks; `{}` counts up. Repeated where there is no `{}`.
    networks: &'static [&'static str],
    /// Attachments (count).
    attachments: usize,
    /// Resource and units; `{}` counts up over the attachments, one unit each.
    units: Option<(&'static str, u64)>,
    /// CNI plugin of its NetworkAttachmentDefinitions.
    plugin: &'static str,
    /// DeviceClass and devices of a claim.
    claim: Option<(&'static str, u64)>,
    /// Further annotations.
    annotations: &'static [(&'static str, &'static str)],
}

const NONE: Shape = Shape {
    name: "",
    networks: &[],
    attachments: 0,
    units: None,
    plugin: "sriov",
    claim: None,
    annotations: &[],
};

/// Every shape, with where it is seen.
pub(crate) const SHAPES: &[Shape] = &[
    // oracle-quickstart/oci-hpc-oke manifests/nccl-tests
    Shape {
        name: "oke_sixteen_functions",
        networks: &["default/rdma-vf"],
        attachments: 16,
        units: Some(("nvidia.com/rdma-vf", 16)),
        ..NONE
    },
    // docs.coreweave.com, InfiniBand: the unit is a flag.
    Shape { name: "coreweave_infiniband", units: Some(("rdma/ib", 1)), ..NONE },
    // docs.coreweave.com, GB300 RoCE.
    Shape {
        name: "coreweave_roce",
        networks: &["cw-multus/ibs{}p0-macvlan"],
        attachments: 16,
        units: Some(("rdma/ib", 1)),
        plugin: "macvlan",
        ..NONE
    },
    // awslabs/awsome-distributed-training micro-benchmarks/nccl-tests
    Shape { name: "aws_p5", units: Some(("vpc.amazonaws.com/efa", 32)), ..NONE },
    Shape { name: "aws_p4d", units: Some(("vpc.amazonaws.com/efa", 4)), ..NONE },
    // Azure/aks-rdma-infiniband website/docs/configurations
    Shape { name: "azure_devices", units: Some(("rdma/ib", 8)), ..NONE },
    Shape { name: "azure_shared", units: Some(("rdma/shared_ib", 1)), ..NONE },
    Shape {
        name: "azure_ipoib",
        networks: &["aks-infiniband"],
        attachments: 1,
        units: Some(("rdma/hca_shared_devices_a", 1)),
        plugin: "ipoib",
        ..NONE
    },
    // GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml
    Shape {
        name: "gke_rdma",
        annotations: &[
            ("networking.gke.io/default-interface", "eth0"),
            (
                "networking.gke.io/interfaces",
                "[{\"interfaceName\":\"eth0\",\"network\":\"default\"},{\"interfaceName\":\"eth2\",\"network\":\"rdma-0\"}]",
            ),
        ],
        ..NONE
    },
    // GoogleCloudPlatform/container-engine-accelerators, A4X Max
    Shape { name: "gke_dranet", claim: Some(("mrdma.google.com", 8)), ..NONE },
    // kubernetes-sigs/dranet examples
    Shape { name: "dranet", claim: Some(("dranet", 8)), ..NONE },
    Shape { name: "dranet_erdma", claim: Some(("erdma.alibaba.dra.net", 2)), ..NONE },
    Shape { name: "dranet_efa", claim: Some(("efa.networking.k8s.aws", 4)), ..NONE },
    // k8snetworkplumbingwg/dra-driver-sriov, mode MULTUS
    Shape {
        name: "dra_driver_sriov",
        networks: &["vf-net"],
        attachments: 8,
        claim: Some(("sriovnetwork.k8snetworkplumbingwg.io", 8)),
        ..NONE
    },
    // Mellanox/network-operator example/hostdevice
    Shape {
        name: "host_device",
        networks: &["hostdev-net"],
        attachments: 8,
        units: Some(("nvidia.com/hostdev", 8)),
        plugin: "host-device",
        ..NONE
    },
    // Mellanox/network-operator-docs, macvlan over a shared HCA
    Shape {
        name: "shared_hca_macvlan",
        networks: &["rdma-net-ipam"],
        attachments: 1,
        units: Some(("rdma/rdma_shared_device_a", 1)),
        plugin: "macvlan",
        ..NONE
    },
    Shape {
        name: "shared_hca_ipoib",
        networks: &["example-ipoibnetwork"],
        attachments: 1,
        units: Some(("rdma/rdma_shared_device_a", 1)),
        plugin: "ipoib",
        ..NONE
    },
    // Mellanox/k8s-rdma-shared-dev-plugin example
    Shape { name: "shared_hca_without_a_network", units: Some(("rdma/hca_shared_devices_a", 1)), ..NONE },
    // A NetworkAttachmentDefinition for each tenant over one pool.
    Shape {
        name: "tenants_own_rails",
        networks: &["team-rails"],
        attachments: 8,
        units: Some(("nvidia.com/sriov_resource", 8)),
        ..NONE
    },
    // Mellanox/network-operator-docs, one network and resource for each rail
    Shape {
        name: "distinct_rails",
        networks: &["sriov-network-rail-{}"],
        attachments: 8,
        units: Some(("nvidia.com/sriov_resource_rail_{}", 8)),
        ..NONE
    },
    Shape {
        name: "two_rails",
        networks: &["sriov-network-rail-{}"],
        attachments: 2,
        units: Some(("nvidia.com/sriov_resource_rail_{}", 2)),
        ..NONE
    },
    // NVIDIA/deepops workloads/examples/k8s/mpi-roce-job
    Shape {
        name: "deepops",
        networks: &["sriov{}"],
        attachments: 8,
        units: Some(("intel.com/mlnx_sriov_rdma{}", 8)),
        ..NONE
    },
    // k8snetworkplumbingwg/sriov-network-operator, RDMA in exclusive mode
    Shape {
        name: "openshift",
        networks: &["openshift/rdma-net"],
        attachments: 8,
        units: Some(("openshift.io/rdma_exclusive_device", 8)),
        ..NONE
    },
    // Mellanox/network-operator-docs, SR-IOV on InfiniBand
    Shape {
        name: "infiniband_functions",
        networks: &["sriov-ib-network"],
        attachments: 8,
        units: Some(("nvidia.com/mlnxnics", 8)),
        plugin: "ib-sriov",
        ..NONE
    },
    // ROCm/network-operator example/workload
    Shape {
        name: "amd_nics",
        networks: &["amd-host-device-nad"],
        attachments: 8,
        units: Some(("amd.com/nic", 8)),
        plugin: "amd-host-device",
        ..NONE
    },
    // A pool whose name says nothing of RDMA.
    Shape {
        name: "a_plain_pool",
        networks: &["rails"],
        attachments: 8,
        units: Some(("example.com/fast", 8)),
        ..NONE
    },
];

/// A shape as its guide writes it.
pub(crate) fn plain(shape: &Shape) -> Value {
    let mut pod = pod(shape, "trainer", false, false);
    pod["metadata"]["namespace"] = "team".into();
    finish(shape, pod, "team")
}

/// A shape with what real pods differ in.
pub(crate) fn case(dice: &mut Dice<'_>) -> Value {
    let shape = dice.pick(SHAPES);
    let (json_form, named) = (dice.percent(40), dice.percent(40));
    let mut pod = pod(&shape, "trainer", json_form, named);
    let namespace = dice.pick(&["team", "team", "default", "ml-prod"]);
    pod["metadata"]["namespace"] = namespace.into();
    let containers = pod["spec"]["containers"].as_array_mut().unwrap();
    if dice.percent(30) {
        // As the API server defaults them.
        let resources = &mut containers[0]["resources"];
        resources["requests"] = resources["limits"].clone();
    }
    if dice.percent(25) {
        containers.insert(0, json!({"name": "istio-proxy", "image": "example.com/proxy:1"}));
    }
    if dice.percent(25) {
        containers.push(
            json!({"name": "logs", "image": "example.com/logs:1", "resources": {"limits": {"cpu": "1"}}}),
        );
    }
    put(
        &mut pod["spec"],
        "initContainers",
        25,
        dice,
        |_| json!([{"name": "wait", "image": "example.com/wait:1"}]),
    );
    put(&mut pod["metadata"]["annotations"], "fabric-admission.dev/profile", 20, dice, |_| "p0".into());
    let mut case = finish(&shape, pod, namespace);
    let facts = case["objects"].as_array().map_or(0, Vec::len);
    case["kept"] = (0..facts).filter(|_| dice.odd()).collect::<Vec<_>>().into();
    case
}

/// Gives a pod the networks, units, claim and annotations of a shape, on its first container.
pub(crate) fn give(pod: &mut Value, dice: &mut Dice<'_>) {
    let shape = dice.pick(SHAPES);
    let own = self::pod(&shape, "trainer", dice.percent(40), dice.percent(40));
    if !pod["metadata"]["annotations"].is_object() {
        pod["metadata"]["annotations"] = json!({});
    }
    lay(&mut pod["metadata"]["annotations"], &own["metadata"]["annotations"]);
    let given = &own["spec"]["containers"][0]["resources"];
    let resources = &mut pod["spec"]["containers"][0]["resources"];
    if !resources.is_object() {
        *resources = json!({});
    }
    if !resources["limits"].is_object() {
        resources["limits"] = json!({});
    }
    lay(&mut resources["limits"], &given["limits"]);
    // The API server sets the requests of extended resources to their limits, and refuses others.
    if let (Some(requests), Some(limits)) =
        (resources["requests"].as_object_mut(), given["limits"].as_object())
    {
        requests.retain(|name, _| !limits.contains_key(name));
    }
    if shape.claim.is_some() {
        resources["claims"] = given["claims"].clone();
        pod["spec"]["resourceClaims"] = own["spec"]["resourceClaims"].clone();
    }
}

/// Sets the fields of one object in another.
fn lay(object: &mut Value, fields: &Value) {
    for (key, value) in fields.as_object().into_iter().flatten() {
        object[key.as_str()] = value.clone();
    }
}

fn numbered(text: &str, number: usize) -> String {
    text.replace("{}", &number.to_string())
}

fn pod(shape: &Shape, container: &str, json_form: bool, named: bool) -> Value {
    let networks: Vec<String> = (0..shape.attachments)
        .map(|n| numbered(shape.networks[n % shape.networks.len().max(1)], n))
        .collect();
    let mut annotations = json!({});
    for (key, value) in shape.annotations {
        annotations[*key] = (*value).into();
    }
    if !networks.is_empty() {
        let split = |name: &str| match name.split_once('/') {
            Some((namespace, name)) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": name}),
        };
        let interface = |n: usize| format!("rdma{n}");
        annotations["k8s.v1.cni.cncf.io/networks"] = if json_form {
            let items: Vec<Value> = networks
                .iter()
                .enumerate()
                .map(|(n, name)| {
                    let mut item = split(name);
                    if named {
                        item["interface"] = interface(n).into();
                    }
                    item
                })
                .collect();
            Value::from(items).to_string().into()
        } else {
            let items = networks.iter().enumerate().map(|(n, name)| match named {
                true => format!("{name}@{}", interface(n)),
                false => name.clone(),
            });
            items.collect::<Vec<_>>().join(", ").into()
        };
    }
    let mut limits = json!({"nvidia.com/gpu": 8, "memory": "512Gi"});
    if let Some((resource, units)) = shape.units {
        match resource.contains("{}") {
            true => (0..shape.attachments).for_each(|n| limits[numbered(resource, n)] = 1.into()),
            false => limits[resource] = units.into(),
        }
    }
    let mut resources = json!({"limits": limits});
    let mut spec =
        json!({"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]});
    if shape.claim.is_some() {
        resources["claims"] = json!([{"name": "nics"}]);
        spec["resourceClaims"] = json!([{"name": "nics", "resourceClaimTemplateName": "nics"}]);
    }
    spec["containers"] = json!([{
        "name": container, "image": "example.com/trainer:1", "resources": resources,
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rank-0", "annotations": annotations}, "spec": spec})
}

/// The case: the pod, the objects behind it, and what a profile of its own fabric would name.
fn finish(shape: &Shape, pod: Value, namespace: &str) -> Value {
    let mut objects = Vec::new();
    let distinct = shape.networks.iter().any(|name| name.contains("{}"));
    for n in 0..if distinct { shape.attachments } else { shape.networks.len() } {
        let name = numbered(shape.networks[n % shape.networks.len()], n);
        let (own, name) = name.split_once('/').unwrap_or((namespace, &name));
        let shared = matches!(shape.plugin, "macvlan" | "ipoib");
        let resource = shape.units.filter(|_| !shared).map(|(resource, _)| numbered(resource, n));
        let annotations = resource.map_or(json!({}), |r| json!({"k8s.v1.cni.cncf.io/resourceName": r}));
        objects.push(json!({
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": name, "namespace": own, "annotations": annotations},
            "spec": {"config": json!({"cniVersion": "1.0.0", "type": shape.plugin}).to_string()},
        }));
    }
    if let Some((class, devices)) = shape.claim {
        let exactly = json!({"deviceClassName": class, "count": devices});
        objects.push(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": "nics", "namespace": namespace},
            "spec": {"spec": {"devices": {"requests": [{"name": "nic", "exactly": exactly}]}}},
        }));
    }
    let fixed = shape.units.filter(|(resource, _)| !resource.contains("{}"));
    json!({
        "pod": pod, "objects": objects, "kept": [],
        "resource": fixed.map(|(resource, _)| resource), "count": shape.attachments,
        "perRail": shape.attachments > 1 && shape.plugin != "macvlan",
    })
}
