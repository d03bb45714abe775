//! Which profile a pod gets, and the story of it: `why` over the example site, and a table of pods on a small site.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{golden, root, run};
use serde_json::Value;

const SITE: [&str; 6] = [
    "why",
    "--profiles",
    "examples/site/profiles",
    "--cluster",
    "examples/site/cluster",
    "examples/site/jobs.yaml",
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("why::example_site", || {
        let ran = run(&SITE, b"", root())?;
        same("exit code, since a job is ambiguous", 1, ran.code)?;
        same("stderr", "", ran.stderr.as_str())?;
        Ok(golden(&root().join("tests/output-of-examples/site-why.txt"), Some(&ran.stdout))?)
    });
    suite.add("why::example_site_as_json", || Ok(site_as_json()?));
    suite.add("why::every_node_is_accounted_for", || Ok(accounted()?));
    suite.add("why::a_plugin_that_is_still_starting", || Ok(plugin_starting()?));
    suite.add("why::nothing_to_lose", || Ok(nothing_to_lose()?));
    suite.add("why::then_and_now", || Ok(then_and_now()?));
    suite.add("why::bounds", || Ok(bounds()?));
    suite.add("why::long_lists_are_cut", || Ok(super::why_of_many_profiles::cut()?));
    if cfg!(target_os = "linux") {
        suite.add("why::what_is_kept_of_a_pod_is_short", || Ok(super::why_of_many_profiles::kept()?));
    }
    suite.add("why::bad_input", || Ok(bad_input()?));
    for row in TABLE {
        suite.add(format!("why::pod::{}", row.name.replace(' ', "_")), || Ok(judge(row)?));
    }
}

pub(super) fn json(args: &[&str], stdin: &str) -> Result<Value, String> {
    let ran = run(&[&["why", "-o", "json"], args].concat(), stdin.as_bytes(), root())?;
    same("stderr", "", ran.stderr.as_str())?;
    serde_json::from_str(&ran.stdout).map_err(|e| format!("stdout is not JSON ({e}): {}", ran.stdout))
}

fn site_as_json() -> Result<(), String> {
    let report = json(&SITE[1..], "")?;
    crate::cli::published_schemas::validate_why(&report)?;
    let found: Vec<(&str, &str)> = report["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|r| {
            let profile = r["review"]["profile"].as_str().unwrap_or("none");
            (profile, r["why"]["outcome"].as_str().unwrap_or("?"))
        })
        .collect();
    let expected =
        [("roce", "profile"), ("infiniband", "profile"), ("ethernet", "profile"), ("none", "ambiguous")];
    same("profiles", expected.to_vec(), found)
}

/// Nodes that a pod fits and nodes that something keeps it off are all nodes, of the cluster and of each profile.
fn accounted() -> Result<(), String> {
    let report = json(&SITE[1..], "")?;
    let count = |v: &Value| v.as_u64().unwrap_or(0);
    let dropped =
        |v: &Value| v["dropped"].as_array().into_iter().flatten().map(|d| count(&d["nodes"])).sum::<u64>();
    for result in report["results"].as_array().into_iter().flatten() {
        let landing = &result["why"]["landing"];
        same("nodes", count(&landing["nodes"]), count(&landing["fits"]) + dropped(landing))?;
        for profile in result["why"]["profiles"].as_array().into_iter().flatten() {
            same("nodes of a profile", count(&profile["nodes"]), count(&profile["fits"]) + dropped(profile))?;
        }
    }
    Ok(())
}

/// The first node of a pool has its GPUs before its VFs: a rank of then gets what its peers get.
fn plugin_starting() -> Result<(), String> {
    let site = |allocatable: &str| {
        format!(
            "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: rock}}\nspec:\n  base: roce-sriov\n  \
             nodeSelector: {{matchLabels: {{fabric: rock}}}}\n  rails: [{{network: fabric/rock, resource: x.com/vf, count: 8}}]\n---\n\
             apiVersion: v1\nkind: Node\nmetadata: {{name: rock-1, labels: {{fabric: rock}}}}\n\
             status: {{allocatable: {{{allocatable}}}}}\n---\n\
             apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  nodeSelector: {{fabric: rock}}\n  containers:\n  - \
             {{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}\n"
        )
    };
    let changes = |allocatable: &str| -> Result<(Value, bool), String> {
        let report = json(&["-"], &site(allocatable))?;
        let review = &report["results"][0]["review"];
        Ok((review["patch"].clone(), review["findings"].to_string().contains("FAB801")))
    };
    let whole = changes("nvidia.com/gpu: '8', x.com/vf: '8'")?;
    let half = changes("nvidia.com/gpu: '8'")?;
    same("patch", &whole.0, &half.0)?;
    same("FAB801", (false, true), (whole.1, half.1))
}

/// A pod that no profile would change is not refused because several fit it.
fn nothing_to_lose() -> Result<(), String> {
    for (metadata, spec, verdict) in [
        ("", "", "deny"),
        ("  annotations: {fabric-admission.dev/inject: 'false'}\n", "", "allow"),
        ("", "  hostNetwork: true\n", "allow"),
    ] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: beach\n{metadata}spec:\n{spec}  containers:\n  - \
             {{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}\n"
        );
        let report = json(&["-"], &format!("{SMALL}{NODES}{pod}"))?;
        let review = &report["results"][0]["review"];
        same("verdict", verdict, review["verdict"].as_str().unwrap_or("?"))?;
        same("FAB806", true, review["findings"].to_string().contains("FAB806"))?;
    }
    Ok(())
}

/// A pod records the settings that it was created with, and `why` compares them with the current settings.
fn then_and_now() -> Result<(), String> {
    let facts = |bootstrap: &str| {
        format!(
            "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: tide}}\n\
             spec: {{base: ethernet-tcp, description: {bootstrap}, env: [{{name: NCCL_DEBUG, value: {bootstrap}}}]}}\n---\n"
        )
    };
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations: {fabric-admission.dev/profile: tide}\n\
               spec:\n  containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]\n";
    let made =
        run(&["review", "-o", "yaml", "-"], format!("{}{pod}", facts("INFO")).as_bytes(), root())?.stdout;
    let stored = made.rsplit_once("---\n").map_or(made.as_str(), |(_, pod)| pod).to_owned();
    let mark = |report: &Value, field: &str| {
        report["results"][0]["why"]["then"][field].as_str().unwrap_or("none").to_owned()
    };
    let fresh = json(&["-"], &format!("{}{pod}", facts("INFO")))?;
    same("a pod that was not changed", &Value::Null, &fresh["results"][0]["why"]["then"])?;
    let elsewhere = stored.replace("fabric-admission.dev/profile: tide", "example.com/note: x");
    for (facts, pod, words) in [
        (facts("INFO"), &stored, "the profile and its settings are the same now"),
        (facts("WARN"), &stored, "profile tide has other settings now (tide@"),
        (String::new(), &elsewhere, "no profile would apply now"),
        (
            facts("INFO").replace("tide", "rock"),
            &stored.replace("profile: tide", "profile: rock"),
            "profile rock would apply now",
        ),
    ] {
        let input = format!("{facts}{pod}");
        let report = json(&["-"], &input)?;
        crate::cli::published_schemas::validate_why(&report)?;
        let (then, now) = (mark(&report, "injected"), mark(&report, "now"));
        same(&format!("then {then}, now {now}"), words.contains("are the same"), then == now)?;
        let reported = run(&["why", "-"], input.as_bytes(), root())?.stdout;
        if !reported.contains(&format!("created with  {then}\n     {words}")) {
            return Err(format!("{words:?} is not in {reported}"));
        }
    }
    Ok(())
}

/// What one pod may state about nodes is bounded; past that it is an input error, and soon.
fn bounds() -> Result<(), String> {
    let labels: Vec<String> = (0..4000).map(|n| format!("k{n}: v")).collect();
    let terms: Vec<&str> = (0..64).map(|_| "{matchExpressions: [{key: a, operator: Exists}]}").collect();
    let names = vec!["rock-1"; 3000].join(", ");
    for spec in [
        format!(
            "nodeSelector: {{{}}}\n  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
             {{nodeSelectorTerms: [{}]}}}}}}",
            labels.join(", "),
            terms.join(", ")
        ),
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchFields: \
             [{{key: metadata.name, operator: In, values: [{names}]}}, {{key: metadata.name, operator: NotIn, values: [{names}]}}]}}]}}}}}}"
        ),
    ] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  {spec}\n  containers:\n  - {{name: c, image: i, \
             resources: {{limits: {{nvidia.com/gpu: 8}}}}}}\n"
        );
        let ran = run(&["review", "-"], format!("{SMALL}{NODES}{pod}").as_bytes(), root())?;
        // Its conditions count as absent: it may run on every node whose taints it tolerates.
        same("exit code", 0, ran.code)?;
        if !ran.stdout.contains("profile rock") || ran.stdout.contains("FAB80") {
            return Err(ran.stdout);
        }
        let explained = run(&["why", "-"], format!("{SMALL}{NODES}{pod}").as_bytes(), root())?.stdout;
        if !explained.contains("reads only a part of the pod's conditions on nodes") {
            return Err(explained);
        }
    }
    Ok(())
}

fn bad_input() -> Result<(), String> {
    let broken = run(&["why", "-"], b"kind: [", root())?;
    same("exit code of an unreadable input", 2, broken.code)?;
    let none = run(&["why", "-"], b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", root())?;
    same("exit code without pods", 0, none.code)?;
    same("text without pods", "no pods in the inputs\n", none.stdout.as_str())?;
    let typo = run(&["why", "-", "--default-profile", "rocky"], SMALL.as_bytes(), root())?;
    same("exit code of an unknown default", 2, typo.code)?;
    let hint = "--default-profile: FabricProfile \"rocky\" does not exist; did you mean \"rock\"?";
    if typo.stderr.contains(hint) { Ok(()) } else { Err(format!("expected {hint}: {}", typo.stderr)) }
}

/// Two fabrics and a pool of plain GPU nodes.
const SMALL: &str = r"apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: rock}
spec: {base: ethernet-tcp, priority: 5, nodeSelector: {matchLabels: {fabric: rock}}, instanceTypes: [big.rock]}
---
apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: sand}
spec:
  base: ethernet-tcp
  nodeSelector: {matchLabels: {fabric: sand}}
  namespaces: {matchLabels: {team: beach}}
---
apiVersion: fabric-admission.dev/v1alpha1
kind: FabricProfile
metadata: {name: tide}
spec: {base: ethernet-tcp, nodeSelector: {matchLabels: {fabric: tide}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: beach, labels: {team: beach, fabric-admission.dev/mode: enforce}}
---
apiVersion: v1
kind: Namespace
metadata:
  name: town
  labels: {fabric-admission.dev/mode: enforce}
  annotations: {fabric-admission.dev/profile: tide}
---
";

const NODES: &str = r"apiVersion: v1
kind: Node
metadata: {name: rock-1, labels: {fabric: rock, pool: a, size: '8', kubernetes.io/hostname: rock-1}}
---
apiVersion: v1
kind: Node
metadata: {name: sand-1, labels: {fabric: sand, pool: b, size: '16', kubernetes.io/hostname: sand-1}}
---
apiVersion: v1
kind: Node
metadata: {name: tide-1, labels: {fabric: tide, pool: c, size: '32', kubernetes.io/hostname: tide.1}}
spec: {taints: [{key: dedicated, value: tide, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: plain-1, labels: {pool: d, nvidia.com/gpu.present: 'true'}}
---
apiVersion: v1
kind: Node
metadata: {name: cpu-1, labels: {pool: e}}
---
";

/// Nodes of two makes; one of them, and the first node of a pool whose RDMA plugin has not come yet.
const MAKES: &str = r"apiVersion: v1
kind: Node
metadata: {name: rock-1, labels: {fabric: rock}}
status: {allocatable: {nvidia.com/gpu: '8'}}
---
apiVersion: v1
kind: Node
metadata: {name: tide-1, labels: {fabric: tide}}
status: {allocatable: {amd.com/gpu: '8'}}
---
";

struct Row {
    name: &'static str,
    nodes: &'static str,
    /// Lines of the pod's `metadata` and `spec`, in flow style.
    metadata: &'static str,
    spec: &'static str,
    gpus: u32,
    args: &'static [&'static str],
    /// Profile, outcome and the rules of this page that speak.
    expected: (&'static str, &'static str, &'static [&'static str]),
}

const fn row(
    name: &'static str,
    metadata: &'static str,
    spec: &'static str,
    expected: (&'static str, &'static str, &'static [&'static str]),
) -> Row {
    Row { name, nodes: NODES, metadata, spec, gpus: 8, args: &[], expected }
}

static TABLE: &[Row] = &[
    row("node selector", "", "nodeSelector: {pool: a}", ("rock", "profile", &[])),
    row(
        "affinity in",
        "",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a, e]}]}]}}}",
        ("rock", "profile", &[]),
    ),
    row(
        "affinity of two terms",
        "namespace: beach",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a]}]}, {matchExpressions: [{key: pool, operator: In, values: [b]}]}]}}}",
        ("none", "ambiguous", &["FAB806"]),
    ),
    row(
        "affinity above",
        "namespace: beach",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: size, operator: Gt, values: ['8']}]}]}}}",
        ("sand", "profile", &[]),
    ),
    row(
        "a field of the node",
        "",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [rock-1]}]}]}}}",
        ("rock", "profile", &[]),
    ),
    row(
        "all but one hostname",
        "",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: fabric, operator: Exists}, {key: kubernetes.io/hostname, operator: NotIn, values: [sand-1]}]}]}}}",
        ("rock", "profile", &[]),
    ),
    row(
        "a hostname that is not the name",
        "",
        "nodeSelector: {kubernetes.io/hostname: tide.1}, tolerations: [{operator: Exists}]",
        ("tide", "profile", &[]),
    ),
    row("node name past the taint", "", "nodeName: tide-1", ("tide", "profile", &[])),
    row("taint", "", "nodeSelector: {pool: c}", ("none", "ambiguous", &["FAB806"])),
    row(
        "toleration",
        "",
        "nodeSelector: {pool: c}, tolerations: [{key: dedicated, operator: Equal, value: tide}]",
        ("tide", "profile", &[]),
    ),
    row(
        "a namespace that is not admitted",
        "",
        "nodeSelector: {pool: b}",
        ("none", "ambiguous", &["FAB806"]),
    ),
    row(
        "a namespace that is admitted",
        "namespace: beach",
        "nodeSelector: {pool: b}",
        ("sand", "profile", &[]),
    ),
    row("free in a namespace of one fabric", "", "", ("rock", "profile", &[])),
    row("free among several fabrics", "namespace: beach", "", ("none", "ambiguous", &["FAB806"])),
    row("only nodes without a profile", "", "nodeSelector: {pool: d}", ("none", "none", &["FAB803"])),
    row(
        "the namespace's default on plain nodes",
        "namespace: town",
        "nodeSelector: {pool: d}",
        ("tide", "profile", &["FAB807"]),
    ),
    row(
        "nodes before the namespace's default",
        "namespace: town",
        "nodeSelector: {pool: a}",
        ("rock", "profile", &[]),
    ),
    row(
        "plain nodes stand for the default",
        "namespace: town",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a, d]}]}]}}}",
        ("none", "ambiguous", &["FAB806"]),
    ),
    row("a pool at zero", "", "nodeSelector: {fabric: tide}", ("tide", "profile", &["FAB808"])),
    row(
        "a pool at zero that two profiles may have",
        "namespace: beach",
        "nodeSelector: {pool: z}",
        ("none", "ambiguous", &["FAB806"]),
    ),
    row(
        "annotation",
        "annotations: {fabric-admission.dev/profile: rock}",
        "nodeSelector: {pool: a}",
        ("rock", "profile", &[]),
    ),
    row(
        "annotation against the nodes",
        "annotations: {fabric-admission.dev/profile: rock}",
        "nodeSelector: {pool: d}",
        ("rock", "profile", &["FAB807"]),
    ),
    row(
        "annotation that is not admitted",
        "annotations: {fabric-admission.dev/profile: sand}",
        "",
        ("none", "refused", &["FAB804"]),
    ),
    Row { gpus: 1, ..row("a small pod", "namespace: beach", "", ("none", "outside", &[])) },
    Row {
        gpus: 1,
        ..row("a small pod on one fabric", "", "nodeSelector: {pool: a}", ("none", "outside", &[]))
    },
    Row {
        args: &["--ambiguous", "warn"],
        ..row("several and warn", "namespace: beach", "", ("none", "ambiguous", &["FAB806"]))
    },
    Row {
        args: &["--ambiguous", "pin"],
        ..row("several and pin", "namespace: beach", "", ("rock", "profile", &[]))
    },
    Row {
        args: &["--default-profile", "rock"],
        ..row("the cluster's default", "", "nodeSelector: {pool: d}", ("rock", "profile", &["FAB807"]))
    },
    Row { nodes: MAKES, ..row("accelerators of one make", "", "", ("rock", "profile", &[])) },
    Row {
        args: &["--default-profile", "sand"],
        ..row(
            "a default of the cluster that is not admitted",
            "",
            "nodeSelector: {pool: d}",
            ("none", "none", &["FAB803"]),
        )
    },
    row("bound to a node without a fabric", "", "nodeName: cpu-1", ("none", "none", &["FAB803"])),
    Row {
        nodes: "",
        ..row("no node known and asked for", "", "nodeSelector: {fabric: rock}", ("rock", "profile", &[]))
    },
    Row {
        nodes: "",
        ..row(
            "no node known and asked for by type",
            "",
            "nodeSelector: {node.kubernetes.io/instance-type: big.rock}",
            ("rock", "profile", &[]),
        )
    },
    Row {
        nodes: "",
        ..row("no node known and left open", "", "nodeSelector: {pool: a}", ("none", "none", &["FAB803"]))
    },
    Row { nodes: "", ..row("no node known and nothing said", "", "", ("none", "none", &["FAB803"])) },
];

fn judge(row: &Row) -> Result<(), String> {
    let flow = |text: &str| {
        let lines = text.split("}, tolerations").collect::<Vec<_>>().join("}\n  tolerations");
        if lines.is_empty() { String::new() } else { format!("  {lines}\n") }
    };
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n{}spec:\n{}  containers:\n  - name: c\n    image: i\n    \
         resources: {{limits: {{nvidia.com/gpu: {}}}}}\n",
        flow(row.metadata),
        flow(row.spec),
        row.gpus
    );
    let report = json(&[row.args, &["-"]].concat(), &format!("{SMALL}{}{pod}", row.nodes))?;
    let result = &report["results"][0];
    let rules: Vec<&str> = result["review"]["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|f| f["rule"].as_str())
        .filter(|rule| rule.starts_with("FAB8") && *rule != "FAB802")
        .collect();
    let profile = result["review"]["profile"].as_str().unwrap_or("none");
    let outcome = result["why"]["outcome"].as_str().unwrap_or("?");
    same(&format!("resolution, of {}", result["why"]), row.expected, (profile, outcome, rules.as_slice()))?;
    // The step that decided says so, except where nothing did.
    let deciding =
        result["why"]["steps"].as_array().into_iter().flatten().filter(|s| s["decides"] == true).count();
    same("steps that decide", usize::from(outcome != "none"), deciding)
}
