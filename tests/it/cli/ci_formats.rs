//! The formats for CI: what GitHub, GitLab and readers of JUnit ask of them, and their limits.

use crate::cli::published_schemas::validate;
use crate::support::round_trip::same;
use crate::support::suite::{Need, Suite};
use crate::support::{Ran, Scratch, run};
use serde_json::Value;
use std::collections::BTreeSet;

fn policy(name: &str) -> String {
    format!(
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {{name: {name}, namespace: \
         sriov-network-operator}}\nspec:\n  resourceName: rails\n  numVfs: 8\n  priority: 99\n  nodeSelector: {{pool: \
         {name}}}\n  nicSelector: {{pfNames: [ens1f0np0]}}\n  deviceType: vfio-pci\n  isRdma: true\n"
    )
}

fn container(name: &str) -> String {
    format!(
        "  - name: {name}\n    image: i\n    env: [{{name: NCCL_IB_HCAS, value: mlx5}}]\n    resources: {{limits: \
         {{nvidia.com/gpu: 1}}}}\n"
    )
}

/// A pod with two containers whose variables are misspelt.
fn pod(order: [&str; 2]) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: \"<p>\"}}\nspec:\n  containers:\n{}{}",
        container(order[0]),
        container(order[1])
    )
}

fn scratch() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    std::fs::create_dir(scratch.path().join(".git")).map_err(|e| e.to_string())?;
    scratch.write("deploy/a:b, c.yaml", format!("{}---\n{}", policy("a"), pod(["a", "b"])))?;
    scratch.write("deploy/broken.yaml", "kind: [\n")?;
    Ok(scratch)
}

fn review(scratch: &Scratch, format: &str, inputs: &[&str]) -> Result<Ran, String> {
    run(&[&["review", "-o", format], inputs].concat(), b"", &scratch.path().join("deploy"))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("{e}: {text}"))
}

const FILE: &str = "a:b, c.yaml";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("ci_formats::names_begin_no_line_of_a_log", || Ok(names_begin_no_line()?));
    suite.add("ci_formats::sarif_has_what_github_asks", || Ok(sarif()?));
    suite.add("ci_formats::sarif_keeps_within_githubs_limits", || Ok(many_results()?));
    suite.add("ci_formats::fingerprints_survive_moved_lines", || Ok(fingerprints()?));
    suite.add("ci_formats::junit_has_its_text_in_the_content", || Ok(junit()?));
    suite.add("ci_formats::github_shows_ten_of_each_level", || Ok(github()?));
    suite.add("ci_formats::names_of_files_start_no_command", || Ok(names()?));
    suite.add("ci_formats::what_fails_the_command_is_shown", || Ok(failing()?));
    suite.add("ci_formats::gitlab_has_one_entry_for_each_finding", || Ok(gitlab()?));
    suite.add("ci_formats::partial_results_are_marked", || Ok(partial()?));
    if let Some(schema) = suite.need(Need::Sarif, "ci_formats::sarif_fits_its_schema") {
        suite.add("ci_formats::sarif_fits_its_schema", move || {
            let schema = json(&crate::support::read(&schema)?)?;
            let scratch = scratch()?;
            for inputs in [&[FILE][..], &[FILE, "broken.yaml"], &["broken.yaml"]] {
                validate(&json(&review(&scratch, "sarif", inputs)?.stdout)?, &schema, &schema, "")?;
            }
            Ok(())
        });
    }
}

fn no_empty_text(value: &Value, at: &str) -> Result<(), String> {
    match value {
        Value::String(text) if text.is_empty() => Err(format!("{at} is empty")),
        Value::Array(items) => items.iter().try_for_each(|item| no_empty_text(item, at)),
        Value::Object(map) => {
            map.iter().try_for_each(|(key, value)| no_empty_text(value, &format!("{at}/{key}")))
        }
        _ => Ok(()),
    }
}

fn sarif() -> Result<(), String> {
    let ran = review(&scratch()?, "sarif", &[FILE])?;
    same("exit code", 1, ran.code)?;
    let sarif = json(&ran.stdout)?;
    no_empty_text(&sarif, "")?;
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().cloned().unwrap_or_default();
    let first = &results[0];
    same(
        "the most severe first",
        (Some("FAB301"), Some("error")),
        (first["ruleId"].as_str(), first["level"].as_str()),
    )?;
    let place = &first["locations"][0]["physicalLocation"];
    same(
        "the path from the root of the repository",
        Some("deploy/a%3Ab%2C%20c.yaml"),
        place["artifactLocation"]["uri"].as_str(),
    )?;
    let region =
        ["startLine", "startColumn", "endLine", "endColumn"].map(|key| place["region"][key].as_u64());
    same("the region", [Some(10), Some(3), Some(10), Some(13)], region)?;
    same("GitHub's fingerprint", true, first["partialFingerprints"]["primaryLocationLineHash"].is_string())?;
    let rules = run["tool"]["driver"]["rules"].as_array().cloned().unwrap_or_default();
    let known: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    let named: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    same("rules", named, known)?;
    for rule in &rules {
        for key in ["shortDescription", "fullDescription", "help"] {
            let length = rule[key]["text"].as_str().map(|text| text.chars().count());
            same(
                &format!("{key} of {}", rule["id"]),
                true,
                length.is_some_and(|n| n > 0 && (key == "help" || n <= 1024)),
            )?;
        }
    }
    same("success", Some(true), run["invocations"][0]["executionSuccessful"].as_bool())
}

/// Above the limit the errors stay.
fn many_results() -> Result<(), String> {
    let scratch = scratch()?;
    let containers: String = (0..50).map(|n| container(&format!("c{n}"))).collect();
    let items: Vec<String> = (0..520)
        .map(|n| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec:\n  containers:\n{containers}"
            )
        })
        .collect();
    scratch.write("deploy/many.yaml", format!("{}---\n{}", items.concat(), policy("z")))?;
    let sarif = json(&review(&scratch, "sarif", &["many.yaml"])?.stdout)?;
    let results = sarif["runs"][0]["results"].as_array().cloned().unwrap_or_default();
    same("results", 25_000, results.len())?;
    same("the error", Some("error"), results[0]["level"].as_str())?;
    let notes = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    same(
        "the note",
        true,
        notes[0]["message"]["text"].as_str().is_some_and(|text| text.contains("are left out")),
    )
}

fn prints(scratch: &Scratch) -> Result<Vec<String>, String> {
    let gitlab = json(&review(scratch, "gitlab", &[FILE])?.stdout)?;
    let mut prints: Vec<String> = gitlab
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|e| Some(format!("{} {}", e["check_name"], e["fingerprint"].as_str()?)))
        .collect();
    prints.sort();
    Ok(prints)
}

/// The fingerprints that GitHub uses.
fn sarif_prints(scratch: &Scratch) -> Result<Vec<String>, String> {
    let sarif = json(&review(scratch, "sarif", &[FILE])?.stdout)?;
    let results = sarif["runs"][0]["results"].as_array().cloned().unwrap_or_default();
    let print = |result: &Value| {
        let print = result["partialFingerprints"]["primaryLocationLineHash"].as_str();
        print.map(|print| format!("{} {print}", result["ruleId"])).ok_or(format!("no fingerprint: {result}"))
    };
    let mut prints = results.iter().map(print).collect::<Result<Vec<_>, _>>()?;
    prints.sort();
    Ok(prints)
}

fn fingerprints() -> Result<(), String> {
    moved_and_other(prints)?;
    moved_and_other(sarif_prints)
}

fn moved_and_other(prints: fn(&Scratch) -> Result<Vec<String>, String>) -> Result<(), String> {
    let scratch = scratch()?;
    let before = prints(&scratch)?;
    same("fingerprints", true, before.len() > 1)?;
    same("unique", before.len(), before.iter().collect::<BTreeSet<_>>().len())?;
    // Lines before, and list items in another order.
    let moved = format!("# a comment\n\n{}---\n{}", policy("a"), pod(["b", "a"]));
    scratch.write("deploy/a:b, c.yaml", moved)?;
    same("after the move", &before, &prints(&scratch)?)?;
    scratch.write("deploy/a:b, c.yaml", format!("{}---\n{}", policy("other"), pod(["a", "b"])))?;
    let other = prints(&scratch)?;
    let new = other.iter().filter(|print| !before.contains(print));
    same(
        "of another object",
        true,
        new.clone().count() > 0 && new.clone().all(|print| print.contains("FAB3")),
    )
}

fn junit() -> Result<(), String> {
    let text = review(&scratch()?, "junit", &[FILE])?.stdout;
    for words in [
        "<testsuite name=\"deploy/a:b, c.yaml\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">",
        "<testcase classname=\"deploy/a:b, c.yaml\" name=\"Pod default/&lt;p&gt;\"",
        "type=\"finding\">error FAB301 deploy/a:b, c.yaml:10:3 deviceType is vfio-pci",
        "Fix: Set deviceType: netdevice.",
        "<system-out>warning ",
    ] {
        same(&format!("{words} in {text}"), true, text.contains(words))?;
    }
    let strict = run(
        &["review", "-o", "junit", "--fail-on", "warning", FILE],
        b"",
        &scratch()?.path().join("deploy"),
    )?;
    same("failures with --fail-on warning", true, strict.stdout.contains("failures=\"2\""))
}

fn github() -> Result<(), String> {
    let scratch = scratch()?;
    let text = review(&scratch, "github", &[FILE])?.stdout;
    let first = text.lines().next().unwrap_or_default();
    let start = "::error file=deploy/a%3Ab%2C c.yaml,line=10,endLine=10,col=3,endColumn=13,title=FAB301 ";
    same(first, true, first.starts_with(start) && first.contains("%0AFix: "))?;
    let many: String = (0..30).map(|n| format!("---\n{}", policy(&format!("p{n}")))).collect();
    scratch.write("deploy/many.yaml", many)?;
    let text = review(&scratch, "github", &["many.yaml"])?.stdout;
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("::error ")).collect();
    same("errors", 10, errors.len())?;
    same(
        "the last one",
        Some("::error title=fabric-admission::21 errors more; the log of this step has all of them"),
        errors.last().copied(),
    )?;
    same("all of them", 30, text.matches("FAB301").count())
}

/// A change of others may bring a file with any name, and the runner obeys every line of a log.
fn names() -> Result<(), String> {
    let scratch = scratch()?;
    let many: String = (0..30).map(|n| format!("---\n{}", policy(&format!("p{n}")))).collect();
    for name in ["m\n::add-mask::x.yaml", "m\r::add-mask::x.yaml", "##[add-mask]x.yaml"] {
        scratch.write(&format!("deploy/{name}"), &many)?;
        scratch.write(&format!("deploy/broken {name}"), "kind: [\n")?;
        let ran = review(&scratch, "github", &[name, &format!("broken {name}")])?;
        same("exit code", 2, ran.code)?;
        for line in ran.stdout.split(['\n', '\r']).chain(ran.stderr.split(['\n', '\r'])) {
            let line = line.trim_start();
            let known = ["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start));
            let plain = !line.starts_with("::") && !line.contains("##[");
            same(&format!("{name:?}: {line:?} is plain text or the expected command"), true, known || plain)?;
        }
        same("all of them", 30, ran.stdout.matches("FAB301").count())?;
    }
    Ok(())
}

/// Filters do not change the exit code, so the report must have its reason.
fn failing() -> Result<(), String> {
    let scratch = scratch()?;
    let directory = scratch.path().join("deploy");
    scratch.write(
        "deploy/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, \
                   resources: {limits: {nvidia.com/gpu: 1}}}]}\n",
    )?;
    for flags in [
        &["--fail-on", "info", "pod.yaml"][..],
        &["--rule", "FAB412", FILE],
        &["--fail-on", "warning", "--severity", "error", "pod.yaml", FILE],
    ] {
        let of = |format: &str| run(&[&["review", "-o", format], flags].concat(), b"", &directory);
        let junit = of("junit")?;
        same(&format!("{flags:?}"), 1, junit.code)?;
        same(&format!("{flags:?} in {}", junit.stdout), true, junit.stdout.contains("<failure"))?;
        let sarif = json(&of("sarif")?.stdout)?;
        let results = sarif["runs"][0]["results"].as_array().map(Vec::len);
        same(&format!("{flags:?}: results"), true, results > Some(0))?;
    }
    let text = run(&["review", "--rule", "FAB412", FILE], b"", &directory)?.stdout;
    same("text is filtered", false, text.contains("error FAB301"))
}

fn gitlab() -> Result<(), String> {
    let gitlab = json(&review(&scratch()?, "gitlab", &[FILE])?.stdout)?;
    let entries = gitlab.as_array().cloned().unwrap_or_default();
    for entry in &entries {
        let path = entry["location"]["path"].as_str();
        same("path", Some("deploy/a:b, c.yaml"), path)?;
        same("line", true, entry["location"]["lines"]["begin"].as_u64().is_some_and(|line| line > 0))?;
        same(
            "severity",
            true,
            ["info", "minor", "critical"].contains(&entry["severity"].as_str().unwrap_or_default()),
        )?;
    }
    let errors =
        entries.iter().filter(|entry| entry["check_name"] == "FAB301" && entry["severity"] == "critical");
    same("errors", 1, errors.count())
}

fn partial() -> Result<(), String> {
    let scratch = scratch()?;
    for (format, mark) in [
        ("sarif", "\"executionSuccessful\":false"),
        ("sarif", "The result is partial: 1 error of unreadable inputs"),
        ("junit", "<testsuite name=\"unreadable inputs\" tests=\"1\" failures=\"0\" errors=\"1\""),
        ("github", "::error file=deploy/broken.yaml,line=2,col=1::the input could not be read"),
        ("gitlab", "\"check_name\":\"unreadable-input\""),
    ] {
        let broken = review(&scratch, format, &[FILE, "broken.yaml"])?;
        same("exit code", 2, broken.code)?;
        same(&format!("{format}: {}", broken.stdout), true, broken.stdout.contains(mark))?;
        same(
            &format!("{format} of a whole result"),
            false,
            review(&scratch, format, &[FILE])?.stdout.contains(mark),
        )?;
    }
    Ok(())
}

/// A runner looks for commands at the start of each line of stdout and stderr, and a terminal takes orders from escapes.
fn names_begin_no_line() -> Result<(), String> {
    const EVIL: &str = "\u{1b}[31mx\n::error::injected\u{9b}\u{202e}##[error]";
    let scratch = Scratch::new()?;
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": EVIL, "namespace": EVIL, "annotations": {"fabric-admission.dev/profile": EVIL}},
        "spec": {"containers": [{"name": EVIL, "image": EVIL, "env": [{"name": EVIL, "value": EVIL}],
            "resources": {"limits": {"nvidia.com/gpu": 8, EVIL: EVIL}, "requests": {"nvidia.com/gpu": 4}}}]}});
    let node = serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": EVIL, "labels": {EVIL: EVIL}},
        "status": {"allocatable": {"nvidia.com/gpu": "8", format!("rdma/{EVIL}"): "8"}}});
    let policy = serde_json::json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": EVIL, "namespace": EVIL}, "spec": {"resourceName": EVIL, EVIL: EVIL}});
    let profile = serde_json::json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": EVIL}, "spec": {"base": "roce-sriov"}});
    let own = serde_json::json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "own"}, "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"a": "b"}}}});
    let broken = serde_json::json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": EVIL}, "spec": {EVIL: EVIL}});
    let unreadable = serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {EVIL: []}}});
    let good = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
    for objects in
        [vec![&pod, &node, &policy, &unreadable], vec![&profile, &own, &good], vec![&broken, &good]]
    {
        let text: Vec<String> = objects.iter().map(ToString::to_string).collect();
        let file = format!("in/{EVIL}.yaml");
        scratch.write(&file, text.join("\n---\n"))?;
        let mut commands = vec![
            "why in",
            "audit --cluster in",
            "discover --cluster in",
            "discover --diff --cluster in",
            "profiles list --cluster in",
            "profiles validate in",
            "profiles show none --profiles in",
            "profiles show own --profiles in",
            "profiles show own --cluster in --used-by",
            "profiles test in",
            "profiles test in -o junit",
            "profiles test in -o github",
            "review in --profiles in",
        ];
        let formats = ["text", "json", "yaml", "patch", "diff", "sarif", "junit", "github", "gitlab"];
        let reviews: Vec<String> =
            formats.iter().map(|format| format!("review in --profile roce-sriov -o {format}")).collect();
        commands.extend(reviews.iter().map(String::as_str));
        for command in commands {
            let arguments: Vec<&str> = command.split(' ').collect();
            let ran = run(&arguments, b"", scratch.path())?;
            for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
                let wrong = text.lines().find(|line| line.starts_with("::error::injected"));
                same(&format!("{stream} of {command}: {text}"), None, wrong)?;
                same(&format!("escapes in {stream} of {command}"), false, text.contains('\u{1b}'))?;
                // Programs read the others, and a YAML text may be the one of the file.
                let is_data = stream == "stdout"
                    && ["json", "yaml", "patch", "sarif", "gitlab"].contains(&arguments[arguments.len() - 1]);
                if is_data {
                    continue;
                }
                let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
                // The runner looks for `##[` in lines that are not commands already.
                let is_command = |line: &str| {
                    ["error", "warning", "notice"]
                        .iter()
                        .any(|level| line.starts_with(&format!("::{level} file=in/")))
                };
                let wrong = text
                    .lines()
                    .find(|line| line.contains(hidden) || line.contains("##[") && !is_command(line));
                same(&format!("{stream} of {command}: {text}"), None, wrong)?;
            }
        }
    }
    Ok(())
}
