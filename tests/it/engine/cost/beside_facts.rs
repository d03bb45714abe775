//! Pods and workloads whose parts are each compared with nodes, profiles, ConfigMaps or TrainingRuntimes: shapes for
//! [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape, on};
use super::workloads_and_updates::{profiled, with_variables};
use serde_json::{Map, Value, json};

pub(super) const SHAPES: [Shape; 22] = [
    ("more containers than a profile is for, and its variables", |n| (profiled(n), vec![with_variables()])),
    ("containers, and variables of their profile", |n| (profiled(n / 8), vec![with_variables()])),
    ("tolerations, and lists of taints", |n| {
        (tolerating(json!(vec![json!({}); n * 5])), (0..n).map(tainted).collect())
    }),
    ("tolerations of one key, and lists of taints", |n| {
        let one = |i: usize| json!({"key": "dedicated", "value": format!("x{i}")});
        (tolerating((0..n * 5).map(one).collect()), (0..n).map(tainted).collect())
    }),
    ("values that a pod lists, and profiles that exclude values", |n| {
        (listing(n * 5), with_values("NotIn", n / 8))
    }),
    ("values that a pod lists, and profiles that list values", |n| {
        (listing(n * 5), with_values("In", n / 8))
    }),
    ("values that the terms of a pod list, and profiles that list values", |n| {
        let term = |t: usize| in_pool((0..n / 14).map(|i| format!("{t}-{i}")).collect());
        (on((0..(n / 13).min(16)).map(term).collect()), with_values("In", n / 8))
    }),
    ("values that a pod lists and excludes, and profiles of different priorities", |n| {
        let values = |from: &str, n: usize| -> Vec<String> { (0..n).map(|i| format!("{from}{i}")).collect() };
        let excluded = values("a", n * 5);
        let listed: Vec<String> = excluded.iter().cloned().chain(values("p", n / 8)).collect();
        let term = json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": listed},
            {"key": "pool", "operator": "NotIn", "values": excluded}]});
        let of = |i: usize| {
            let spec = json!({"base": "roce-sriov", "priority": i % 1000, "nodeSelector": {"matchLabels": {"pool": format!("p{i}")}},
                "env": [{"name": "NCCL_IB_TC", "value": "106", "policy": "require"}]});
            profile(&format!("p{i}"), spec)
        };
        (on(json!([term])), (0..n / 8).map(of).chain([plain(0, json!({}))]).collect())
    }),
    ("terms of a pod, and values that its profile adds to each", |n| {
        let term = json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]});
        let mut pod = on(json!(vec![term; (n / 4).min(256)]));
        pod["metadata"] = json!({"annotations": {"fabric-admission.dev/profile": "racks"}});
        let racks: Vec<String> = (0..n.min(256)).map(|i| format!("rack-{i}")).collect();
        let spec = json!({"base": "roce-sriov", "placement": {"nodeAffinity": "required"},
            "nodeSelector": {"matchExpressions": [{"key": "rack", "operator": "In", "values": racks}]}});
        (pod, vec![profile("racks", spec), plain(0, json!({}))])
    }),
    ("comparisons of a number, and nodes that each have another number", |n| {
        let above = json!({"key": "nvidia.com/gfd.timestamp", "operator": "Gt", "values": ["1"]});
        let node =
            |i: usize| labelled(i, json!({"nvidia.com/gfd.timestamp": format!("{}", 1_690_000_000 + i)}));
        (on(json!([{ "matchExpressions": vec![above; n / 13] }])), (0..n * 4).map(node).collect())
    }),
    ("requested resources, and kinds of nodes without accelerators", |n| {
        let requesting = |c: usize| {
            let limits: Map<_, _> = (0..60).map(|i| (format!("a/{c}-{i}"), "1".into())).collect();
            json!({"name": format!("c{c}"), "image": "x", "resources": {"limits": limits}})
        };
        let containers: Vec<Value> = (0..n / 40 + 1).map(requesting).collect();
        let mut objects: Vec<Object> =
            (0..n * 4).map(|i| plain(i, json!({"rack": format!("r{i}")}))).collect();
        objects.push(profile(
            "strict",
            json!({"base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": "ib"}},
            "env": [{"name": "NCCL_IB_TC", "value": "106", "policy": "require"}]}),
        ));
        let annotations = json!({"fabric-admission.dev/profile": "p"});
        (json!({"metadata": {"annotations": annotations}, "spec": {"containers": containers}}), objects)
    }),
    ("labels of a pod, and profiles that select pods", |n| {
        let labels: Map<_, _> = (0..n * 20).map(|i| (format!("example.com/{i}"), "a".into())).collect();
        let mut pod = tolerating(json!([{"operator": "Exists"}]));
        pod["metadata"] = json!({ "labels": labels });
        (pod, pools(n, |i| json!({"podSelector": {"matchLabels": {"team": format!("t{i}")}}})))
    }),
    ("containers, and profiles for several nodes", |n| {
        let container =
            |i: usize| json!({"name": format!("c{i}"), "image": "x", "env": vec![json!({"name": "A"}); 4]});
        let mut pod = tolerating(json!([{"operator": "Exists"}]));
        let more = pod["spec"]["containers"].as_array().into_iter().flatten().cloned();
        pod["spec"]["containers"] = more.chain((0..n * 3).map(container)).collect();
        (pod, pools(n, |_| json!({"multiNode": "required"})))
    }),
    ("templates that fit no node, and profiles", |n| {
        let template = json!({"spec": {"template": {"spec": {"nodeSelector": {"zone": "none"}, "containers": [
            {"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}});
        let job = |i: usize| json!({"name": format!("j{i}"), "template": template});
        // Each template is compared with each profile, which is cheap but a product.
        let jobs: Vec<Value> = (0..n / 16).map(job).collect();
        let values: Vec<String> = (0..16).map(|v| format!("v{v}")).collect();
        let selecting = |i: usize| {
            let keys: Vec<Value> =
                (0..4).map(|k| json!({"key": format!("k{k}"), "operator": "In", "values": values})).collect();
            profile(
                &format!("p{i}"),
                json!({"base": "roce-sriov", "nodeSelector": {"matchExpressions": keys}}),
            )
        };
        let mut objects: Vec<Object> = (0..n / 8).map(selecting).collect();
        objects.push(plain(0, json!({})));
        let spec = json!({ "replicatedJobs": jobs });
        (json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "spec": spec}), objects)
    }),
    ("one key of the node selector many times, and terms on names of nodes", |n| {
        // `§` and the digits behind it are cut out.
        let selector: Map<_, _> =
            (0..n * 2).map(|i| (format!("kubernetes.io/hostname§{i}"), "n00001".into())).collect();
        let not = json!({"matchFields": [{"key": "metadata.name", "operator": "NotIn"}]});
        let mut pod = on(json!(vec![not; n]));
        pod["spec"]["nodeSelector"] = selector.into();
        let labels = |i: usize| json!({"kubernetes.io/hostname": format!("n{i}")});
        (pod, (0..4).map(|i| labelled(i, labels(i))).collect())
    }),
    ("arguments of a TrainJob, and jobs of its runtime", |n| {
        (train_job(json!({"args": vec!["a"; n * 4]})), runtime((n / 13).min(16)))
    }),
    ("a long argument of a TrainJob, and jobs of its runtime", |n| {
        (train_job(json!({"args": ["a".repeat(n * 150)]})), runtime((n / 13).min(16)))
    }),
    ("mounts of a script, and words that run it", |n| {
        let most = (n / 13).min(16);
        let mounts = vec![json!({"name": "v", "mountPath": "/m"}); most];
        let container = json!({"name": "a", "image": "x", "command": vec!["/m/run.sh"; most], "volumeMounts": mounts,
            "resources": {"limits": {"nvidia.com/gpu": 8}}});
        let spec = json!({"containers": [container], "volumes": [{"name": "v", "configMap": {"name": "m"}}]});
        (json!({ "spec": spec }), vec![config_map(json!({"run.sh": "export NCCL_A=b\n".repeat(n * 2)}))])
    }),
    ("containers that take a ConfigMap, and its keys", |n| {
        let source = json!({"configMapRef": {"name": "m"}});
        let container = |i: usize| {
            json!({"name": format!("c{i}"), "image": "x", "envFrom": vec![source.clone(); (n / 13).min(16)],
                "resources": {"limits": {"nvidia.com/gpu": 1}}})
        };
        let data: Map<_, _> = (0..n * 3).map(|i| (format!("NCCL_A{i}"), "1".into())).collect();
        (
            json!({"spec": {"containers": (0..n / 13 + 1).map(container).collect::<Vec<_>>()}}),
            vec![config_map(data.into())],
        )
    }),
    ("networks whose resources end alike, and resources of that ending", |n| {
        (requesting(n), (0..n * 4).map(|i| nad(&format!("n{i}"), "team", &format!("a{i}/rail0"))).collect())
    }),
    ("names of one resource, and namespaces with a network over it", |n| {
        let policy = json!({"metadata": {"name": "p", "namespace": "sriov-network-operator"}, "spec": {"resourceName": "rail0",
            "numVfs": 8, "isRdma": true, "linkType": "eth", "nicSelector": {"vendor": "15b3", "pfNames": ["ens1f0np0"]},
            "nodeSelector": {"fabric": "roce"}}});
        let over = |i: usize| nad("rail0", &format!("ns{i}"), "openshift.io/rail0");
        let policy: Object =
            ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", "sriov-network-operator", policy);
        (without_networks(n / 2), (0..n * 3).map(over).chain([policy]).collect())
    }),
    ("networks of one namespace, and profiles with rails in it for other namespaces", |n| {
        let mut pod = tolerating(json!([]));
        let networks: Vec<String> = (0..n * 2).map(|i| format!("fabric/x{i:x}")).collect();
        pod["metadata"] = json!({"annotations": {"k8s.v1.cni.cncf.io/networks": networks.join(",")}});
        let of = |i: usize| {
            let names: Vec<String> = (0..50).map(|j| format!("team-{i}-{j}")).collect();
            let expression = json!({"key": "kubernetes.io/metadata.name", "operator": "In", "values": names});
            profile(
                &format!("p{i}"),
                json!({"base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": "roce"}},
                "namespaces": {"matchExpressions": [expression]},
                "rails": [{"network": "fabric/r0", "resource": "nvidia.com/roce_vfs"}]}),
            )
        };
        (pod, (0..n / 4).map(of).collect())
    }),
];

/// A pod whose containers request resources named as those of its networks behind other prefixes.
fn requesting(n: usize) -> Value {
    let networks: Vec<String> = (0..n * 4).map(|i| format!("n{i}")).collect();
    let mut pod = without_networks(n);
    pod["metadata"] = json!({"annotations": {"k8s.v1.cni.cncf.io/networks": networks.join(",")}});
    pod
}

/// A pod whose containers request one resource by so many names.
fn without_networks(n: usize) -> Value {
    let container = |c: usize| {
        let limits: Map<_, _> =
            (0..60.min(n - c * 60)).map(|i| (format!("x{c}-{i}/rail0"), "1".into())).collect();
        json!({"name": format!("c{c}"), "image": "x", "resources": {"limits": limits}})
    };
    let mut pod = tolerating(json!([{"operator": "Exists"}]));
    let own = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
    pod["spec"]["containers"] = own.into_iter().chain((0..n.div_ceil(60)).map(container)).collect();
    pod
}

/// A network of a namespace over devices of a resource.
fn nad(name: &str, namespace: &str, resource: &str) -> Object {
    let config = json!({"cniVersion": "1.0.0", "name": "x", "type": "sriov"}).to_string();
    let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": resource});
    let object = json!({"metadata": {"name": name, "namespace": namespace, "annotations": annotations}, "spec": {"config": config}});
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "team", object)
}

/// A pod with accelerators and these tolerations.
fn tolerating(tolerations: Value) -> Value {
    json!({"spec": {"tolerations": tolerations,
        "containers": [{"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
}

fn in_pool(values: Vec<String>) -> Value {
    json!({"matchExpressions": [{"key": "pool", "operator": "In", "values": values}]})
}

fn listing(values: usize) -> Value {
    on(json!([in_pool((0..values).map(|i| format!("{i:x}")).collect())]))
}

fn labelled(i: usize, labels: Value) -> Object {
    let object = json!({"metadata": {"name": format!("n{i:05}"), "labels": labels}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    ("", "Node", "", object)
}

/// A node that lists no accelerators.
fn plain(i: usize, labels: Value) -> Object {
    let object = json!({"metadata": {"name": format!("c{i:05}"), "labels": labels}, "status": {"allocatable": {"cpu": "8"}}});
    ("", "Node", "", object)
}

fn tainted(i: usize) -> Object {
    let (group, kind, namespace, mut node) = labelled(i, json!({"fabric": "roce"}));
    node["spec"]["taints"] =
        json!([{"key": "dedicated", "value": format!("team-{i}"), "effect": "NoSchedule"}]);
    (group, kind, namespace, node)
}

fn profile(name: &str, spec: Value) -> Object {
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec});
    ("fabric-admission.dev", "FabricProfile", "", object)
}

/// Profiles that each state 50 values of one label, and a node of none of them.
fn with_values(operator: &str, profiles: usize) -> Vec<Object> {
    let stating = |i: usize| {
        let values: Vec<String> = (0..50).map(|v| format!("x{i}-{v}")).collect();
        let expression = json!({"key": "pool", "operator": operator, "values": values});
        profile(
            &format!("p{i}"),
            json!({"base": "roce-sriov", "nodeSelector": {"matchExpressions": [expression]}}),
        )
    };
    (0..profiles).map(stating).chain([plain(0, json!({}))]).collect()
}

/// Profiles for some pods only, each with a node of its own.
fn pools(n: usize, when: fn(usize) -> Value) -> Vec<Object> {
    let of = |i: usize| {
        let pool = json!({"pool": format!("p{i}")});
        let spec = json!({"base": "roce-sriov", "nodeSelector": {"matchLabels": pool}, "when": when(i)});
        [profile(&format!("p{i}"), spec), labelled(i, pool)]
    };
    (0..n / 8).flat_map(of).collect()
}

fn train_job(trainer: Value) -> Value {
    json!({"kind": "TrainJob", "apiVersion": "trainer.kubeflow.org/v1",
        "spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": "r"}, "trainer": trainer}})
}

fn runtime(jobs: usize) -> Vec<Object> {
    let container = json!({"name": "node", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}});
    let pod = json!({"spec": {"containers": [container]}});
    let labels = json!({"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"});
    let job = |i: usize| json!({"name": format!("j{i}"), "template": {"metadata": {"labels": labels}, "spec": {"template": pod}}});
    let jobs: Vec<Value> = (0..jobs).map(job).collect();
    let spec = json!({"mlPolicy": {"numNodes": 2}, "template": {"spec": {"replicatedJobs": jobs}}});
    let object = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime",
        "metadata": {"name": "r", "namespace": "team"}, "spec": spec});
    vec![("trainer.kubeflow.org", "TrainingRuntime", "team", object)]
}

fn config_map(data: Value) -> Object {
    ("", "ConfigMap", "team", json!({"metadata": {"name": "m", "namespace": "team"}, "data": data}))
}
