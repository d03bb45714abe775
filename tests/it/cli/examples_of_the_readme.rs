//! The manifests of `examples/`, which the README shows: what the review prints for each is kept under
//! `tests/output-of-examples/`, and what their comments promise is checked.

use crate::support::round_trip::{Review, check, review, same};
use crate::support::suite::Suite;
use crate::support::{golden, names, root, run};
use serde_json::Value;
use std::path::PathBuf;

const BASE: [&str; 2] = ["--profile", "roce-sriov"];

fn directory() -> PathBuf {
    root().join("examples")
}

pub(crate) fn add(suite: &mut Suite) {
    for name in names(&directory()).into_iter().filter(|n| n.ends_with(".yaml")) {
        suite.add(format!("examples_of_the_readme::{name}"), move || Ok(kept(&name)?));
    }
    suite.add("examples_of_the_readme::the_directory", || Ok(whole_directory()?));
    suite.add("examples_of_the_readme::pytorch_gets_everything", || Ok(pytorch()?));
    suite.add("examples_of_the_readme::a_user_keeps_what_is_set", || Ok(leaderworkerset()?));
    suite.add("examples_of_the_readme::a_cpu_pod_stays", || {
        let review = one("cpu-only.yaml")?;
        same("patch", &Value::Array(Vec::new()), &review.results()[0]["patch"])?;
        Ok(same("findings", Vec::<String>::new(), review.rules())?)
    });
    suite.add("examples_of_the_readme::network_and_pod_fit", || {
        let args = strings(&[&BASE[..], &["network.yaml", "pytorch-roce.yaml"]].concat());
        let review = review(&args, b"", &directory())?;
        same("findings", Vec::<String>::new(), review.rules())?;
        Ok(same("exit code", 0, review.ran.code)?)
    });
    suite.add("examples_of_the_readme::site_profile", || Ok(site_profile()?));
    suite.add("examples_of_the_readme::the_tutorial_names_every_file", || {
        let page = crate::support::read(&directory().join("README.md"))?;
        let missing: Vec<String> =
            names(&directory()).into_iter().filter(|n| n.ends_with(".yaml") && !page.contains(n)).collect();
        Ok(same("files that examples/README.md does not name", Vec::<String>::new(), missing)?)
    });
}

fn strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|a| (*a).to_owned()).collect()
}

fn one(name: &str) -> Result<Review, String> {
    Ok(check(&strings(&BASE), name, &directory())?.0)
}

/// What a reader of the README sees: the report and the diff.
fn kept(name: &str) -> Result<(), String> {
    one(name)?;
    let show = |format| run(&[&["review", "-o", format], &BASE[..], &[name]].concat(), b"", &directory());
    let (text, diff) = (show("text")?, show("diff")?);
    same("exit code of -o diff", text.code, diff.code)?;
    let noted = text.stderr + &diff.stderr;
    same("stderr", true, noted.lines().all(|line| line.starts_with("denied: ") || line.starts_with("  ")))?;
    let mut page = format!("exit {}\n{}", text.code, text.stdout);
    if !diff.stdout.is_empty() {
        page.push_str(&format!("\n{}", diff.stdout));
    }
    golden(&root().join("tests/output-of-examples").join(format!("{name}.txt")), Some(&page))
}

fn whole_directory() -> Result<(), String> {
    let review = review(&strings(&[&BASE[..], &["examples"]].concat()), b"", root())?;
    same("exit code", 1, review.ran.code)?;
    same("errors", 0, review.list("errors").len())?;
    // The cases of profiles contain pods that are meant to be refused, and the pages of fabrics have their own profiles.
    let file = |r: &Value| r["source"]["file"].as_str().unwrap_or_default().to_owned();
    let is_case = |r: &Value| {
        ["examples/profiles-tests/cases/", "examples/how-to/"].iter().any(|start| file(r).starts_with(start))
    };
    let denied = review.results().iter().filter(|r| r["verdict"] == "deny" && !is_case(r));
    let denied: Vec<String> = denied.map(file).collect();
    same("refused", strings(&["examples/bad-sriov-policy.yaml"]), denied)?;
    let errors =
        review.results().iter().filter(|r| !is_case(r)).flat_map(|r| r["findings"].as_array()).flatten();
    let errors: Vec<&str> =
        errors.filter(|f| f["severity"] == "error").filter_map(|f| f["rule"].as_str()).collect();
    same("errors", vec!["FAB301"], errors)
}

/// The patched pod at a pointer of the only document.
fn patched(name: &str, pointer: &str) -> Result<Value, String> {
    let (_, yaml) = check(&strings(&BASE), name, &directory())?;
    let documents = crate::support::round_trip::documents(yaml.as_bytes());
    let (_, document) = documents.first().ok_or("no document")?;
    document.pointer(pointer).cloned().ok_or_else(|| format!("nothing at {pointer}"))
}

fn variables(container: &Value) -> Vec<(&str, &str)> {
    let env = container["env"].as_array().map(Vec::as_slice).unwrap_or_default();
    env.iter().filter_map(|e| Some((e["name"].as_str()?, e["value"].as_str()?))).collect()
}

fn pytorch() -> Result<(), String> {
    let pod = patched("pytorch-roce.yaml", "")?;
    let networks = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].as_str().unwrap_or_default();
    let rails: Vec<String> = (0..8).map(|n| format!("default/sriov-rdma-network@rail{n}")).collect();
    same("networks", rails, networks.split(',').map(str::to_owned).collect())?;
    let trainer = &pod["spec"]["containers"][0];
    for list in ["limits", "requests"] {
        same(list, &Value::from("8"), &trainer["resources"][list]["nvidia.com/sriov_resource"])?;
    }
    let capabilities = &trainer["securityContext"]["capabilities"];
    same("capabilities", &serde_json::json!({"add": ["IPC_LOCK"]}), capabilities)?;
    let volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    let size = volumes.iter().find(|v| v["name"] == "dshm").map(|v| v["emptyDir"].clone());
    same("/dev/shm", Some(serde_json::json!({"medium": "Memory", "sizeLimit": "64Gi"})), size)?;
    let mounts = trainer["volumeMounts"].as_array().cloned().unwrap_or_default();
    same("mounts of /dev/shm", 1, mounts.iter().filter(|m| m["mountPath"] == "/dev/shm").count())?;
    let expected = vec![("NCCL_NET", "IB"), ("NCCL_IB_HCA", "mlx5"), ("NCCL_SOCKET_IFNAME", "eth0")];
    same("variables", expected, variables(trainer))
}

fn leaderworkerset() -> Result<(), String> {
    let worker = patched("leaderworkerset.yaml", "/spec/leaderWorkerTemplate/workerTemplate")?;
    let env = variables(&worker["spec"]["containers"][0]).into_iter();
    same("NCCL_IB_HCA", vec![("NCCL_IB_HCA", "mlx5_")], env.filter(|(n, _)| *n == "NCCL_IB_HCA").collect())?;
    let size = &worker["spec"]["volumes"][0]["emptyDir"]["sizeLimit"];
    same("/dev/shm", &Value::from("128Gi"), size)
}

/// `examples/profiles`: named by flag, by annotation and by evidence, in a namespace that it admits.
fn site_profile() -> Result<(), String> {
    let cluster = crate::support::Scratch::new()?;
    cluster.write(
        "training.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: training\n  labels:\n    \
         fabric-admission.dev/mode: enforce\n    kubernetes.io/metadata.name: training\n",
    )?;
    let facts = cluster.path().display().to_string();
    let profiles = names(&directory().join("profiles"));
    let name = profiles.first().and_then(|n| n.strip_suffix(".yaml")).ok_or("no profile")?;
    let args = ["--profiles", "profiles", "--cluster", &facts, "--profile", name];
    let (review, _) = check(&strings(&args), "pytorch-roce.yaml", &directory())?;
    same("exit code", 0, review.ran.code)?;
    let changes = review.results()[0]["changes"].as_array().cloned().unwrap_or_default();
    let rails = changes.iter().filter(|c| c["path"].as_str().is_some_and(|p| p.contains("roce_rail")));
    same("quantities of the rails' own resources", 16, rails.count())?;

    let pod = |namespace: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  namespace: {namespace}\n  annotations: \
             {{fabric-admission.dev/profile: {name}}}\nspec:\n  containers:\n  - name: c\n    image: i\n    \
             resources: {{limits: {{nvidia.com/gpu: 8}}}}\n"
        )
    };
    for (namespace, rules) in [("training", vec![]), ("kitchen", vec!["FAB804", "FAB501"])] {
        let args = strings(&["--profiles", "profiles", "--cluster", &facts, "-"]);
        let review = crate::support::round_trip::review(&args, pod(namespace).as_bytes(), &directory())?;
        same(&format!("findings in namespace {namespace}"), strings(&rules), review.rules())?;
    }
    Ok(())
}
