//! `review --baseline`: only new findings fail the command, every format marks the known ones, and nothing counts as
//! resolved that the run could not find.

use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, read, run};
use serde_json::Value;

/// A policy with an error (FAB301).
fn policy(name: &str) -> String {
    format!(
        "---\napiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {{name: {name}, namespace: \
         sriov-network-operator}}\nspec:\n  resourceName: rails\n  numVfs: 8\n  priority: 99\n  nodeSelector: {{pool: \
         {name}}}\n  nicSelector: {{pfNames: [ens1f0np0]}}\n  deviceType: vfio-pci\n  isRdma: true\n"
    )
}

/// A pod whose containers have a misspelt variable (FAB408).
fn pod(containers: &[&str]) -> String {
    let container = |name: &&str| {
        format!(
            "  - name: {name}\n    image: i\n    env: [{{name: NCCL_IB_HCAS, value: mlx5}}]\n    resources: {{limits: \
             {{nvidia.com/gpu: 1}}}}\n"
        )
    };
    let containers: String = containers.iter().map(container).collect();
    format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n{containers}")
}

fn review(scratch: &Scratch, args: &[&str]) -> Result<Ran, String> {
    run(&[&["review"], args].concat(), b"", scratch.path())
}

fn json(scratch: &Scratch, args: &[&str]) -> Result<(i32, Value), String> {
    let ran = review(scratch, &[args, &["-o", "json"]].concat())?;
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {ran:?}"))?;
    crate::cli::published_schemas::validate_review(&value)?;
    Ok((ran.code, value))
}

/// Two manifests, and the baseline of both.
fn scratch() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    scratch.write("m/policy.yaml", policy("a"))?;
    scratch.write("m/pod.yaml", pod(&["a"]))?;
    let written = review(&scratch, &["m", "--write-baseline", "base.json", "-q"])?;
    same("exit code, which the findings decide", 1, written.code)?;
    Ok(scratch)
}

/// Number of entries of a part of the comparison, and of their findings.
fn entries(value: &Value, part: &str) -> usize {
    value["baseline"][part].as_array().map_or(0, Vec::len)
}

/// State of each finding of a rule.
fn states(value: &Value, rule: &str) -> Vec<String> {
    let results = value["results"].as_array().into_iter().flatten();
    let findings = results.flat_map(|r| r["findings"].as_array().into_iter().flatten());
    let of_rule = findings.filter(|f| f["rule"] == rule);
    of_rule.map(|f| f["baseline"].as_str().unwrap_or("null").to_owned()).collect()
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("review_baseline::known_findings_fail_nothing", known);
    suite.add("review_baseline::new_findings_fail", new_ones);
    suite.add("review_baseline::a_repaired_finding_is_resolved", resolved);
    suite.add("review_baseline::what_is_not_among_the_inputs_is_incomparable", absent);
    suite.add("review_baseline::unreadable_inputs_resolve_nothing", unreadable);
    suite.add("review_baseline::missing_facts_resolve_nothing", missing_facts);
    suite.add("review_baseline::every_format_marks_known_findings", formats);
    suite.add("review_baseline::known_findings_take_no_annotation_of_new_ones", annotations);
    suite.add("review_baseline::moved_lines_and_files_are_unchanged", moved);
    suite.add("review_baseline::copies_of_an_anchor_are_counted", anchors);
    suite.add("review_baseline::a_configuration_names_one", configured);
    suite.add("review_baseline::files_that_are_no_baseline", wrong);
    suite.add("review_baseline::the_old_file_stays_until_a_new_one_is_written", kept);
}

fn known() -> Outcome {
    let scratch = scratch()?;
    for flag in ["--baseline", "--new-since"] {
        let (code, value) = json(&scratch, &["m", flag, "base.json", "--fail-on", "info"])?;
        same("exit code", 0, code)?;
        same("state of the error", vec!["unchanged".to_owned()], states(&value, "FAB301"))?;
        same("new", 0, entries(&value, "new"))?;
        same("the verdict is the webhook's", true, value["summary"]["denied"].as_u64() > Some(0))?;
    }
    let (code, value) = json(&scratch, &["m"])?;
    same("without a baseline", (1, true), (code, value["baseline"].is_null()))?;
    same("state without a baseline", vec!["null".to_owned()], states(&value, "FAB301"))?;
    let text = review(&scratch, &["m", "--baseline", "base.json"])?;
    let line = text.stdout.lines().find(|line| line.starts_with("Since the baseline: 0 new, 0 resolved, "));
    same(&format!("the summary in {}", text.stdout), true, line.is_some())?;
    Ok(same("mark", true, text.stdout.contains("(in the baseline)"))?)
}

fn new_ones() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/second.yaml", policy("b"))?;
    scratch.write("m/pod.yaml", pod(&["a", "b"]))?;
    let (code, value) = json(&scratch, &["m", "--baseline", "base.json"])?;
    same("exit code", 1, code)?;
    same("policies", vec!["unchanged".to_owned(), "new".to_owned()], states(&value, "FAB301"))?;
    same("containers", vec!["unchanged".to_owned(), "new".to_owned()], states(&value, "FAB408"))?;
    scratch.write("m/second.yaml", "")?;
    let (code, _) = json(&scratch, &["m", "--baseline", "base.json"])?;
    same("a new warning", 0, code)?;
    let (code, _) = json(&scratch, &["m", "--baseline", "base.json", "--fail-on", "warning"])?;
    Ok(same("a new warning with --fail-on warning", 1, code)?)
}

fn resolved() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/policy.yaml", policy("a").replace("vfio-pci", "netdevice"))?;
    let (code, value) = json(&scratch, &["m", "--baseline", "base.json"])?;
    same("exit code", 0, code)?;
    same("resolved", Some("FAB301"), value["baseline"]["resolved"][0]["rule"].as_str())?;
    Ok(same("incomparable", 0, entries(&value, "incomparable"))?)
}

fn absent() -> Outcome {
    let scratch = scratch()?;
    let (code, value) = json(&scratch, &["m/pod.yaml", "--baseline", "base.json"])?;
    same("exit code", 0, code)?;
    same("resolved", 0, entries(&value, "resolved"))?;
    let reason = value["baseline"]["incomparable"][0]["reason"].as_str().unwrap_or_default();
    Ok(same(&format!("reason {reason:?}"), true, reason.ends_with("of 1 object not among the inputs"))?)
}

fn unreadable() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/pod.yaml", pod(&["a"]).replace("NCCL_IB_HCAS", "NCCL_IB_HCA"))?;
    scratch.write("m/broken.yaml", "kind: [\n")?;
    let (code, value) = json(&scratch, &["m", "--baseline", "base.json"])?;
    same("exit code", 2, code)?;
    same("resolved", 0, entries(&value, "resolved"))?;
    Ok(same("incomparable", true, entries(&value, "incomparable") > 0)?)
}

fn missing_facts() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write(
        "facts/nodes.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: gpu, labels: {pool: a}}\n",
    )?;
    scratch.write("m/pod.yaml", pod(&["a"]))?;
    review(&scratch, &["m", "--cluster", "facts", "--write-baseline", "base.json", "-q"])?;
    scratch.write("m/pod.yaml", pod(&["a"]).replace("NCCL_IB_HCAS", "NCCL_IB_HCA"))?;
    let (_, value) = json(&scratch, &["m", "--cluster", "facts", "--baseline", "base.json"])?;
    same("resolved with the facts", true, entries(&value, "resolved") > 0)?;
    let (_, value) = json(&scratch, &["m", "--baseline", "base.json"])?;
    same("resolved without the facts", 0, entries(&value, "resolved"))?;
    let reason = value["baseline"]["incomparable"][0]["reason"].as_str().unwrap_or_default();
    Ok(same("reason", "Node objects are unknown to this run", reason)?)
}

fn formats() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/second.yaml", policy("b"))?;
    let of = |format: &str| review(&scratch, &["m", "--baseline", "base.json", "-o", format]);
    let sarif: Value = serde_json::from_str(&of("sarif")?.stdout).map_err(|e| e.to_string())?;
    let results = sarif["runs"][0]["results"].as_array().cloned().unwrap_or_default();
    let states: Vec<&str> = results
        .iter()
        .filter(|r| r["ruleId"] == "FAB301")
        .map(|r| r["baselineState"].as_str().unwrap_or("none"))
        .collect();
    same("SARIF", vec!["unchanged", "new"], states)?;
    let junit = of("junit")?;
    same("failures in JUnit", 1, junit.stdout.matches("<failure ").count())?;
    for format in ["text", "junit", "github", "gitlab"] {
        let ran = of(format)?;
        same(&format!("exit code of {format}"), 1, ran.code)?;
        let marked = ran.stdout.matches("(in the baseline)").count();
        same(&format!("marks in {format}: {}", ran.stdout), true, marked >= 2)?;
    }
    // These have no findings, and say on stderr why an object has no patch.
    for format in ["yaml", "diff", "patch", "sarif"] {
        let ran = of(format)?;
        let since = "Since the baseline: 1 new";
        same(&format!("{format}: {}", ran.stderr), true, ran.stderr.contains(since))?;
    }
    let plain: Value =
        serde_json::from_str(&review(&scratch, &["m", "-o", "sarif"])?.stdout).map_err(|e| e.to_string())?;
    Ok(same("SARIF without a baseline", false, plain.to_string().contains("baselineState"))?)
}

fn annotations() -> Outcome {
    let scratch = Scratch::new()?;
    let known: String = (0..12).map(|n| policy(&format!("a{n}"))).collect();
    scratch.write("m/a.yaml", known)?;
    review(&scratch, &["m", "--write-baseline", "base.json", "-q"])?;
    scratch.write("m/b.yaml", policy("b"))?;
    let ran = review(&scratch, &["m", "--baseline", "base.json", "-o", "github"])?;
    let errors: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("::error")).collect();
    same("annotations", 1, errors.len())?;
    same("the new one", true, errors[0].contains("file=m/b.yaml") || errors[0].contains("m/b.yaml"))?;
    Ok(same("the log", 12, ran.stdout.lines().filter(|line| line.starts_with("error FAB301")).count())?)
}

fn moved() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/policy.yaml", format!("# a comment\n\n{}", policy("a")))?;
    std::fs::rename(scratch.path().join("m/pod.yaml"), scratch.path().join("m/other.yaml"))
        .map_err(|e| e.to_string())?;
    let (code, value) = json(&scratch, &["m", "--baseline", "base.json", "--fail-on", "info"])?;
    Ok(same("exit code, new", (0, 0), (code, entries(&value, "new")))?)
}

fn anchors() -> Outcome {
    let scratch = Scratch::new()?;
    let pod = |copies: usize| {
        let first = "  - &c\n    name: a\n    image: i\n    env: [{name: NCCL_IB_HCAS, value: mlx5}]\n    resources: {limits: \
                     {nvidia.com/gpu: 1}}\n";
        let rest: String = (0..copies).map(|n| format!("  - {{<<: *c, name: c{n}}}\n")).collect();
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n{first}{rest}")
    };
    scratch.write("pod.yaml", pod(1))?;
    review(&scratch, &["pod.yaml", "--write-baseline", "base.json", "-q"])?;
    let args = ["pod.yaml", "--baseline", "base.json", "--fail-on", "warning"];
    same("as many", 0, json(&scratch, &args)?.0)?;
    scratch.write("pod.yaml", pod(2))?;
    Ok(same("one more", 1, json(&scratch, &args)?.0)?)
}

fn configured() -> Outcome {
    let scratch = scratch()?;
    scratch.write("m/.fabric-admission.yaml", "baseline: ../base.json\n")?;
    same("by the nearest file", 0, review(&scratch, &["m"])?.code)?;
    same("--no-config", 1, review(&scratch, &["m", "--no-config"])?.code)?;
    // Inputs of another configuration have no baseline.
    scratch.write("n/policy.yaml", policy("a"))?;
    let (code, value) = json(&scratch, &["m", "n"])?;
    same("exit code of both", 1, code)?;
    same("states", vec!["unchanged".to_owned(), "null".to_owned()], states(&value, "FAB301"))?;
    // The first baseline is written where the configuration names it.
    scratch.write("m/.fabric-admission.yaml", "baseline: first.json\n")?;
    let missing = review(&scratch, &["m"])?;
    same("a missing file", 2, missing.code)?;
    same(&missing.stderr, true, missing.stderr.contains("--baseline: m/first.json: no such file"))?;
    same("the first one", 1, review(&scratch, &["m", "--write-baseline", "m/first.json", "-q"])?.code)?;
    same("afterwards", 0, review(&scratch, &["m"])?.code)?;
    scratch.write("m/.fabric-admission.yaml", "baseline: /dev/zero\n")?;
    let device = review(&scratch, &["m"])?;
    Ok(same(
        &device.stderr,
        true,
        device.code == 2 && device.stderr.contains("neither a file nor a directory"),
    )?)
}

fn wrong() -> Outcome {
    let scratch = scratch()?;
    for (text, words) in [
        ("{", "not a baseline"),
        ("{}", "has no \"schema\""),
        ("{\"schema\":\"fabric-admission.dev/review/v1\"}", "--write-baseline FILE"),
        ("{\"schema\":\"fabric-admission.dev/baseline/v7\"}", "another version"),
    ] {
        scratch.write("wrong.json", text)?;
        let ran = review(&scratch, &["m", "--baseline", "wrong.json"])?;
        same(&format!("{text}: {}", ran.stderr), (2, true), (ran.code, ran.stderr.contains(words)))?;
        same("stdout", "", &ran.stdout)?;
    }
    let ran = review(&scratch, &["m", "--baseline", "bose.json"])?;
    Ok(same(&ran.stderr, true, ran.code == 2 && ran.stderr.contains("did you mean \"base.json\"?"))?)
}

fn kept() -> Outcome {
    let scratch = scratch()?;
    let before = read(&scratch.path().join("base.json"))?;
    scratch.write("m/broken.yaml", "kind: [\n")?;
    let ran = review(&scratch, &["m", "--write-baseline", "base.json"])?;
    same(
        &ran.stderr,
        true,
        ran.code == 2 && ran.stderr.contains("not written, since an input cannot be read"),
    )?;
    same("the file", &before, &read(&scratch.path().join("base.json"))?)?;
    let input = review(&scratch, &["m", "--write-baseline", "m/pod.yaml"])?;
    same(&input.stderr, true, input.code == 2 && input.stderr.contains("this file is an input"))?;
    // A baseline beside the manifests is not a manifest.
    std::fs::remove_file(scratch.path().join("m/broken.yaml")).map_err(|e| e.to_string())?;
    std::fs::copy(scratch.path().join("base.json"), scratch.path().join("m/base.json"))
        .map_err(|e| e.to_string())?;
    Ok(same("beside the manifests", 0, json(&scratch, &["m", "--baseline", "m/base.json"])?.0)?)
}
