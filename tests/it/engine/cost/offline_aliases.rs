//! Offline commands on short files that YAML aliases and lists in lists make long: what is looked for in an object is looked for
//! once, not for each key or container.

use super::offline_review::{FLOOR, ran};
use crate::support::suite::Outcome;
use crate::support::{Scratch, read};
use std::fmt::Write as _;

/// Fifty repeated keys, against one, in lists in lists around many copies of a text.
pub(super) fn repeated_keys() -> Outcome {
    let file = |keys: usize| {
        let copies = |name: &str, n: usize| vec![name; n].join(",");
        let mut object = format!(
            "{{kind: Foo, a: &a {}, b: &b [{}], c: [{}], z: {{{}}}}}",
            "x".repeat(100),
            copies("*a", 10),
            copies("*b", 40),
            copies("a", keys)
        );
        for _ in 0..10 {
            object = format!("{{kind: Foo, items: [{object}]}}");
        }
        format!("---\n{object}\n").repeat(12)
    };
    compare("review input", [file(2), file(51)], 4, "FAB902")
}

/// A comment, since a longer document may have more aliases.
fn padding() -> String {
    format!("\n# {}\n", "x".repeat(60_000))
}

/// A pod template with 150 findings, against one with two, both beside many copies of a text.
pub(super) fn places_of_findings() -> Outcome {
    let file = |findings: usize| {
        let env: Vec<String> = (0..findings)
            .flat_map(|i| {
                [format!("{{name: NCCL_Q{i}, value: a}}"), format!("{{name: NCCL_NET, value: X{i}}}")]
            })
            .collect();
        format!(
            "{{kind: Foo, apiVersion: v1, spec: {{template: {{spec: {{fill: [&a {}, &b [{}], {}], containers: [{{name: c, \
             image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}, env: [{}]}}]}}}}}}}}",
            "x".repeat(1000),
            ["*a"; 10].join(","),
            ["*b"; 300].join(","),
            env.join(",")
        ) + &padding()
    };
    compare("review input", [file(1), file(75)], 4, "NCCL_Q0")
}

/// A pod with a hundred containers that request the same resources, against one with few, both with terms that exclude the nodes
/// of the profiles that have these resources.
pub(super) fn resources_of_containers() -> Outcome {
    let labels = 60;
    let file = |containers: usize| {
        let mut text = String::new();
        let resources: Vec<String> = (0..60).map(|i| format!("x/r{i}: 1")).collect();
        for i in 0..60 {
            text += &profile(&format!("p{i}"), "zz: a", &format!("x/r{i}"));
        }
        let keys: Vec<String> = (0..labels).map(|i| format!("k{i:02}: a")).collect();
        text += &profile("q", &keys.join(", "), "y/q");
        let known: Vec<String> =
            (0..labels).map(|i| format!("&k{i} {{key: k{i:02}, operator: Exists}}")).collect();
        let again: Vec<String> = (0..labels - 1).map(|i| format!("*k{i}")).collect();
        let mut terms = format!(
            "{{matchExpressions: &e0 [{}, &z {{key: zz, operator: DoesNotExist}}]}}, {{matchExpressions: &e1 [{}, *z]}}",
            known.join(", "),
            again.join(", ")
        );
        for i in 0..62 {
            let _ = write!(terms, ", {{matchExpressions: *e{}}}", i % 2);
        }
        let requests = format!("resources: {{limits: {{nvidia.com/gpu: 8, {}}}}}", resources.join(", "));
        let affinity =
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [";
        text + &format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  containers: [&c {{name: c, image: i, {requests}}}{}{}]\n  \
             {affinity}{terms}]}}}}}}\n",
            // Of a document's values, at most 99 of a hundred are copies.
            format!(", {{name: d, image: i, {requests}}}").repeat(12),
            ", *c".repeat(containers)
        ) + &padding()
    };
    compare(
        "why input",
        [file(1), file(100)],
        12,
        "resource x/r0 belongs to p0, but the pod's selectors exclude",
    )
}

/// A pod that names a label of no node, often: a name that is near to those of the nodes, against a short one.
pub(super) fn near_names() -> Outcome {
    let file = |wanted: &str| {
        let mut text = String::from("apiVersion: v1\nkind: List\nitems:\n");
        text += "- {apiVersion: fabric-admission.dev/v1alpha1, kind: FabricProfile, metadata: {name: p}, spec: {base: roce-sriov, \
                 nodeSelector: {matchLabels: {g: x}}}}\n";
        for i in 0..118_usize {
            let letter = |place: usize| "bcdefghijk".get(place..=place).unwrap_or_default();
            let (one, two, three) = (letter(i % 10), letter(i / 10 % 10), letter(i / 100));
            let label = format!("aaaaa{one}aaaaaa{two}aaaaaa{three}{}", "a".repeat(43));
            let _ = writeln!(
                text,
                "- {{apiVersion: v1, kind: Node, metadata: {{name: n{i}, labels: {{f: {label}}}}}}}"
            );
        }
        let _ = writeln!(
            text,
            "- &n {{apiVersion: v1, kind: Pod, metadata: {{name: many}}, spec: {{nodeSelector: {{f: {wanted}}}, containers: \
             [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}"
        );
        text + &"- *n\n".repeat(600)
    };
    compare("review input", [file("z"), file(&"a".repeat(63))], 4, "default/many")
}

fn profile(name: &str, labels: &str, resource: &str) -> String {
    format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: {name}}}\nspec: {{base: \
         roce-sriov, nodeSelector: {{matchLabels: {{{labels}}}}}, rails: [{{network: a/n, resource: {resource}}}]}}\n---\n"
    )
}

/// Compares what a command costs for two files of one length, of which the second may cost `most` times as much; both outputs
/// have the words.
fn compare(command: &str, files: [String; 2], most: u32, words: &str) -> Outcome {
    let scratch = Scratch::new()?;
    let mut taken = Vec::new();
    for file in files {
        scratch.write("input", file)?;
        let least = (0..2).map(|_| ran(command, &scratch)).collect::<Result<Vec<_>, _>>()?;
        taken.push(least.into_iter().min().unwrap_or_default());
        let out = read(&scratch.path().join("out"))?;
        assert!(out.contains(words), "{words:?} is not in {out}");
    }
    eprintln!("{taken:.1?} for the control and the file");
    match taken[..] {
        [control, long] if long <= control.max(FLOOR * 5) * most => Ok(()),
        _ => Err(format!("{taken:.1?} for the control and the file").into()),
    }
}
