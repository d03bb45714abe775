//! `discover` of files: one dump per platform and per fault in `tests/discover`, each with the profiles and messages that it
//! must give. What a profile does is checked with the commands that read it: a review of an example pod, and the comparison
//! of the profiles with their own cluster.
//!
//! | file | what |
//! | --- | --- |
//! | `cluster.yaml` | the objects of a cluster |
//! | `expected.yaml` | the output |
//! | `expected.txt` | the exit code and the messages |
//! | `diff.txt` | differences from existing profiles, where the dump has some |

use crate::support::round_trip::{documents, same};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Ran, Scratch, golden, names, read, root, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    root().join("tests/discover")
}

pub(crate) fn add(suite: &mut Suite) {
    for name in dumps() {
        suite.add(format!("discover::files::{name}"), move || Ok(dump(&name)?));
    }
    if let Some(shared) = suite.need(Need::Shared, "discover::additions") {
        suite.add("discover::additions", move || Ok(additions(&shared)?));
    }
    suite.add("discover::transcript", || Ok(transcript()?));
    suite.add("discover::usage", usage);
    suite.add("discover::objects_in_any_order", order);
    suite.add("discover::the_output_stays_in_proportion", || Ok(length_of_output()?));
    suite.add("discover::too_many_comparisons", || Ok(too_many_comparisons()?));
}

/// What it is, arguments, and the objects of a cluster of a size.
type Cluster = (&'static str, &'static [&'static str], fn(usize) -> Vec<Value>);

/// Each profile may select the nodes of each group. A name, more arguments, and a cluster with so many nodes and
/// profiles.
const CLUSTERS: [Cluster; 5] = [
    ("groups of unknown fabrics", &["--diff"], |number| {
        let mut objects = profiles(number, 0);
        objects.extend((0..number).map(|i| labelled(&format!("n{i}"), &format!("t{i}"), &json!({}))));
        objects
    }),
    ("nodes with long names", &["--diff"], |number| {
        let mut objects = profiles(number, 0);
        objects.extend((0..number).map(|i| labelled(&format!("n{i}{}", "x".repeat(500)), "t", &json!({}))));
        objects
    }),
    ("a long instance type", &["--diff"], |number| {
        let mut objects = profiles(number, 0);
        let mut node = labelled("n", &format!("p5.{}", "x".repeat(number * 200)), &json!({}));
        node["spec"] = json!({"providerID": "aws:///x/i-1"});
        objects.push(node);
        objects
    }),
    ("a long fabric", &["--diff"], |number| {
        let mut objects = profiles(number, 0);
        let resources = (0..number).map(|i| (format!("openshift.io/r{i}"), json!("8")));
        objects.push(labelled("n", "t", &Value::Object(resources.collect())));
        objects.extend((0..number).map(|i| {
            json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                "metadata": {"name": format!("n{i}"), "namespace": "default",
                    "annotations": {"k8s.v1.cni.cncf.io/resourceName": format!("openshift.io/r{i}")}},
                "spec": {"config": "{\"cniVersion\":\"1.0.0\",\"type\":\"sriov\",\"name\":\"n\"}"}})
        }));
        objects
    }),
    ("fabrics that differ in a number, and profiles with long names", &[], |number| {
        let mut objects = profiles(number, 230);
        objects.extend((0..number).map(|i| {
            let efa = json!({"vpc.amazonaws.com/efa": (i + 1).to_string()});
            let mut node = labelled(&format!("n{i}"), &format!("t{i}"), &efa);
            node["spec"] = json!({"providerID": "aws:///x/i-1"});
            node
        }));
        objects
    }),
];

fn profiles(number: usize, length: usize) -> Vec<Value> {
    let profile = |i: usize| {
        json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
            "metadata": {"name": format!("p{i}{}", "x".repeat(length))},
            "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"a": "b"}}}})
    };
    (0..number).map(profile).collect()
}

fn labelled(name: &str, instance_type: &str, resources: &Value) -> Value {
    let mut node = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"a": "b", "node.kubernetes.io/instance-type": instance_type}},
        "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    for (resource, count) in resources.as_object().into_iter().flatten() {
        node["status"]["allocatable"][resource] = count.clone();
    }
    node
}

/// Eight times the nodes and profiles give about eight times the output. If each profile shows each group, 64 times.
fn length_of_output() -> Result<(), String> {
    let scratch = Scratch::new()?;
    for (name, more, cluster) in CLUSTERS {
        for format in ["yaml", "json"] {
            let length = |number: usize| {
                let list = json!({"apiVersion": "v1", "kind": "List", "items": cluster(number)}).to_string();
                scratch.write("cluster.json", list.as_bytes())?;
                let all = [&["--cluster", "cluster.json", "-o", format], more].concat();
                let ran = discover(&all, scratch.path())?;
                match ran.code {
                    0 | 1 => Ok((ran.stdout.len() + ran.stderr.len(), list.len())),
                    code => Err(format!("{name}: {code}: {}", ran.stderr)),
                }
            };
            let ((few, _), (many, input)) = (length(32)?, length(256)?);
            if many > few * 12 || many > input * 64 {
                return Err(format!(
                    "{name} in {format}: {few} bytes, then {many}, for {input} bytes of input"
                ));
            }
        }
    }
    Ok(())
}

/// 4,000 interfaces of a node, and as many groups of virtual functions, which eight resources of the node may mean.
fn too_many_comparisons() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let mut node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
        "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    for i in 0..8 {
        node["status"]["allocatable"][format!("d{i}.example/rails")] = "8".into();
    }
    let interfaces: Vec<Value> = (0..4_000).map(|i| json!({"name": format!("e{i}")})).collect();
    let state = json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodeState",
        "metadata": {"name": "n", "namespace": "sriov-network-operator"},
        "spec": {"interfaces": [{"name": "e0", "vfGroups": vec![json!({"resourceName": "rails"}); 4_000]}]},
        "status": {"interfaces": interfaces}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [node, state]});
    scratch.write("cluster.json", list.to_string().as_bytes())?;
    let ran = discover(&["--cluster", "cluster.json"], scratch.path())?;
    let why = "error: the objects need more than 100000000 comparisons of nodes with other objects";
    match ran.code == 2 && ran.stdout.is_empty() && ran.stderr.contains(why) {
        true => Ok(()),
        false => Err(format!("{}: {}", ran.code, ran.stderr)),
    }
}

fn dumps() -> impl Iterator<Item = String> {
    names(&directory()).into_iter().filter(|name| directory().join(name).is_dir())
}

fn discover(args: &[&str], directory: &Path) -> Result<Ran, String> {
    run(&[&["discover"], args].concat(), b"", directory)
}

fn dump(name: &str) -> Result<(), String> {
    let case = directory().join(name);
    let cluster = ["--cluster", "cluster.yaml"];
    let text = discover(&cluster, &case)?;
    golden(&case.join("expected.yaml"), Some(&text.stdout))?;
    golden(&case.join("expected.txt"), Some(&format!("exit {}\n{}", text.code, text.stderr)))?;
    named(&text.stdout)?;
    let existing = discover(&[&cluster[..], &["--diff"]].concat(), &case)?;
    let shown = format!("exit {}\n{}{}", existing.code, existing.stdout, existing.stderr);
    let has_profiles = read(&case.join("cluster.yaml"))?.contains("kind: FabricProfile");
    golden(&case.join("diff.txt"), has_profiles.then_some(shown.as_str()))?;
    let existing = discover(&[&cluster[..], &["--diff", "-o", "json"]].concat(), &case)?;
    let existing: Value =
        serde_json::from_str(&existing.stdout).map_err(|e| format!("{e}: {}", existing.stderr))?;
    crate::cli::published_schemas::validate_discover(&existing)?;
    let json = discover(&[&cluster[..], &["-o", "json"]].concat(), &case)?;
    same("exit code of -o json", text.code, json.code)?;
    let json: Value = serde_json::from_str(&json.stdout).map_err(|e| format!("{e}: {}", json.stdout))?;
    crate::cli::published_schemas::validate_discover(&json)?;
    let profiles: Vec<Value> =
        documents(text.stdout.as_bytes()).into_iter().map(|(_, value)| value).collect();
    let in_json: Vec<Value> =
        json["profiles"].as_array().into_iter().flatten().map(|p| p["profile"].clone()).collect();
    same("profiles of both formats", &profiles, &in_json)?;
    if profiles.is_empty() {
        return Ok(());
    }
    used(&case, &text, &json)
}

/// Each value of a profile has a comment with its origin: the values of lists after their key, and of a label's expression
/// after the key of the label.
fn named(yaml: &str) -> Result<(), String> {
    const OWN: [&str; 5] = ["apiVersion", "kind", "  name", "  description", "operator"];
    for line in yaml.lines().filter(|line| !line.trim_start().starts_with('#') && !line.contains("  # ")) {
        let Some((key, value)) = line.split_once(": ") else { continue };
        if !value.is_empty() && !OWN.contains(&key) && !OWN.contains(&key.trim()) {
            return Err(format!("without its origin: {line}"));
        }
    }
    Ok(())
}

/// The profiles are read by the program itself, give their own rails to a pod, and agree with their own cluster.
fn used(case: &Path, found: &Ran, json: &Value) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let cluster = case.join("cluster.yaml");
    let cluster = cluster.to_str().ok_or("not UTF-8")?;
    scratch.write("profiles.yaml", &found.stdout)?;
    // The existing profiles of a dump would take the place of those with the same name.
    let text = read(&case.join("cluster.yaml"))?;
    let without: Vec<&str> = text.split("---\n").filter(|one| !one.contains("kind: FabricProfile")).collect();
    scratch.write("facts.yaml", without.join("---\n"))?;
    let back = discover(&["--cluster", cluster, "--diff", "--profiles", "profiles.yaml"], scratch.path())?;
    let unknown = json["unknown"].as_array().map_or(0, Vec::len);
    if unknown == 0 {
        // Not 0 if the files contradict each other about what these profiles do not depend on.
        same("exit code of the comparison with itself", found.code, back.code)?;
    }
    same("differences from itself", "", back.stdout.as_str())?;
    for one in json["profiles"].as_array().into_iter().flatten() {
        rails(&scratch, &one["profile"])?;
    }
    Ok(())
}

/// A pod with all accelerators of a node gets the rails and resources of the profile.
fn rails(scratch: &Scratch, profile: &Value) -> Result<(), String> {
    let name = profile["metadata"]["name"].as_str().ok_or("no name")?;
    let spec = &profile["spec"];
    let resource = if name.starts_with("mi") { "amd.com/gpu" } else { "nvidia.com/gpu" };
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: train, namespace: team-a, annotations: {{fabric-admission.dev/profile: \
         {name}}}}}\nspec:\n  containers:\n    - name: train\n      image: registry.example/train:1\n      resources: {{limits: \
         {{{resource}: {}}}}}\n",
        spec["acceleratorsPerNode"]
    );
    scratch.write("pod.yaml", pod)?;
    let args = [
        "review",
        "pod.yaml",
        "--cluster",
        "facts.yaml",
        "--profiles",
        "profiles.yaml",
        "-o",
        "json",
        "--fail-on",
        "never",
    ];
    let ran = run(&args, b"", scratch.path())?;
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    let result = &report["results"][0];
    same("profile of the pod", Some(name), result["profile"].as_str())?;
    let patch = result["patch"].to_string();
    // No object shows the interface of the cluster network; only a base of the platform names it.
    if spec["base"].is_null() && (spec.get("bootstrap").is_some() || patch.contains("NCCL_SOCKET_IFNAME")) {
        return Err(format!("{name}: an interface that was not observed: {spec}, {patch}"));
    }
    let count = |rail: &Value| rail["count"].as_u64().unwrap_or(1);
    for rail in spec["rails"].as_array().into_iter().flatten() {
        let network = rail["network"].as_str().ok_or("no network")?;
        same(
            &format!("attachments of {network}"),
            usize::try_from(count(rail)).unwrap_or(0),
            attachments(&patch, network),
        )?;
        if let Some(resource) = rail["resource"].as_str() {
            let escaped = resource.replace('/', "~1");
            if !patch.contains(resource) && !patch.contains(&escaped) {
                return Err(format!("{name}: {resource} is not in the patch: {patch}"));
            }
        }
    }
    for resource in spec["resources"].as_array().into_iter().flatten() {
        let resource = resource["name"].as_str().ok_or("no name of a resource")?;
        if !patch.contains(resource) && !patch.contains(&resource.replace('/', "~1")) {
            return Err(format!("{name}: {resource} is not in the patch: {patch}"));
        }
    }
    Ok(())
}

/// How often a patch attaches a network.
fn attachments(patch: &str, network: &str) -> usize {
    patch.matches(&format!("{network}@rail")).count()
}

/// Public manifests (docs/discover-proof.md), each with the dump and the profile of its platform. Files of the shared corpus,
/// or pods of our own with the settings of a manifest that is not in it.
const PROOF: &[(&str, &str, &str)] = &[
    ("Mellanox__network-operator-docs__bundle-sriov-network-rdma.yaml", "roce-sriov-one-pool", "h100-roce"),
    ("NVIDIA__deepops__mpijob-roce-sriov.yaml", "roce-two-rails", "a100-roce"),
    ("Mellanox__network-operator-docs__bundle-macvlan-rdma-shared.yaml", "roce-macvlan", "h100-roce"),
    ("k8snetworkplumbingwg__ib-sriov-cni__ib-sriov-test-pod.yaml", "infiniband-vf", "a100-ib"),
    ("Mellanox__network-operator__ipoib-rdma-pod1.yaml", "infiniband-ipoib", "h100-ib"),
    ("Mellanox__network-operator-docs__bundle-host-device-rdma.yaml", "host-device", "h200-roce"),
    ("aws-samples__awsome-distributed-training__efa-nccl-tests-p5.yaml", "eks-efa", "h100-efa"),
    ("aws-samples__aws-efa-eks__mpijob-nccl-efa-p4d.yaml", "eks-efa", "a100-efa"),
    ("mpijob.yaml", "eks-efa-gb200", "gb200-efa"),
    ("Azure__aks-rdma-infiniband__docblock-gpudirect-8ib.yaml", "aks-nd", "h100-ib"),
    ("Azure__aks-rdma-infiniband__docblock-ipoib-pod.yaml", "aks-nd", "h100-ib"),
    (
        "GoogleCloudPlatform__container-engine-accelerators__gke-a3u-rdma-nccl-test.yaml",
        "gke-rdma",
        "b200-h200-gke-rdma",
    ),
    (
        "GoogleCloudPlatform__container-engine-accelerators__gke-a4x-max-jobset.yaml",
        "gke-dranet",
        "gb300-roce",
    ),
    (
        "GoogleCloudPlatform__container-engine-accelerators__gke-tcpx-unprivileged.yaml",
        "gke-tcpx",
        "h100-tcpx",
    ),
    ("GoogleCloudPlatform__container-engine-accelerators__gke-tcpxo-latest.yaml", "gke-tcpx", "h100-tcpxo"),
    ("ROCm__network-operator__workload-amd-nic.yaml", "amd-nic", "mi355x-roce"),
    ("pod.yaml", "oke", "h100-roce"),
    ("mpijob.yaml", "nebius", "h100-ib"),
    ("pod.yaml", "coreweave", "h100-ib"),
    ("pod.yaml", "coreweave-roce", "gb300-roce"),
    ("pod.yaml", "roce-network-per-rail", "b200-roce"),
    ("pod.yaml", "gke-dranet", "b200-roce"),
    ("kubernetes-sigs__dranet__mpijob-oke-gb200-dra.yaml", "dra", "gb200-roce"),
    ("kubeflow__trainer__pytorchjob-v1-mnist-nccl.yaml", "ethernet", "l40s-tcp"),
];

/// Units that a profile adds though the author has none: the manifest, and the end of the path of the addition.
/// docs/discover-proof.md judges each of them.
const ADDED_UNITS: &[(&str, &str)] = &[("Azure__aks-rdma-infiniband__docblock-ipoib-pod.yaml", "/rdma~1ib")];

/// Everything that the discovered profiles add to public manifests. docs/discover-proof.md judges each addition.
fn additions(shared: &Path) -> Result<(), String> {
    let mut page = String::new();
    let mut judged_units = BTreeSet::new();
    for (manifest, dump, profile) in PROOF {
        let case = directory().join(dump);
        let own = case.join(manifest);
        let path = if own.is_file() { own } else { shared.join("corpus").join(manifest) };
        let path = path.to_str().ok_or("not UTF-8")?;
        let args = [
            "review",
            path,
            "--cluster",
            "cluster.yaml",
            "--profiles",
            "expected.yaml",
            "--profile",
            profile,
            "-o",
            "json",
            "--fail-on",
            "never",
        ];
        let ran = run(&args, b"", &case)?;
        let report: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
        page.push_str(&format!("{dump}: {manifest} ({profile})\n"));
        for result in report["results"].as_array().into_iter().flatten() {
            let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
            if result["template"].is_null() {
                continue;
            }
            let changes = result["changes"].as_array().into_iter().flatten();
            let changes: Vec<&Value> = changes.collect();
            let place = format!("{} {}{}", text("kind"), text("name"), text("template"));
            page.push_str(&format!("  {place}: additions: {}\n", changes.len()));
            for change in changes {
                let part = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
                // What the authors left out on purpose: a network or a unit would take a NIC.
                let path = part("path");
                let judged = ADDED_UNITS.iter().any(|(of, end)| of == manifest && path.ends_with(end));
                if judged {
                    judged_units.insert((*manifest, path.clone()));
                } else if path.contains("/resources/")
                    || path.contains("k8s.v1.cni.cncf.io")
                    || path.contains("gke.io")
                {
                    return Err(format!("{dump}: {manifest}: {path} is added"));
                }
                page.push_str(&format!("    {} {}: {}\n", part("carrier"), part("path"), part("reason")));
            }
        }
    }
    // The request and the limit of each: a unit that is no longer added must leave the list.
    same("judged additions of units", ADDED_UNITS.len() * 2, judged_units.len())?;
    golden(&directory().join("additions.txt"), Some(&page))
}

/// The sessions in docs/discover.md: each line that begins with `$ ` is run, and what follows is its output.
fn transcript() -> Result<(), String> {
    let page = root().join("docs/discover.md");
    let text = read(&page)?;
    let scratch = Scratch::new()?;
    for folder in ["tests", "examples"] {
        std::os::unix::fs::symlink(root().join(folder), scratch.path().join(folder))
            .map_err(|e| e.to_string())?;
    }
    let program =
        Path::new(env!("CARGO_BIN_EXE_fabric-admission")).parent().ok_or("no folder of the binary")?;
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let (mut written, mut inside) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        }
        match line.strip_prefix("$ ").filter(|_| inside) {
            Some(command) => {
                let command = format!("{{ {command}; }} 2>&1");
                let run = std::process::Command::new("sh")
                    .args(["-c", &command])
                    .current_dir(scratch.path())
                    .env("PATH", &path)
                    .output()
                    .map_err(|e| e.to_string())?;
                written.push_str(&format!("{line}\n{}", String::from_utf8_lossy(&run.stdout)));
            }
            None if inside && line != "```console" => {}
            None => written.push_str(&format!("{line}\n")),
        }
    }
    golden(&page, Some(&written))
}

fn usage() -> Outcome {
    let scratch = Scratch::new()?;
    for (args, code, says) in [
        (&[][..], 2, "--live"),
        (&["--live", "--cluster", "x"], 2, "cannot be used"),
        (&["--cluster", "absent"], 2, "no such file"),
        (&["--cluster", "x", "--profiles", "y"], 2, "--diff"),
        (&["--live", "--kubeconfig", "absent"], 2, "absent"),
    ] {
        let ran = discover(args, scratch.path())?;
        same(&format!("exit code of {args:?}: {}", ran.stderr), code, ran.code)?;
        if !ran.stderr.contains(says) {
            return Err(format!("{args:?}: no {says:?} in {}", ran.stderr).into());
        }
    }
    Ok(())
}

/// The order of objects changes nothing.
fn order() -> Outcome {
    let scratch = Scratch::new()?;
    for name in dumps() {
        let text = read(&directory().join(&name).join("cluster.yaml"))?;
        let mut parts: Vec<&str> = text.split("---\n").collect();
        parts.reverse();
        scratch.write("cluster.yaml", parts.join("---\n"))?;
        let ran = discover(&["--cluster", "cluster.yaml"], scratch.path())?;
        let expected = read(&directory().join(&name).join("expected.yaml"))?;
        same(&format!("output of {name} in the other order"), expected.as_str(), ran.stdout.as_str())?;
    }
    Ok(())
}
