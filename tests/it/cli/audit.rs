//! `audit` of files: golden dumps, baselines, exit codes and bad input.

use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, golden, names, read, root, run};
use serde_json::Value;
use std::path::PathBuf;

fn directory() -> PathBuf {
    root().join("tests/audit")
}

pub(crate) fn add(suite: &mut Suite) {
    for name in names(&directory()) {
        suite.add(format!("audit::dump::{name}"), move || Ok(dump(&name)?));
    }
    suite.add("audit::five_hundred_ranks_are_one_line", ranks);
    suite.add("audit::a_baseline_shows_only_what_is_new", baseline);
    suite.add("audit::moved_lists_and_other_pods_are_unchanged", moved);
    suite.add("audit::a_kind_that_is_gone_is_incomparable", lost_kind);
    suite.add("audit::files_that_are_no_baseline", wrong_baselines);
    suite.add("audit::exit_codes", exit_codes);
    suite.add("audit::usage", usage);
    suite.add("audit::claims_of_a_dump_without_their_objects", claims);
    suite.add("audit::one_namespace", one_namespace);
    suite.add("audit::namespaces_that_do_not_exist", no_such_namespace);
    suite.add("audit::namespaces_have_no_namespace", namespace_objects);
    suite.add("audit::unreadable_files_resolve_nothing", unreadable_files);
    suite.add("audit::pods_that_cannot_be_read", unreadable_pods);
    suite.add("audit::the_cronjob_fails_as_its_comment_says", cronjob);
    suite.add("audit::owners_in_a_ring_or_too_deep_hide_nothing", rings_of_owners);
    suite.add("audit::order_of_documents_changes_nothing", order);
}

fn audit(args: &[&str], directory: &std::path::Path) -> Result<Ran, String> {
    run(&[&["audit"], args].concat(), b"", directory)
}

/// The tool's version changes with each release.
fn without_version(json: &str) -> Result<Value, String> {
    let mut value: Value = serde_json::from_str(json).map_err(|e| format!("{e}: {json}"))?;
    value["toolVersion"] = Value::from("VERSION");
    Ok(value)
}

/// `cluster.yaml` of a directory, with the flags of `flags` where there is one.
fn dump(name: &str) -> Result<(), String> {
    let case = directory().join(name);
    let flags = read(&case.join("flags")).unwrap_or_default();
    let args: Vec<&str> = ["--cluster", "cluster.yaml"].into_iter().chain(flags.split_whitespace()).collect();
    let text = audit(&args, &case)?;
    let page = format!("exit {}\n{}\nstderr:\n{}", text.code, text.stdout, text.stderr);
    golden(&case.join("output.txt"), Some(&page))?;
    let json = audit(&[&args[..], &["-o", "json"]].concat(), &case)?;
    same("exit code of -o json", text.code, json.code)?;
    let value = without_version(&json.stdout)?;
    crate::cli::published_schemas::validate_audit(&value)?;
    let pretty = serde_json::to_string_pretty(&value).map_err(|e| e.to_string())? + "\n";
    golden(&case.join("output.json"), Some(&pretty))
}

const PROFILE: &str = "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: site}\nspec: {transport: \
                       ethernet, attachment: none}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n---\napiVersion: v1\n\
                       kind: Node\nmetadata: {name: gpu}\n";

/// A Job; `more`: of its container.
fn job(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{namespace: lab, name: {name}}}\nspec:\n  template:\n    metadata: {{annotations: \
         {{fabric-admission.dev/profile: site}}}}\n    spec:\n{}",
        spec("      ", more)
    )
}

fn spec(indent: &str, more: &str) -> String {
    format!(
        "{indent}containers:\n{indent}- {{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 2}}}}{more}}}\n"
    )
}

/// A pod of a Job.
fn pod(name: &str, job: &str, more: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  namespace: lab\n  name: {name}\n  annotations: {{fabric-admission.dev/profile: site}}\n  \
         ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: {job}, uid: u, controller: true}}]\nspec:\n{}status: {{phase: Running}}\n",
        spec("  ", more)
    )
}

const ALGO: &str = ", env: [{name: NCCL_ALGO, value: Ring}]";
const MOVED: &str = ", env: [{name: A, value: b}, {name: NCCL_ALGO, value: Tree}]";
const DEBUG: &str = ", env: [{name: NCCL_ALGO, value: Ring}, {name: NCCL_MAX_NCHANNELS, value: \"8\"}]";

fn json(args: &[&str], scratch: &Scratch) -> Result<(i32, Value), String> {
    let ran = audit(&[args, &["-o", "json"]].concat(), scratch.path())?;
    let value = without_version(&ran.stdout).map_err(|e| format!("{e}\n{}", ran.stderr))?;
    crate::cli::published_schemas::validate_audit(&value)?;
    Ok((ran.code, value))
}

fn ranks() -> Outcome {
    let scratch = Scratch::new()?;
    let pods: String = (0..512).map(|n| pod(&format!("ranks-{n}"), "ranks", ALGO)).collect();
    scratch.write("cluster.yaml", format!("{PROFILE}{}{pods}", job("ranks", ALGO)))?;
    let (_, value) = json(&["--cluster", "cluster.yaml"], &scratch)?;
    let workloads = value["workloads"].as_array().ok_or("no workloads")?;
    let ranks: Vec<&Value> = workloads.iter().filter(|w| w["makesPods"] == true).collect();
    same("lines", 1, ranks.len())?;
    same("pods", 512, ranks[0]["pods"].as_u64().unwrap_or_default())?;
    let finding = ranks[0]["findings"].as_array().into_iter().flatten().find(|f| f["rule"] == "FAB416");
    let finding = finding.ok_or_else(|| format!("no FAB416: {}", ranks[0]))?;
    same("pods of the finding", 512, finding["pods"].as_u64().unwrap_or_default())?;
    Ok(same("count in one pod", 1, finding["count"].as_u64().unwrap_or_default())?)
}

/// The rules of a part of the comparison.
fn rules(value: &Value, part: &str) -> Vec<String> {
    let entries = value["baseline"][part].as_array().map(Vec::as_slice).unwrap_or_default();
    let rule =
        |e: &Value| e["rule"].as_str().or(e["finding"]["rule"].as_str()).unwrap_or("(coverage)").to_owned();
    entries.iter().map(rule).collect()
}

fn baseline() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("before.yaml", format!("{PROFILE}{}{}", job("a", ALGO), pod("a-1", "a", ALGO)))?;
    scratch.write("after.yaml", format!("{PROFILE}{}{}", job("a", DEBUG), pod("a-2", "a", DEBUG)))?;
    let written = audit(&["--cluster", "before.yaml", "--write-baseline", "base.json"], scratch.path())?;
    same("exit code", 0, written.code)?;
    let base = ["--new-since", "base.json", "--fail-on", "info"];
    let (code, value) = json(&[&["--cluster", "before.yaml"], &base[..]].concat(), &scratch)?;
    same("nothing new", (0, Vec::<String>::new()), (code, rules(&value, "new")))?;
    let (code, value) = json(&[&["--cluster", "after.yaml"], &base[..]].concat(), &scratch)?;
    same("new", (1, vec!["FAB408".to_owned()]), (code, rules(&value, "new")))?;
    // What is gone is resolved.
    audit(&["--cluster", "after.yaml", "--write-baseline", "later.json"], scratch.path())?;
    let (code, value) =
        json(&["--cluster", "before.yaml", "--new-since", "later.json", "--fail-on", "info"], &scratch)?;
    same("resolved", (0, vec!["FAB408".to_owned()]), (code, rules(&value, "resolved")))?;
    // The file is easy to compare by lines, and has no line, message or index.
    let text = read(&scratch.path().join("base.json"))?;
    let entries = text.lines().filter(|line| line.starts_with("  {"));
    assert!(
        entries.clone().count() > 0 && entries.clone().all(|l| !l.contains("message") && !l.contains("line")),
        "{text}"
    );
    Ok(())
}

fn moved() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("before.yaml", format!("{PROFILE}{}{}", job("a", ALGO), pod("a-1", "a", ALGO)))?;
    let pods: String = (0..9).map(|n| pod(&format!("a-{n}"), "a", MOVED)).collect();
    scratch.write("after.yaml", format!("{PROFILE}{pods}{}", job("a", MOVED)))?;
    audit(&["--cluster", "before.yaml", "--write-baseline", "base.json"], scratch.path())?;
    let args = ["--cluster", "after.yaml", "--new-since", "base.json", "--fail-on", "info"];
    let (code, value) = json(&args, &scratch)?;
    same("exit code", 0, code)?;
    for part in ["new", "resolved", "incomparable"] {
        same(part, Vec::<String>::new(), rules(&value, part))?;
    }
    Ok(())
}

fn lost_kind() -> Outcome {
    let scratch = Scratch::new()?;
    let jobs = format!("{PROFILE}{}", job("a", ALGO));
    scratch.write("before.yaml", format!("{jobs}{}", pod("a-1", "a", DEBUG)))?;
    scratch.write("after.yaml", &jobs)?;
    audit(&["--cluster", "before.yaml", "--write-baseline", "base.json"], scratch.path())?;
    let (code, value) = json(&["--cluster", "after.yaml", "--new-since", "base.json"], &scratch)?;
    same("exit code", 1, code)?;
    same("partial", true, value["partial"] == true)?;
    same("resolved", Vec::<String>::new(), rules(&value, "resolved"))?;
    assert!(!rules(&value, "incomparable").is_empty(), "{}", value["baseline"]);
    let args = ["--cluster", "after.yaml", "--new-since", "base.json", "--fail-on", "never"];
    Ok(same("never", 0, json(&args, &scratch)?.0)?)
}

fn wrong_baselines() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("cluster.yaml", format!("{PROFILE}{}", job("a", ALGO)))?;
    scratch.write("other.json", r#"{"schema": "kubescape/v2", "entries": []}"#)?;
    scratch.write("later.json", r#"{"schema": "fabric-admission.dev/baseline/v2"}"#)?;
    scratch
        .write("result.json", audit(&["--cluster", "cluster.yaml", "-o", "json"], scratch.path())?.stdout)?;
    scratch.write("text.json", "nothing")?;
    for (file, words) in [
        ("other.json", "\"schema\" is \"kubescape/v2\"; expected"),
        ("later.json", "The file is of another version"),
        ("result.json", "write a baseline with --write-baseline FILE"),
        ("text.json", "not a baseline: expected"),
        ("ressult.json", "no such file; did you mean \"result.json\"?"),
    ] {
        let ran = audit(&["--cluster", "cluster.yaml", "--new-since", file], scratch.path())?;
        same(&format!("exit code of {file}"), 2, ran.code)?;
        assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{file}: {}", ran.stderr);
    }
    // A version with another rule: findings of that rule cannot be compared.
    audit(&["--cluster", "cluster.yaml", "--write-baseline", "base.json"], scratch.path())?;
    let text = read(&scratch.path().join("base.json"))?;
    let mut base: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    if let Some(rules) = base["rules"].as_array_mut() {
        rules.retain(|rule| rule != "FAB416");
    }
    if let Some(entries) = base["entries"].as_array_mut() {
        entries.retain(|entry| entry["rule"] != "FAB416");
    }
    scratch.write("base.json", base.to_string())?;
    let (code, value) = json(&["--cluster", "cluster.yaml", "--new-since", "base.json"], &scratch)?;
    same("new", (1, Vec::<String>::new()), (code, rules(&value, "new")))?;
    let reason = value["baseline"]["incomparable"][0]["reason"].as_str().unwrap_or_default();
    Ok(same("reason", "only one of the two versions has rule FAB416", reason)?)
}

fn exit_codes() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("info.yaml", format!("{PROFILE}{}", job("a", ALGO)))?;
    scratch.write(
        "error.yaml",
        format!("{PROFILE}{}", job("a", "").replace("nvidia.com/gpu: 2", "nvidia.com/gpu: $N")),
    )?;
    scratch.write("broken.yaml", format!("{PROFILE}{}---\na: [\n", job("a", ALGO)))?;
    scratch.write("empty.yaml", "")?;
    for (file, fail_on, code) in [
        ("info.yaml", "error", 0),
        ("info.yaml", "info", 1),
        ("info.yaml", "never", 0),
        ("error.yaml", "error", 1),
        ("error.yaml", "never", 0),
        ("broken.yaml", "never", 2),
        ("nothing.yaml", "never", 2),
        ("empty.yaml", "never", 2),
    ] {
        for format in ["text", "json", "json=out.json"] {
            let ran = audit(&["--cluster", file, "--fail-on", fail_on, "-o", format], scratch.path())?;
            same(&format!("{file} {fail_on} {format}: {}", ran.stderr), code, ran.code)?;
        }
    }
    // Several formats at once.
    let ran = audit(&["--cluster", "info.yaml", "-o", "json=both.json", "-o", "text"], scratch.path())?;
    assert!(ran.stdout.contains("1 workload in 1 namespace"), "{}", ran.stdout);
    crate::cli::published_schemas::validate_audit(&without_version(&read(
        &scratch.path().join("both.json"),
    )?)?)?;
    Ok(())
}

fn usage() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("cluster.yaml", format!("{PROFILE}{}", job("a", ALGO)))?;
    for (args, words) in [
        (&[][..], "--live"),
        (&["--live", "--cluster", "cluster.yaml"], "cannot be used with"),
        (&["--live"], "--live needs a kubeconfig file"),
        (&["--cluster", "cluster.yaml", "-o", "jsn"], "did you mean \"json\"?"),
        (&["--cluster", "cluster.yaml", "-o", "json="], "expected json=FILE"),
        (&["--cluster", "cluster.yaml", "--profile", "sit"], "did you mean"),
        (&["--cluster", "cluster.yaml", "--page-size", "10"], "cannot be used with"),
    ] {
        let ran = audit(args, scratch.path())?;
        same(&format!("exit code of {args:?}: {}", ran.stderr), 2, ran.code)?;
        assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{args:?}: {}", ran.stderr);
    }
    Ok(())
}

/// A dump without the objects of claims: FAB805 reports the claim, and the result is partial.
fn claims() -> Outcome {
    let scratch = Scratch::new()?;
    let job = job("a", "").replace(
        "      containers:",
        "      resourceClaims: [{name: gpus, resourceClaimTemplateName: eight}]\n      containers:",
    );
    let job = job
        .replace("nvidia.com/gpu: 2", "memory: 8Gi")
        .replace("limits: {", "claims: [{name: gpus}], limits: {");
    let template = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {namespace: lab, name: eight}\n\
        spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com, count: 8}}]}}}\n";
    scratch.write("without.yaml", format!("{PROFILE}{job}"))?;
    scratch.write("with.yaml", format!("{PROFILE}{job}---\n{template}"))?;
    // Only its DeviceClass says of which driver the devices of such a class are.
    let ours = template.replace("gpu.nvidia.com", "our-gpus");
    scratch.write("class.yaml", format!("{PROFILE}{job}---\n{ours}"))?;
    let class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: our-gpus}\n\
        spec: {selectors: [{cel: {expression: device.driver == 'gpu.nvidia.com'}}]}\n";
    scratch.write("all.yaml", format!("{PROFILE}{job}---\n{ours}---\n{class}"))?;
    for (file, finding, gap, class) in [
        ("without.yaml", true, true, false),
        ("with.yaml", false, false, false),
        ("class.yaml", false, false, true),
        ("all.yaml", false, false, false),
    ] {
        let (_, value) = json(&["--cluster", file], &scratch)?;
        same(&format!("FAB805 of {file}"), finding, value["workloads"].to_string().contains("is not known"))?;
        let kinds: Vec<&str> =
            value["gaps"].as_array().into_iter().flatten().filter_map(|g| g["kind"].as_str()).collect();
        same(&format!("{file}: {kinds:?}"), gap, kinds.contains(&"ResourceClaimTemplate"))?;
        same("ResourceClaim", false, kinds.contains(&"ResourceClaim"))?;
        same(&format!("DeviceClass of {file}: {kinds:?}"), class, kinds.contains(&"DeviceClass"))?;
    }
    Ok(())
}

fn one_namespace() -> Outcome {
    let scratch = Scratch::new()?;
    let other = job("b", ALGO).replace("namespace: lab", "namespace: other");
    scratch.write("cluster.yaml", format!("{PROFILE}{}{other}", job("a", ALGO)))?;
    let (_, value) = json(&["--cluster", "cluster.yaml", "-n", "other"], &scratch)?;
    let names: Vec<&str> = value["workloads"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|w| w["object"]["name"].as_str())
        .collect();
    Ok(same("workloads", vec!["b"], names)?)
}

fn no_such_namespace() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("cluster.yaml", format!("{PROFILE}{}", job("a", ALGO)))?;
    scratch.write("other.yaml", job("b", ALGO).replace("namespace: lab", "namespace: other"))?;
    for (file, namespace, hint) in [
        ("cluster.yaml", "lob", "\"lob\" does not exist; did you mean \"lab\"?"),
        ("other.yaml", "othr", "did you mean \"other\"?"),
    ] {
        let ran = audit(&["--cluster", file, "-n", namespace], scratch.path())?;
        same(&format!("exit code of {namespace}"), 2, ran.code)?;
        assert!(ran.stderr.contains(hint) && ran.stdout.is_empty(), "{}", ran.stderr);
    }
    Ok(same("exit code", 0, audit(&["--cluster", "cluster.yaml", "-n", "lab"], scratch.path())?.code)?)
}

fn namespace_objects() -> Outcome {
    let scratch = Scratch::new()?;
    let labels = "{fabric-admission.dev/mode: enforcing}";
    let team = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: team, labels: {labels}}}\n");
    scratch.write("cluster.yaml", team)?;
    let (_, value) = json(&["--cluster", "cluster.yaml"], &scratch)?;
    let workload = &value["workloads"][0];
    same("rule", "FAB817", workload["findings"][0]["rule"].as_str().unwrap_or_default())?;
    same("namespace", &Value::Null, &workload["object"]["namespace"])?;
    let (_, value) = json(&["--cluster", "cluster.yaml", "-n", "team"], &scratch)?;
    same("of this namespace", "team", value["workloads"][0]["object"]["name"].as_str().unwrap_or_default())?;
    let clash = audit(&["--cluster", "cluster.yaml", "-o", "json", "-o", "text"], scratch.path())?;
    Ok(same(&clash.stderr, true, clash.code == 2 && clash.stderr.contains("only one format"))?)
}

fn unreadable_files() -> Outcome {
    let scratch = Scratch::new()?;
    let broken = "---\na: [\n";
    scratch.write("before.yaml", format!("{PROFILE}{}{}", job("a", ALGO), pod("a-1", "a", DEBUG)))?;
    scratch.write("after.yaml", format!("{PROFILE}{}{}{broken}", job("b", ALGO), pod("b-1", "b", ALGO)))?;
    audit(&["--cluster", "before.yaml", "--write-baseline", "base.json"], scratch.path())?;
    let args = ["--cluster", "after.yaml", "--new-since", "base.json", "--write-baseline", "next.json"];
    let (code, value) = json(&args, &scratch)?;
    same("exit code", 2, code)?;
    same("partial", true, value["partial"] == true)?;
    same("resolved", Vec::<String>::new(), rules(&value, "resolved"))?;
    assert!(rules(&value, "incomparable").contains(&"FAB408".to_owned()), "{}", value["baseline"]);
    same("baseline", false, scratch.path().join("next.json").exists())?;
    let text = audit(&["--cluster", "after.yaml"], scratch.path())?;
    assert!(text.stdout.starts_with("PARTIAL RESULT: 1 input error\n"), "{}", text.stdout);
    Ok(())
}

fn unreadable_pods() -> Outcome {
    let scratch = Scratch::new()?;
    let pod = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{namespace: lab, name: {name}}}\nspec: {{containers: oops}}\n"
        )
    };
    scratch.write("cluster.yaml", format!("{PROFILE}{}", pod("odd")))?;
    let ran = audit(&["--cluster", "cluster.yaml"], scratch.path())?;
    same("exit code", 2, ran.code)?;
    assert!(ran.stdout.contains("UNREAD  Pod odd") && !ran.stdout.contains("ADMIT"), "{}", ran.stdout);
    assert!(ran.stderr.contains("error: Pod lab/odd: /spec/containers: "), "{}", ran.stderr);
    let (_, value) = json(&["--cluster", "cluster.yaml"], &scratch)?;
    same("verdict", "unknown", value["workloads"][0]["verdict"].as_str().unwrap_or_default())?;
    // Beyond the limit they are counted.
    let many: String = (0..1_003).map(|n| pod(&format!("odd-{n}"))).collect();
    scratch.write("many.yaml", format!("{PROFILE}{many}"))?;
    let (_, value) = json(&["--cluster", "many.yaml"], &scratch)?;
    let last = value["errors"].as_array().and_then(|all| all.last()).ok_or("no errors")?;
    Ok(same("last", "3 more objects cannot be read", last["message"].as_str().unwrap_or_default())?)
}

/// The flags of the comment do what it says.
fn cronjob() -> Outcome {
    let text = read(&root().join("deploy/components/audit-cronjob/cronjob.yaml"))?;
    let instead = text.lines().filter_map(|line| line.strip_prefix("#   --"));
    let instead: Vec<String> = instead.map(|flag| format!("--{}", flag.replace("/results/", ""))).collect();
    let args = text.lines().filter_map(|line| line.trim_start().strip_prefix("- -"));
    let args = args.map(|flag| format!("-{}", flag.replace("/results/", "")));
    let args: Vec<String> = args.filter(|flag| flag != "--live").collect();
    assert!(args.contains(&"--fail-on=never".to_owned()) && instead.len() == 2, "{args:?} {instead:?}");
    let scratch = Scratch::new()?;
    scratch.write("before.yaml", format!("{PROFILE}{}{}", job("a", ALGO), pod("a-1", "a", ALGO)))?;
    let worse = job("a", ALGO).replace("nvidia.com/gpu: 2", "nvidia.com/gpu: $N");
    scratch.write("after.yaml", format!("{PROFILE}{worse}{}", pod("a-1", "a", ALGO)))?;
    scratch.write("less.yaml", format!("{PROFILE}{}", job("a", ALGO)))?;
    audit(&["--cluster", "before.yaml", "--write-baseline", "baseline.json"], scratch.path())?;
    let kept = args.iter().filter(|flag| *flag != "--fail-on=never").chain(&instead);
    let kept: Vec<&str> = kept.map(String::as_str).collect();
    for (file, code) in [("before.yaml", 0), ("after.yaml", 1), ("less.yaml", 1)] {
        let ran = audit(&[&["--cluster", file], &kept[..]].concat(), scratch.path())?;
        same(&format!("exit code of {file}: {}", ran.stdout), code, ran.code)?;
    }
    Ok(())
}

/// Pods may stand before their owners.
fn order() -> Outcome {
    let text = read(&directory().join("several-owners/cluster.yaml"))?;
    let scratch = Scratch::new()?;
    let mut documents: Vec<&str> = text.split("\n---\n").collect();
    documents.reverse();
    scratch.write("forward.yaml", &text)?;
    scratch.write("backward.yaml", documents.join("\n---\n"))?;
    let forward = json(&["--cluster", "forward.yaml"], &scratch)?;
    let backward = json(&["--cluster", "backward.yaml"], &scratch)?;
    Ok(same("results", forward, backward)?)
}

/// Jobs with an unknown profile, each with its controller; 16 owners above one another are followed.
fn rings_of_owners() -> Outcome {
    let job = |name: &str, owner: &str| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: lab, ownerReferences: [{{apiVersion: \
             batch/v1, kind: Job, name: {owner}, controller: true}}]}}\nspec: {{template: {{metadata: {{annotations: \
             {{fabric-admission.dev/profile: nosuch}}}}, spec: {{containers: [{{name: c, image: i, resources: {{limits: \
             {{nvidia.com/gpu: 8}}}}}}]}}}}}}\n"
        )
    };
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: lab, annotations: {fabric-admission.dev/profile: \
               nosuch}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, controller: true}]}\nspec: {containers: \
               [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}\n";
    let chain = |length: usize| -> String {
        (0..length).map(|i| job(&format!("j{i}"), &format!("j{}", i + 1))).collect()
    };
    let cases = [
        ("itself", job("a", "a"), vec!["Job a"]),
        ("a partner", job("a", "b") + &job("b", "a"), vec!["Job a", "Job b"]),
        ("a ring above", job("a", "b") + &job("b", "c") + &job("c", "b"), vec!["Job a", "Job b", "Job c"]),
        ("a pod of a ring", job("a", "a") + pod, vec!["Job a", "Pod p"]),
        // The last one's owner is known by name only; the first of 17 has 17 above it.
        ("sixteen owners", chain(16), vec!["Job j16"]),
        ("too many owners", chain(17), vec!["Job j0", "Job j17"]),
    ];
    for (what, text, expected) in cases {
        let scratch = Scratch::new()?;
        scratch.write("a.yaml", text)?;
        let (_, result) = json(&["--cluster", "a.yaml"], &scratch)?;
        let workloads = result["workloads"].as_array().ok_or("no workloads")?;
        let mut found: Vec<String> = workloads
            .iter()
            .map(|w| {
                format!(
                    "{} {}",
                    w["object"]["kind"].as_str().unwrap_or("?"),
                    w["object"]["name"].as_str().unwrap_or("?")
                )
            })
            .collect();
        found.sort();
        same(
            &format!("{what}: {result}"),
            expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(),
            found,
        )?;
    }
    Ok(())
}
