//! Files that a change of others may bring into a review: what two parts of them multiply to.

use super::offline_review::{FLOOR, ran};
use super::{MOST, Taken, compare, verdict};
use crate::support::Scratch;
use crate::support::suite::Outcome;
use serde_json::{Value, json};

const CONFIG: &str = ".fabric-admission.yaml";

/// A command, and the files of a size that it reads.
type Shape = (&'static str, &'static str, fn(usize) -> Vec<(String, String)>);

const SHAPES: [Shape; 7] = [
    ("equal pods in a diff", "review -o diff --profile roce-sriov input.yaml", |n| {
        let pod = "&p {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: \
                   {limits: {nvidia.com/gpu: 8}}}]}}";
        vec![aliased(pod, "*p", n * 8)]
    }),
    ("entries of `ignore`, and findings", "review input.yaml", |n| {
        let rules = vec!["FAB306"; 400].join(",");
        let entries = "- {rules: *r, reason: r}\n".repeat(n.min(1_900));
        vec![
            (CONFIG.to_owned(), format!("ignore:\n- {{rules: &r [{rules}], reason: r}}\n{entries}")),
            wrong_policies(n * 2),
        ]
    }),
    ("networks, and interfaces of node states", "review input.yaml", |n| {
        let interfaces: Vec<Value> = (0..40)
            .map(|i| json!({"name": format!("e{i}"), "pciAddress": format!("{i}"), "mtu": 1500}))
            .collect();
        let mut items = vec![format!(
            "- {{apiVersion: sriovnetwork.openshift.io/v1, kind: SriovNetworkNodeState, metadata: {{name: n, namespace: s}}, \
             status: &s {}}}",
            json!({ "interfaces": interfaces })
        )];
        let state = |i: usize| {
            format!(
                "- {{apiVersion: sriovnetwork.openshift.io/v1, kind: SriovNetworkNodeState, metadata: {{name: n{i}, namespace: s}}, \
                 status: *s}}"
            )
        };
        items.extend((0..n).map(state));
        let config =
            json!({"cniVersion": "1.0.0", "name": "x", "type": "macvlan", "master": "x", "mtu": 9000})
                .to_string();
        let network = |i: usize| {
            format!(
                "- {{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {{name: x{i}, namespace: s}}, \
                 spec: {{config: '{config}'}}}}"
            )
        };
        items.extend((0..n).map(network));
        vec![("input.yaml".to_owned(), format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n")))]
    }),
    ("networks with a pool, and pools", "review input.yaml", |n| {
        let pool = |i: usize| {
            json!({"apiVersion": "nv-ipam.nvidia.com/v1alpha1", "kind": "IPPool", "metadata": {"name": format!("p{i}"), "namespace": "s"},
                "spec": {"subnet": "10.0.0.0/8", "perNodeBlockSize": 8, "gateway": "10.0.0.1"}})
        };
        let network = |i: usize| {
            let config = json!({"cniVersion": "1.0.0", "name": "x", "type": "macvlan", "master": "x",
                "ipam": {"type": "nv-ipam", "poolName": "p0"}});
            json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                "metadata": {"name": format!("x{i}"), "namespace": "s"}, "spec": {"config": config.to_string()}})
        };
        let items: Vec<Value> = (0..n * 4).map(pool).chain((0..n * 4).map(network)).collect();
        vec![(
            "input.yaml".to_owned(),
            json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
        )]
    }),
    ("profiles with faults", "review input.yaml --profiles profiles.yaml", |n| {
        let good: Vec<String> = (0..n * 4).map(|i| format!("t{i}")).collect();
        let wrong = vec![json!(1); 50];
        let types: Vec<Value> = good.into_iter().map(Value::from).chain(wrong).collect();
        let profile = format!(
            "&p {{apiVersion: fabric-admission.dev/v1alpha1, kind: FabricProfile, metadata: {{name: p}}, spec: {{base: roce-sriov, \
             instanceTypes: {}}}}}",
            json!(types)
        );
        let (_, text) = aliased(&profile, "*p", n / 8);
        vec![("profiles.yaml".to_owned(), text), ("input.yaml".to_owned(), "{}\n".to_owned())]
    }),
    (
        "cases of `profiles test`, and nodes and profiles",
        "profiles test cases --cluster nodes.yaml --profiles profiles.yaml",
        |n| {
            let node = |i: usize| {
                format!("kind: Node\napiVersion: v1\nmetadata: {{name: n{i}, labels: {{a: b{i}}}}}\n---\n")
            };
            let profile = |i: usize| {
                format!(
                    "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: p{i}}}\nspec: {{base: \
                 roce-sriov, nodeSelector: {{matchLabels: {{a: b{i}}}}}}}\n---\n"
                )
            };
            let pod =
                "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n";
            let case = |i: usize| {
                let expected = "results: [{object: Pod default/a, profile: null}]\n";
                [
                    (format!("cases/{i}.yaml"), pod.to_owned()),
                    (format!("cases/{i}.expected.yaml"), expected.to_owned()),
                ]
            };
            let mut files: Vec<(String, String)> = (0..n * 4).flat_map(case).collect();
            files.push(("nodes.yaml".to_owned(), (0..n * 8).map(node).collect()));
            files.push(("profiles.yaml".to_owned(), (0..n * 2).map(profile).collect()));
            files
        },
    ),
    ("directives of YAML", "review input.yaml", |n| {
        vec![("input.yaml".to_owned(), format!("{}---\n{{}}\n", "%TAG !0! a\n".repeat(n * 50)))]
    }),
];

/// A List of one object, and so many aliases of it.
fn aliased(object: &str, alias: &str, times: usize) -> (String, String) {
    let items = format!("- {alias}\n").repeat(times);
    ("input.yaml".to_owned(), format!("apiVersion: v1\nkind: List\nitems:\n- {object}\n{items}"))
}

/// A policy with thirty findings, again and again.
fn wrong_policies(times: usize) -> (String, String) {
    let names: Vec<String> = (0..30).map(|i| format!("a{i}#b")).collect();
    let policy = format!(
        "&p {{apiVersion: sriovnetwork.openshift.io/v1, kind: SriovNetworkNodePolicy, metadata: {{name: p, namespace: s}}, spec: \
         {{resourceName: r, numVfs: 1, nodeSelector: {{a: b}}, nicSelector: {{pfNames: {}}}}}}}",
        json!(names)
    );
    aliased(&policy, "*p", times)
}

/// Each command takes at most [`MOST`] times as long for eight times as much.
pub(super) fn proportionate() -> Outcome {
    let taken: Vec<Taken> = SHAPES
        .into_iter()
        .map(|(label, command, make)| {
            let inputs = [1_usize, 16, 16 * super::TIMES].map(|n| n.to_string().into_bytes());
            compare(label.to_owned(), inputs, FLOOR, |n, times| {
                let n = std::str::from_utf8(n).ok().and_then(|n| n.parse().ok()).unwrap_or_default();
                let scratch = Scratch::new().unwrap();
                for (name, text) in make(n) {
                    scratch.write(&name, text).unwrap();
                }
                (0..times).map(|_| ran(command, &scratch).unwrap()).min().unwrap_or_default()
            })
        })
        .collect();
    verdict("strangers", &taken, SHAPES.len(), MOST)
}
