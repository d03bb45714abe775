//! Pods that decode and are odd: nothing may end the process, no patch may fail to apply, and what the API
//! server refuses anyway is left to it.

use crate::support::Scratch;
use crate::support::round_trip::{check, same};
use crate::support::suite::Suite;

/// Name, `metadata.annotations`, `spec`, and the rules that deny. Flow mappings of YAML.
const PODS: &[(&str, &str, &str, &[&str])] = &[
    ("no_containers", "{}", "{containers: []}", &[]),
    ("null_containers", "{}", "{containers: null}", &[]),
    ("null_spec", "{}", "null", &[]),
    (
        "null_container",
        "{}",
        "{containers: [null, {name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &[],
    ),
    (
        "null_items",
        "{}",
        "{volumes: [null], initContainers: [null], containers: [{name: c, image: i, env: [null], volumeMounts: [null], \
         envFrom: [null], command: [null], securityContext: {capabilities: {add: [null]}}, resources: {limits: \
         {nvidia.com/gpu: 1}}}]}",
        &[],
    ),
    (
        "null_members",
        "null",
        "{hostNetwork: null, securityContext: null, volumes: null, containers: [{name: null, image: i, env: null, \
         securityContext: null, volumeMounts: null, resources: {limits: {nvidia.com/gpu: 1}, requests: null}}]}",
        &[],
    ),
    ("zero", "{}", "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 0}}}]}", &[]),
    (
        "null_quantity",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: null}}}]}",
        &[],
    ),
    (
        "placeholder",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: $GPUS}}}]}",
        &["FAB201"],
    ),
    (
        "fraction",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1.5}}}]}",
        &["FAB201"],
    ),
    (
        "word",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: two}}}]}",
        &["FAB201"],
    ),
    (
        "huge_quantity",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: \"99999999999999999999\"}}}]}",
        &[],
    ),
    (
        "huge_memory",
        "{}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8, memory: 9000000Ei}}}]}",
        &[],
    ),
    (
        "null_in_the_list",
        "{k8s.v1.cni.cncf.io/networks: \"[null]\"}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &["FAB101"],
    ),
    (
        "networks_are_not_json",
        "{k8s.v1.cni.cncf.io/networks: \"[{]\"}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &["FAB101"],
    ),
    (
        "networks_hide_an_escape",
        "{k8s.v1.cni.cncf.io/networks: \"a\\e[31m\\u0000/b@c\"}",
        "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &["FAB101"],
    ),
    (
        "every_name_is_taken",
        "{}",
        "{volumes: [{name: dshm}, {name: fabric-dshm}, {name: fabric-admission-dshm}], containers: [{name: c, image: i, \
         resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &[],
    ),
    (
        "same_names_twice",
        "{}",
        "{volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}], containers: [{name: c, image: i, env: [{name: NCCL_NET}, \
         {name: NCCL_NET, value: IB}], volumeMounts: [{name: v, mountPath: /dev/shm}], resources: {limits: \
         {nvidia.com/gpu: 1}}}, {name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}",
        &[],
    ),
];

pub(crate) fn add(suite: &mut Suite) {
    for (name, annotations, spec, denies) in PODS {
        suite.add(format!("odd_pods::{name}"), move || {
            let pod = format!(
                "apiVersion: v1\nkind: Pod\nmetadata:\n  name: odd\n  annotations: {annotations}\nspec: {spec}\n"
            );
            Ok(odd(pod.as_bytes(), denies)?)
        });
    }
    suite.add("odd_pods::annotation_of_a_megabyte", || {
        let pod = serde_json::json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "big", "annotations": {"k8s.v1.cni.cncf.io/networks": "a,".repeat(1 << 19)}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}}}]},
        });
        Ok(odd(pod.to_string().as_bytes(), &["FAB101"])?)
    });
    suite.add("odd_pods::more_conditions_on_nodes_than_are_looked_at", || {
        let term =
            serde_json::json!({"matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["4"]}]});
        let terms = serde_json::json!({"nodeSelectorTerms": vec![term; 100]});
        let affinity =
            serde_json::json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
        let container = serde_json::json!({
            "name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 1}},
        });
        let pod = serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wide"},
            "spec": {"containers": [container], "affinity": affinity},
        });
        Ok(odd(pod.to_string().as_bytes(), &[])?)
    });
    suite.add("odd_pods::a_thousand_containers", || Ok(odd(&thousand(), &[])?));
}

/// 1,000 containers with 60 variables each, every one of them on a GPU.
fn thousand() -> Vec<u8> {
    let env: Vec<_> =
        (0..60).map(|n| serde_json::json!({"name": format!("NAME_{n}"), "value": "v"})).collect();
    let container = |n: usize| {
        serde_json::json!({
            "name": format!("c{n}"), "image": "i", "env": env, "resources": {"limits": {"nvidia.com/gpu": 1}},
        })
    };
    let containers: Vec<_> = (0..1000).map(container).collect();
    serde_json::json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "wide"}, "spec": {"containers": containers},
    })
    .to_string()
    .into_bytes()
}

fn odd(pod: &[u8], denies: &[&str]) -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", pod)?;
    let args = ["--profile".to_owned(), "roce-sriov".to_owned()];
    let (review, _) = check(&args, "pod.yaml", scratch.path())?;
    same("errors", 0, review.list("errors").len())?;
    same("exit code", i32::from(!denies.is_empty()), review.ran.code)?;
    let findings = review.results().iter().flat_map(|r| r["findings"].as_array()).flatten();
    let errors: Vec<&str> =
        findings.filter(|f| f["severity"] == "error").filter_map(|f| f["rule"].as_str()).collect();
    same("rules that deny", denies.to_vec(), errors)?;
    let text = crate::support::run(&["review", "--profile", "roce-sriov", "pod.yaml"], b"", scratch.path())?;
    let control = |c: char| c.is_control() && c != '\n';
    if text.stdout.contains(control) { Err("a control character on the terminal".to_owned()) } else { Ok(()) }
}
