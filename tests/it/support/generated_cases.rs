//! Cases by chance: a pod with every field that is read absent, `null`, right or odd, and the cluster around it.

use crate::support::api_pods::{self, Site};
use crate::support::generated_documents::{self, Dice, put};
use crate::support::generated_placement;
use serde_json::{Map, Value, json};

/// A pod and the cluster around it.
pub(crate) fn case(dice: &mut Dice<'_>) -> Value {
    if dice.percent(8) {
        let rules = fabric_admission::rules::RULES.as_slice();
        let mut case = crate::support::generated_world::of_rule(rules[dice.below(rules.len())]);
        case["mutate"] = dice.percent(40).into();
        return case;
    }
    let site = Site { profiles: &["p0", "p0", "p0", "p1"] };
    let mut pod = if dice.percent(30) { api_pods::pod(&site, dice) } else { pod(dice) };
    if dice.odd() {
        for _ in 0..=dice.below(3) {
            generated_documents::mangle(&mut pod, dice);
        }
    }
    let mut profiles: Vec<Value> = (0..1 + dice.below(3)).map(|i| profile(i, dice)).collect();
    // Where networks are listed at all, a profile whose networks are not among them is not injected.
    let networks = if dice.percent(60) { 0 } else { dice.below(4) };
    let mut objects: Vec<Value> = (0..networks).map(|i| network(i, dice)).collect();
    if dice.percent(20) {
        objects.extend((0..1 + dice.below(3)).map(|i| node(i, dice)));
    }
    if dice.percent(5) && pod["metadata"]["annotations"].is_object() {
        objects = (0..3).map(|i| network(i, dice)).collect();
        profiles[0]["spec"] = json!({"base": "nri-compat"});
        let own = dice.pick(&["default/net-a", "default/sriov-rdma-network,default/net-a"]);
        pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = own.into();
    }
    let mut namespace = json!({"name": dice.pick(&["team", "default"])});
    put(&mut namespace, "labels", 40, dice, |dice| {
        let mut labels = json!({"pod-security.kubernetes.io/enforce": dice.pick(&["privileged", "baseline", "restricted"])});
        put(&mut labels, "tier", 50, dice, |dice| dice.pick(&["gold", "silver"]).into());
        labels
    });
    put(
        &mut namespace,
        "annotations",
        30,
        dice,
        |dice| json!({"fabric-admission.dev/profile": dice.pick(&["p0", "p0", "p1", "p9", ""])}),
    );
    json!({
        "pod": pod, "profiles": profiles, "objects": objects, "namespace": namespace,
        "namespaceKnown": dice.percent(60), "audit": dice.percent(40), "mutate": dice.percent(40), "flag": dice.percent(35),
    })
}

/// Any value at all, now and then shaped like a pod.
pub(crate) fn anything(dice: &mut Dice<'_>) -> Value {
    let mut value = if dice.percent(70) { pod(dice) } else { generated_documents::junk(dice) };
    for _ in 0..dice.below(6) {
        generated_documents::mangle(&mut value, dice);
    }
    value
}

fn pod(dice: &mut Dice<'_>) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod"});
    put(&mut pod, "metadata", 85, dice, metadata);
    put(&mut pod, "spec", 98, dice, |dice| {
        let mut spec = json!({"schedulerName": "default-scheduler"});
        put(&mut spec, "containers", 97, dice, |dice| dice.list(5, container));
        put(&mut spec, "initContainers", 30, dice, |dice| dice.list(3, container));
        put(&mut spec, "volumes", 60, dice, |dice| dice.list(4, volume));
        put(&mut spec, "hostNetwork", 12, dice, |dice| dice.percent(40).into());
        put(&mut spec, "hostIPC", 12, dice, |dice| dice.percent(40).into());
        put(&mut spec, "securityContext", 30, dice, security_context);
        put(&mut spec, "resources", 8, dice, |dice| json!({"limits": quantities(0, dice)}));
        put(&mut spec, "hostUsers", 10, dice, |dice| dice.percent(50).into());
        put(&mut spec, "os", 10, dice, |dice| json!({"name": dice.pick(&["linux", "windows"])}));
        let claims = json!([{"name": "nic", "resourceClaimTemplateName": "n"}]);
        put(&mut spec, "resourceClaims", 8, dice, |_| claims.clone());
        generated_placement::spec(&mut spec, dice);
        spec
    });
    put(&mut pod, "status", 10, dice, |_| json!({"phase": "Pending", "conditions": []}));
    pod
}

fn metadata(dice: &mut Dice<'_>) -> Value {
    let mut metadata = json!({});
    put(&mut metadata, "name", 50, dice, |_| "trainer-0".into());
    put(&mut metadata, "generateName", 30, dice, |_| "trainer-".into());
    put(&mut metadata, "namespace", 50, dice, |_| "team".into());
    put(&mut metadata, "labels", 40, dice, |dice| {
        let mut labels = json!({"app": "x"});
        put(&mut labels, "training.kubeflow.org/job-role", 20, dice, |_| "worker".into());
        put(&mut labels, "training.kubeflow.org/operator-name", 20, dice, |_| "mpi-operator".into());
        labels
    });
    put(&mut metadata, "annotations", 90, dice, |dice| {
        let mut annotations = json!({});
        let profiles = ["p0", "p0", "p0", "p0", "p0", "p0", "p0", "p1"];
        put(&mut annotations, "fabric-admission.dev/profile", 92, dice, |dice| {
            if dice.percent(15) { dice.pick(&["p9", ""]) } else { dice.pick(&profiles) }.into()
        });
        put(&mut annotations, "k8s.v1.cni.cncf.io/networks", 45, dice, |dice| networks(dice).into());
        put(&mut annotations, "fabric-admission.dev/inject", 12, dice, |dice| {
            dice.pick(&["false", "true", "full", "full"]).into()
        });
        put(&mut annotations, "fabric-admission.dev/ranks", 6, dice, |dice| dice.pick(&["ssh", "x"]).into());
        put(&mut annotations, "fabric-admission.dev/file.nccl.conf", 6, dice, |dice| {
            dice.pick(&["NCCL_DEBUG=INFO", "# no line\nNCCL_NET=Socket\n", ""]).into()
        });
        put(&mut annotations, "fabric-admission.dev/injected", 6, dice, |_| "p0@0".into());
        put(&mut annotations, "fabric-admission.dev/rails", 9, dice, |dice| {
            if dice.odd() { dice.pick(&["s9", ""]) } else { dice.pick(&["s0", "s0", "s1"]) }.into()
        });
        if dice.odd() {
            put(&mut annotations, "fabric-admission.dev/containers", 30, dice, |dice| {
                dice.pick(&["trainer", "trainer,worker", "worker , istio-proxy", "", "absent"]).into()
            });
        }
        put(&mut annotations, "ulimits.nri.containerd.io/container.trainer", 3, dice, |dice| {
            dice.pick(&["[{type: nofile, hard: 1, soft: 1}]", "[{type: memlock, hard: 1, soft: 1}]"]).into()
        });
        put(&mut annotations, "networking.gke.io/interfaces", 3, dice, |_| "[]".into());
        put(&mut annotations, "kubernetes.io/config.mirror", 2, dice, |_| "x".into());
        put(&mut annotations, "example.com/note", 40, dice, |dice| match dice.percent(12) {
            true => "x".repeat(262_000).into(),
            false => "a\"b\\c\n\u{e9}".into(),
        });
        annotations
    });
    put(
        &mut metadata,
        "managedFields",
        20,
        dice,
        |_| json!([{"fieldsV1": {"f:spec": {"k:{\"name\":\"a\"}": {}}}}]),
    );
    metadata
}

/// Value of the networks annotation: both forms, right and broken.
pub(crate) fn networks(dice: &mut Dice<'_>) -> String {
    let names = [
        "sriov-rdma-network",
        "default/sriov-rdma-network",
        "macvlan-network",
        "net-a",
        "team/net-a",
        "other",
    ];
    if dice.odd() {
        let broken = [
            "",
            " ",
            "[]",
            "[ ]\n",
            "[null]",
            "a,,b",
            "{",
            "[{}]",
            "A",
            "null",
            "[{\"name\":1}]",
            "x@",
            "a/b/c",
            "[1]",
        ];
        return dice.pick(&broken).to_owned();
    }
    let count = 1 + dice.below(9);
    let (json, space) = (dice.percent(50), dice.percent(40));
    let items: Vec<String> = (0..count)
        .map(|i| {
            let name = dice.pick(&names);
            let interface = dice.percent(30).then(|| format!("{}{i}", dice.pick(&["rail", "net", "x"])));
            if !json {
                let at = interface.map(|i| format!("@{i}")).unwrap_or_default();
                return format!("{name}{at}");
            }
            let (namespace, name) = name.split_once('/').map_or((None, name), |(ns, n)| (Some(ns), n));
            let mut item = json!({dice.pick(&["name", "Name"]): name});
            put(&mut item, "namespace", 10, dice, |_| "default".into());
            if let Some(namespace) = namespace {
                item["namespace"] = namespace.into();
            }
            if let Some(interface) = interface {
                item[dice.pick(&["interface", "interfaceRequest"])] = interface.into();
            }
            put(&mut item, "mac", 20, dice, |_| "c2:b0:57:49:47:f1".into());
            put(&mut item, "cni-args", 20, dice, |_| json!({"x": [1.50, "]"]}));
            item.to_string()
        })
        .collect();
    match (json, space) {
        (false, space) => items.join(if space { ", " } else { "," }),
        (true, false) => format!("[{}]", items.join(",")),
        (true, true) => format!("[\n  {}\n]\n", items.join(",\n  ")),
    }
}

fn container(dice: &mut Dice<'_>) -> Value {
    let mut container =
        json!({"image": dice.pick(&["example.com/trainer:1", "example.com/trainer:nccl2.20.5"])});
    put(&mut container, "name", 90, dice, |dice| {
        dice.pick(&["trainer", "worker", "sidecar", "istio-proxy", ""]).into()
    });
    put(&mut container, "command", 30, dice, |dice| {
        let words = ["torchrun", "sh", "/usr/sbin/sshd", "export NCCL_IB_HCA=mlx5; exec x", "é $NCCL_NET"];
        dice.list(3, |dice| dice.pick(&words).into())
    });
    put(&mut container, "args", 30, dice, |dice| {
        let words = ["-c", "mpirun -x NCCL_NET=IB ./a", "${NCCL_SOCKET_IFNAME:-eth0}", "train.py"];
        dice.list(3, |dice| dice.pick(&words).into())
    });
    put(&mut container, "env", 60, dice, |dice| dice.list(6, variable));
    put(&mut container, "envFrom", 15, dice, |dice| {
        dice.list(2, |_| json!({"configMapRef": {"name": "nccl"}}))
    });
    put(&mut container, "resources", 85, dice, resources);
    put(&mut container, "securityContext", 45, dice, security_context);
    put(&mut container, "volumeMounts", 50, dice, |dice| {
        dice.list(4, |dice| {
            let mut mount = json!({"readOnly": dice.percent(10)});
            put(&mut mount, "name", 95, dice, |dice| {
                dice.pick(&["dshm", "data", "fabric-dshm", "gone", "fabric-files"]).into()
            });
            let paths = ["/dev/shm", "/dev/shm/", "/data", "/dev", "/dev/shm/x", "/etc", "/etc/nccl.conf"];
            put(&mut mount, "mountPath", 95, dice, |dice| dice.pick(&paths).into());
            put(&mut mount, "subPath", 15, dice, |_| "nccl.conf".into());
            mount
        })
    });
    put(&mut container, "restartPolicy", 20, dice, |dice| dice.pick(&["Always", "Never"]).into());
    put(&mut container, "livenessProbe", 10, dice, |_| json!({"exec": {"command": null}, "new": {"": 1e2}}));
    container
}

/// Variables that a rule each has something to say of.
const TOLD: &str = "NCCL_SOCKET_INFAME=eth0 NCCL_IB_TIMEOUT=100 NCCL_PROTO=Simple NCCL_TOPO_DUMP_FILE=/x NCCL_PSK=x \
    NCCL_MNNVL_ENABLE=1 NCCL_COMM_ID=x:1 UCX_NET_DEVICES=mlx5_0 OMPI_MCA_btl_tcp_if_exclude=docker0 \
    NVSHMEM_HCA_LIST=mlx5_0:1 FI_EFA_FORK_SAFE=1";

fn variable(dice: &mut Dice<'_>) -> Value {
    let names = [
        "NCCL_NET",
        "NCCL_IB_HCA",
        "NCCL_IB_DISABLE",
        "NCCL_SOCKET_IFNAME",
        "NCCL_IB_GID_INDEX",
        "NCCL_DEBUG",
        "A",
    ];
    if dice.percent(8) {
        let reported: Vec<_> = TOLD.split(' ').filter_map(|t| t.split_once('=')).collect();
        let (name, value) = dice.pick(&reported);
        return json!({"name": name, "value": value});
    }
    let mut variable = json!({});
    put(&mut variable, "name", 96, dice, |dice| dice.pick(&names).into());
    let values = ["IB", "Socket", "1", "0", "true", "auto", "mlx5", "eth0", "", "$(A)", "é\"\\"];
    put(&mut variable, "value", 80, dice, |dice| dice.pick(&values).into());
    put(&mut variable, "valueFrom", 12, dice, |_| json!({"fieldRef": {"fieldPath": "status.podIP"}}));
    variable
}

const EXTENDED: [&str; 7] = [
    "vpc.amazonaws.com/efa",
    "nvidia.com/sriov_resource",
    "rdma/rdma_shared_device_a",
    "nvidia.com/hostdev",
    "example.com/vf",
    "nvidia.com/mlnxnics",
    "x.io/rdma_b",
];

fn resources(dice: &mut Dice<'_>) -> Value {
    let mut resources = json!({});
    put(&mut resources, "limits", 90, dice, |dice| quantities(85, dice));
    if dice.odd() {
        put(&mut resources, "requests", 60, dice, |dice| quantities(40, dice));
    } else if dice.percent(40) {
        // As the API server defaults them.
        resources["requests"] = resources.get("limits").cloned().unwrap_or_default();
    }
    put(&mut resources, "claims", 5, dice, |_| json!([{"name": "nic"}]));
    resources
}

fn quantities(accelerators: usize, dice: &mut Dice<'_>) -> Value {
    let mut map = json!({});
    put(&mut map, "nvidia.com/gpu", accelerators, dice, count);
    for name in
        ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "amd.com/gpu", "aws.amazon.com/neuroncore"]
    {
        put(&mut map, name, 4, dice, count);
    }
    for name in EXTENDED {
        put(&mut map, name, 5, dice, count);
    }
    let sizes = ["1Gi", "64Gi", "2Ti", "0", "100G", "512Mi"];
    put(&mut map, "memory", 40, dice, |dice| if dice.odd() { count(dice) } else { dice.pick(&sizes).into() });
    put(&mut map, "cpu", 30, dice, |dice| dice.pick(&[json!(8), json!("500m"), json!(0.5)]));
    map
}

fn count(dice: &mut Dice<'_>) -> Value {
    let usual = [json!(8), json!("8"), json!(1), json!("4"), json!(2)];
    let odd = [
        json!(0),
        json!("0"),
        Value::Null,
        json!("$GPUS"),
        json!("{{ .gpus }}"),
        json!("1.5"),
        json!("-1"),
        json!("1e1"),
        json!("8Gi"),
        json!(""),
        json!(u32::MAX),
        json!("99999999999999999999"),
        json!(true),
        json!({}),
        json!(2.0),
    ];
    if dice.percent(10) { dice.pick(&odd) } else { dice.pick(&usual) }
}

fn security_context(dice: &mut Dice<'_>) -> Value {
    let mut context = json!({"seccompProfile": {"type": "RuntimeDefault"}});
    put(&mut context, "privileged", 15, dice, |dice| dice.percent(40).into());
    put(&mut context, "runAsUser", 20, dice, |dice| dice.pick(&[0, 1000]).into());
    put(&mut context, "runAsNonRoot", 15, dice, |dice| dice.percent(50).into());
    put(&mut context, "capabilities", 50, dice, |dice| {
        let mut capabilities = json!({});
        let names = ["IPC_LOCK", "SYS_ADMIN", "CAP_IPC_LOCK", "ALL", "ipc_lock"];
        put(&mut capabilities, "add", 50, dice, |dice| dice.list(3, |dice| dice.pick(&names).into()));
        put(&mut capabilities, "drop", 40, dice, |_| json!(["ALL"]));
        capabilities
    });
    context
}

fn volume(dice: &mut Dice<'_>) -> Value {
    let mut volume = json!({});
    put(&mut volume, "name", 96, dice, |dice| {
        dice.pick(&["dshm", "data", "fabric-dshm", "fabric-admission-dshm", "fabric-files"]).into()
    });
    put(&mut volume, "downwardAPI", 20, dice, |dice| {
        let field = "metadata.annotations['fabric-admission.dev/file.nccl.conf']";
        let item = json!({"path": dice.pick(&["nccl.conf", "x"]), "fieldRef": {"fieldPath": field}});
        json!({"items": dice.list(2, |_| item.clone())})
    });
    put(&mut volume, "emptyDir", 60, dice, |dice| {
        let mut empty_dir = json!({});
        put(&mut empty_dir, "medium", 70, dice, |dice| dice.pick(&["Memory", "", "HugePages"]).into());
        put(&mut empty_dir, "sizeLimit", 60, dice, |dice| {
            dice.pick(&[json!("64Gi"), json!("1Gi"), json!("64Mi"), json!(0), json!("$S"), json!(1e9)])
        });
        empty_dir
    });
    put(&mut volume, "hostPath", 15, dice, |_| json!({"path": "/dev/shm"}));
    volume
}

fn profile(number: usize, dice: &mut Dice<'_>) -> Value {
    let bases = [
        "roce-sriov",
        "roce-sriov",
        "roce-host-device",
        "roce-macvlan",
        "infiniband-sriov",
        "infiniband-ipoib",
        "ethernet-tcp",
        "aws-efa",
        "azure-nd",
        "gke-rdma",
        "nri-compat",
    ];
    let mut spec = Map::new();
    if dice.percent(85) {
        spec.insert("base".into(), dice.pick(&bases).into());
    } else {
        spec.insert("transport".into(), dice.pick(&["roce", "infiniband", "ethernet", "efa"]).into());
        spec.insert(
            "attachment".into(),
            dice.pick(&["sriov", "none", "host-network", "host-network"]).into(),
        );
    }
    let mut spec = Value::Object(spec);
    put(&mut spec, "rails", 35, dice, |dice| {
        let rails = (0..dice.below(4)).map(|i| {
            let networks = ["default/sriov-rdma-network", "net-a", "team/net-a", "default/macvlan-network"];
            let network = if dice.odd() { "default/net.v2" } else { dice.pick(&networks) };
            let mut rail = json!({"network": network});
            put(&mut rail, "resource", 70, dice, |dice| dice.pick(&EXTENDED[..4]).into());
            put(&mut rail, "count", 40, dice, |dice| dice.pick(&[1, 2, 4, 8]).into());
            let odd = ["p[0", "r{0", "a:0", "x\u{e9}0"].map(str::to_owned);
            let interfaces = [format!("x{i}0"), format!("ib{i}")];
            put(&mut rail, "interface", 30, dice, |dice| {
                if dice.odd() { dice.pick(&odd) } else { dice.pick(&interfaces) }.into()
            });
            rail
        });
        rails.collect()
    });
    put(&mut spec, "resources", 20, dice, |dice| {
        let per = ["container", "accelerator", "rail"];
        (0..dice.below(3))
            .map(|i| {
                let name = if dice.odd() { EXTENDED[0] } else { EXTENDED[4 + i] };
                json!({"name": name, "quantity": 1 + dice.below(4), "per": dice.pick(&per)})
            })
            .collect()
    });
    generated_placement::profile(&mut spec, dice);
    put(&mut spec, "env", 35, dice, |dice| {
        let names = [
            "NCCL_IB_DISABLE",
            "NCCL_DEBUG",
            "NCCL_IB_GID_INDEX",
            "NCCL_NET",
            "NCCL_SOCKET_IFNAME",
            "GLOO_SOCKET_IFNAME",
        ];
        let entries = (0..dice.below(3)).map(|_| {
            let name = dice.pick(&names);
            let value = if dice.odd() { "a\"b\\" } else { dice.pick(&["1", "0", "=rail1"]) };
            match dice.pick(&["default", "require", "forbid"]) {
                "forbid" => json!({"name": name, "policy": "forbid"}),
                policy => {
                    let mut entry = json!({"name": name, "policy": policy, "value": value});
                    put(&mut entry, "ncclBefore", 12, dice, |dice| dice.pick(&["2.21", "2"]).into());
                    entry
                }
            }
        });
        entries.collect()
    });
    put(&mut spec, "ncclConf", 8, dice, |dice| dice.pick(&["inject", "image"]).into());
    put(&mut spec, "files", 15, dice, |dice| {
        let names = if dice.odd() { ["t.xml", "nccl.conf"] } else { ["t.xml", "cufile.json"] };
        names
            .iter()
            .take(1 + dice.below(2))
            .map(|n| json!({"name": n, "content": "<a b=\"c\"/>\n"}))
            .collect()
    });
    put(&mut spec, "inject", 14, dice, |dice| {
        dice.pick(&["full", "annotations", "networks", "networks", "review"]).into()
    });
    put(&mut spec, "ipcLock", 12, dice, |dice| dice.percent(50).into());
    put(&mut spec, "memlock", 15, dice, |dice| dice.pick(&["ipcLock", "runtime", "nri", "nri"]).into());
    put(&mut spec, "acceleratorsPerNode", 15, dice, |dice| dice.pick(&[1, 4, 8]).into());
    put(&mut spec, "when", 30, dice, |dice| json!({"minAccelerators": dice.below(9)}));
    put(&mut spec, "namespaces", 12, dice, |_| json!({"matchLabels": {"tier": "gold"}}));
    let shm = ["1Gi", "8Gi", "100M"];
    put(&mut spec, "sharedMemory", 15, dice, |dice| json!({"perAccelerator": dice.pick(&shm)}));
    super::in_the_pod::profile(&mut spec, dice);
    let metadata = json!({"name": format!("p{number}")});
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": metadata, "spec": spec})
}

fn network(number: usize, dice: &mut Dice<'_>) -> Value {
    // One name each: of two definitions of one network the last counts, whatever the builder does.
    let (namespace, name) =
        [("default", "sriov-rdma-network"), ("team", "net-a"), ("default", "net-a")][number % 3];
    let mut annotations = json!({});
    put(&mut annotations, "k8s.v1.cni.cncf.io/resourceName", 85, dice, |dice| dice.pick(&EXTENDED).into());
    put(&mut annotations, "k8s.v1.cni.cncf.io/nodeSelector", 70, dice, |dice| {
        dice.pick(&["rack=r1", "zone", "a=b=c"]).into()
    });
    let metadata = json!({"name": name, "namespace": namespace, "annotations": annotations});
    let (api, kind) = dice.pick(&[
        ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition"),
        ("sriovnetwork.openshift.io/v1", "SriovNetwork"),
    ]);
    json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"resourceName": dice.pick(&["sriov_resource", "vf", ""])}})
}

fn node(number: usize, dice: &mut Dice<'_>) -> Value {
    let mut labels = json!({"kubernetes.io/hostname": format!("node-{number}")});
    put(&mut labels, "fabric", 80, dice, |dice| dice.pick(&["roce", "roce", "ib", "none"]).into());
    put(&mut labels, "rack", 60, dice, |dice| dice.pick(&["r1", "r2", "r3"]).into());
    put(&mut labels, "zone", 30, dice, |_| "a".into());
    let mut allocatable = json!({"cpu": "64", "pods": "110"});
    put(&mut allocatable, "nvidia.com/gpu", 60, dice, |dice| dice.pick(&["8", "0"]).into());
    let plugins = dice.pick(&[95, 95, 15]);
    for name in EXTENDED {
        put(&mut allocatable, name, plugins, dice, |_| "8".into());
    }
    let mut spec = json!({});
    put(&mut spec, "taints", 25, dice, |dice| {
        let key = dice.pick(&["nvidia.com/gpu", "dedicated", "node.kubernetes.io/not-ready"]);
        json!([{"key": key, "value": "present", "effect": dice.pick(&["NoSchedule", "PreferNoSchedule"])}])
    });
    let metadata = json!({"name": format!("node-{number}"), "labels": labels});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"allocatable": allocatable}})
}
