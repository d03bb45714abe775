//! What a review shows: the summary by rule, filters, snippets, lines that fit the terminal, several outputs at once, and
//! marks of partial results.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Ran, Scratch, run};
use serde_json::Value;

/// Two errors of one rule, a warning of another, and an object that fits.
const POLICIES: &str = "apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: a, namespace: sriov-network-operator}
spec:
  resourceName: rails
  numVfs: 8
  priority: 99
  nodeSelector: {pool: a}
  nicSelector: {pfNames: [ens1f0np0]}
  deviceType: vfio-pci # for DPDK
  isRdma: true
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: b, namespace: sriov-network-operator}
spec:
  resourceName: rails
  numVfs: 8
  priority: 99
  nodeSelector: {pool: b}
  nicSelector: {pfNames: [ens1f0np0]}
  deviceType: vfio-pci
  isRdma: true
---
apiVersion: v1
kind: Pod
metadata: {name: fits}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: warned
  annotations: {fabric-admission.dev/profil: roce}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
";

fn scratch() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    scratch.write("all.yaml", POLICIES)?;
    scratch.write("broken.yaml", "kind: [\n")?;
    Ok(scratch)
}

fn review(scratch: &Scratch, args: &[&str]) -> Result<Ran, String> {
    run(&[&["review"], args].concat(), b"", scratch.path())
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("what_a_review_shows::findings_by_rule_follow_the_objects", || Ok(by_rule()?));
    suite.add("what_a_review_shows::only_findings_leaves_out_what_fits", || Ok(only_findings()?));
    suite.add("what_a_review_shows::quiet_writes_nothing", || Ok(quiet()?));
    suite.add("what_a_review_shows::filters_change_no_verdict", || Ok(filters()?));
    suite.add("what_a_review_shows::an_unknown_rule_has_a_nearest", || {
        let ran = review(&scratch()?, &["--rule", "FAB3O1", "all.yaml"])?;
        same("exit code", 2, ran.code)?;
        Ok(same("the nearest", true, ran.stderr.contains("did you mean FAB301?"))?)
    });
    suite.add("what_a_review_shows::a_finding_shows_its_line_and_a_mark", || Ok(snippet()?));
    suite.add("what_a_review_shows::lines_fit_the_terminal", || Ok(wrapped()?));
    suite.add("what_a_review_shows::a_denial_is_on_stderr_with_its_finding", || Ok(denial()?));
    suite.add("what_a_review_shows::several_formats_at_once", || Ok(several()?));
    suite.add("what_a_review_shows::an_input_is_never_overwritten", || {
        let scratch = scratch()?;
        let ran = review(&scratch, &["-o", "yaml=./all.yaml", "all.yaml"])?;
        same("exit code", 2, ran.code)?;
        same("the reason", true, ran.stderr.contains("this file is an input"))?;
        let kept = std::fs::read_to_string(scratch.path().join("all.yaml")).map_err(|e| e.to_string())?;
        Ok(same("the input", POLICIES, kept.as_str())?)
    });
    suite.add("what_a_review_shows::yaml_of_json_behind_another_document_is_read_again", || {
        let first = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}\n";
        for escape in ["\\/", "\\ud83d\\ude00", "\\uD800"] {
            let second = first.replace("\"a\"}", &format!("\"b\"}}, \"data\": {{\"k\": \"{escape}\"}}"));
            let scratch = scratch()?;
            scratch.write("stream.json", format!("{first}{second}"))?;
            let printed = review(&scratch, &["-o", "yaml", "stream.json"])?;
            same("exit code", 0, printed.code)?;
            scratch.write("printed.yaml", &printed.stdout)?;
            let again = review(&scratch, &["-o", "yaml", "printed.yaml"])?;
            same(escape, (0, printed.stdout.as_str()), (again.code, again.stdout.as_str()))?;
        }
        Ok(())
    });
    suite.add("what_a_review_shows::partial_results_are_marked", || Ok(partial()?));
    suite.add("what_a_review_shows::why_of_a_denied_pod_ends_with_1", || {
        let pod = |names: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{k8s.v1.cni.cncf.io/networks: '{names}'}}}}\nspec: \
                 {{containers: [{{name: c, image: i, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}\n"
            )
        };
        let why = |names: &str| run(&["why", "-"], pod(names).as_bytes(), crate::support::root());
        same("exit code of a denied pod", 1, why("[{]")?.code)?;
        Ok(same("exit code of an admitted pod", 0, why("a")?.code)?)
    });
    suite.add("what_a_review_shows::live_without_a_cluster_is_wrong_usage", || {
        let scratch = scratch()?;
        for command in ["review", "why"] {
            let args = [command, "--live", "--kubeconfig", "nowhere", "all.yaml"];
            let ran = run(&args, b"", scratch.path())?;
            same(&format!("exit code of {command}"), 2, ran.code)?;
            same("the reason", true, ran.stderr.contains("nowhere"))?;
        }
        let config = "apiVersion: v1\nkind: Config\nclusters: [{name: e, cluster: {server: 'http://127.0.0.1:1'}}]\n\
                      contexts: [{name: e, context: {cluster: e, user: e}}]\nusers: [{name: e, user: {}}]\n\
                      current-context: e\n";
        scratch.write("config", config)?;
        let probe = ["probe", "-n", "a", "--profile", "b"];
        let commands: [&[&str]; 5] =
            [&["review", "--live", "all.yaml"], &["why", "--live", "all.yaml"], &["audit", "--live"], &["doctor"], &probe];
        for command in commands {
            let code = |more: &[&str]| Ok::<_, String>(run(&[command, more].concat(), b"", scratch.path())?.code);
            same(&format!("{command:?} without the file"), 2, code(&["--kubeconfig", "nowhere"])?)?;
            if command != probe {
                let args = ["--kubeconfig", "config", "--context", "f"];
                same(&format!("{command:?} with a wrong context"), 2, code(&args)?)?;
                same(&format!("{command:?} without a server"), 3, code(&args[..2])?)?;
            }
        }
        same("probe without a kubeconfig", 2, run(&probe, b"", scratch.path())?.code)?;
        Ok(())
    });
}

fn by_rule() -> Result<(), String> {
    let scratch = scratch()?;
    let text = review(&scratch, &["all.yaml"])?.stdout;
    let (_, table) = text.split_once("findings by rule\n").ok_or("no table")?;
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with("  ")).collect();
    let first = rows.first().copied().unwrap_or_default();
    same("the most severe and most frequent first", true, first.starts_with("  error   FAB301 2  "))?;
    same("how to explain", true, table.contains("run fabric-admission explain FAB301."))?;
    let json: Value = serde_json::from_str(&review(&scratch, &["-o", "json", "all.yaml"])?.stdout)
        .map_err(|e| e.to_string())?;
    let row = &json["rules"][0];
    let seen = (row["rule"].as_str(), row["severity"].as_str(), row["count"].as_u64());
    same("rules of -o json", (Some("FAB301"), Some("error"), Some(2)), seen)
}

fn only_findings() -> Result<(), String> {
    let scratch = scratch()?;
    let ran = review(&scratch, &["--only-findings", "--profile", "ethernet-tcp", "all.yaml"])?;
    same("exit code", 1, ran.code)?;
    same("an object that fits", false, ran.stdout.contains("default/fits"))?;
    same("an object with a finding", true, ran.stdout.contains("default/warned"))?;
    same("changes", false, ran.stdout.lines().any(|line| line.starts_with("  + ")))?;
    same("the sums", true, ran.stdout.contains("4 documents, "))
}

fn quiet() -> Result<(), String> {
    let scratch = scratch()?;
    for format in ["text", "json", "patch"] {
        let ran = review(&scratch, &["-q", "-o", format, "all.yaml"])?;
        same(format, (1, "", ""), (ran.code, ran.stdout.as_str(), ran.stderr.as_str()))?;
    }
    let ran = review(&scratch, &["-q", "-o", "json=out.json", "all.yaml", "broken.yaml"])?;
    same("with a broken input", (2, ""), (ran.code, ran.stdout.as_str()))?;
    same("its error", true, ran.stderr.starts_with("error: broken.yaml:2:1: "))?;
    let written = std::fs::read_to_string(scratch.path().join("out.json")).map_err(|e| e.to_string())?;
    same("the file", true, written.contains("FAB301"))?;
    same("with -v", 2, review(&scratch, &["-q", "-v", "all.yaml"])?.code)
}

fn filters() -> Result<(), String> {
    let scratch = scratch()?;
    for (args, shown, hidden) in [
        (&["--rule", "fab816"][..], "FAB816", "FAB301"),
        (&["--rule", "FAB816,FAB803"], "FAB816", "FAB301"),
        (&["--severity", "error"], "FAB301", "FAB816"),
    ] {
        let ran = review(&scratch, &[args, &["all.yaml"]].concat())?;
        same("exit code", 1, ran.code)?;
        let findings = |rule: &str| ran.stdout.lines().any(|line| line.contains(&format!(" {rule} ")));
        same(&format!("{args:?}"), (true, false), (findings(shown), findings(hidden)))?;
        same("the verdicts", 2, ran.stdout.matches("DENY ").count())?;
        let json = review(&scratch, &[args, &["-o", "json", "all.yaml"]].concat())?;
        let json: Value = serde_json::from_str(&json.stdout).map_err(|e| e.to_string())?;
        same("summary.denied", Some(2), json["summary"]["denied"].as_u64())?;
    }
    let ran = review(&scratch, &["--rule", "FAB816", "all.yaml"])?;
    same("the count of the others", true, ran.stdout.contains("(1 finding not shown)"))?;
    same("a pod without findings", true, ran.stdout.contains("default/fits  (requests no accelerator)"))
}

fn snippet() -> Result<(), String> {
    let ran = review(&scratch()?, &["all.yaml"])?;
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("  error FAB301 10:3 ")).ok_or("no finding")?;
    let shown = lines.get(at..).unwrap_or_default().iter().skip_while(|line| !line.contains(" | "));
    let shown: Vec<&str> = shown.take(2).copied().collect();
    same(
        "the line and the mark",
        vec!["      10 |   deviceType: vfio-pci # for DPDK", "         |   ^^^^^^^^^^"],
        shown,
    )?;
    // A line of JSON with all documents shows nothing.
    let items = vec![
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","annotations":{"fabric-admission.dev/profil":"a"}}}"#;
        40
    ];
    let list = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{}]}}"#, items.join(","));
    let ran = run(&["review", "-"], list.as_bytes(), crate::support::root())?;
    same("findings", true, ran.stdout.contains("FAB816"))?;
    same("lines", false, ran.stdout.contains("1 | "))
}

/// Only literals are longer: paths and words.
fn wrapped() -> Result<(), String> {
    let ran = review(&scratch()?, &["-v", "--profile", "roce-sriov", "all.yaml"])?;
    let long = |line: &&str| {
        let literal =
            ["      at  ", "  + ", "DENY", "ALLOW", "SKIP"].iter().any(|start| line.starts_with(start));
        line.chars().count() > 100 && !literal
    };
    same("lines over 100 columns", Vec::<&str>::new(), ran.stdout.lines().filter(long).collect())
}

fn denial() -> Result<(), String> {
    for format in ["patch", "diff", "yaml"] {
        let ran =
            review(&scratch()?, &["-o", format, "--severity", "warning", "--rule", "FAB816", "all.yaml"])?;
        same("exit code", 1, ran.code)?;
        same(format, 2, ran.stderr.matches("denied: all.yaml:").count())?;
        same("the finding", 2, ran.stderr.matches("  error FAB301 ").count())?;
        same("its fix", 2, ran.stderr.matches("      fix Set deviceType: netdevice.").count())?;
    }
    Ok(())
}

fn several() -> Result<(), String> {
    let scratch = scratch()?;
    let ran = review(&scratch, &["-o", "json=out.json", "-o", "text", "-o", "diff=out.diff", "all.yaml"])?;
    same("exit code", 1, ran.code)?;
    same("text", review(&scratch, &["all.yaml"])?.stdout, ran.stdout)?;
    same("stderr", "", ran.stderr.as_str())?;
    let written = |name: &str| std::fs::read_to_string(scratch.path().join(name)).map_err(|e| e.to_string());
    same("json", review(&scratch, &["-o", "json", "all.yaml"])?.stdout, written("out.json")?)?;
    same("diff", review(&scratch, &["-o", "diff", "all.yaml"])?.stdout, written("out.diff")?)?;
    for (args, words) in [
        (&["-o", "json", "-o", "text"][..], "only one format can go to standard output"),
        (&["-o", "json=a", "-o", "text=a"], "several formats have the file a"),
        (&["-o", "json="], "expected json=FILE"),
        (&["-o", "jsn"], "did you mean \"json\"?"),
        (&["-o", "json=no/such/directory"], "no/such/directory: No such file"),
    ] {
        let ran = review(&scratch, &[args, &["all.yaml"]].concat())?;
        same(&format!("exit code of {args:?}"), 2, ran.code)?;
        same(&format!("{words:?} in {}", ran.stderr), true, ran.stderr.contains(words))?;
    }
    Ok(())
}

fn partial() -> Result<(), String> {
    let scratch = scratch()?;
    for (format, mark) in [
        ("text", "; partial result: 1 input unreadable"),
        ("json", "\"partial\":true"),
        ("yaml", "---\n# partial result: 1 input unreadable\n"),
        ("diff", "# partial result: 1 input unreadable\n"),
        ("patch", "{\"partial\":true,\"unreadable\":1,\"patch\":[]}\n"),
    ] {
        let ran = |inputs: &[&str]| review(&scratch, &[&["-o", format], inputs].concat());
        let broken = ran(&["all.yaml", "broken.yaml"])?;
        same("exit code", 2, broken.code)?;
        same(format, true, broken.stdout.contains(mark))?;
        same(&format!("{format} of a whole result"), false, ran(&["all.yaml"])?.stdout.contains(mark))?;
    }
    let patch = review(&scratch, &["-o", "patch", "all.yaml", "broken.yaml"])?;
    same("patch", true, patch.stderr.contains("warning: partial result: 1 input unreadable"))?;
    for line in patch.stdout.lines() {
        let line: Value = serde_json::from_str(line).map_err(|e| format!("{e}: {line}"))?;
        same(&format!("a list of operations in {line}"), true, line["patch"].is_array())?;
    }
    // In a file nobody sees stderr.
    let written = review(&scratch, &["-o", "text", "-o", "patch=out.jsonl", "all.yaml", "broken.yaml"])?;
    same("exit code with a file", 2, written.code)?;
    let file = crate::support::read(&scratch.path().join("out.jsonl"))?;
    same("the mark in a file", true, file.contains("{\"partial\":true"))
}
