//! Input that cannot be read: where, why, and the result for the other inputs.

use crate::support::round_trip::{Review, review, same};
use crate::support::suite::Suite;
use crate::support::{Ran, Scratch, root, run};
use serde_json::json;
use std::path::Path;

const GOOD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: good}\nspec:\n  containers:\n  - name: c\n    \
                    image: i\n    resources: {limits: {nvidia.com/gpu: 1}}\n";

/// Name, content, place of the error, words of the message.
const BROKEN: &[(&str, &str, (u64, u64), &str)] = &[
    (
        "yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n   image: x\n",
        (6, 4),
        "while parsing a block mapping",
    ),
    ("tab", "kind: Pod\nmetadata:\n\tname: a\n", (3, 1), "tab"),
    ("unclosed_quote", "kind: Pod\nmetadata: {name: \"a}\n", (2, 18), "quot"),
    (
        "helm_template",
        "kind: Pod\nmetadata:\n  name: a\n{{- if .Values.rdma }}\n  labels: {a: b}\n{{- end }}\n",
        (4, 1),
        "Helm",
    ),
    ("helm_value", "kind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", (3, 9), "Helm"),
    (
        "merge_conflict",
        "kind: Pod\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> main\n",
        (2, 1),
        "merge conflict",
    ),
    (
        "list_for_text",
        "kind: Pod\nspec:\n  containers:\n  - env:\n    - {name: A, value: [1]}\n",
        (5, 17),
        "/value",
    ),
    (
        "list_for_map",
        "kind: Pod\nmetadata:\n  name: a\n  annotations: [a]\n",
        (4, 3),
        "/metadata/annotations",
    ),
    ("text_for_metadata", "kind: Pod\nmetadata: text\n", (2, 1), "/metadata"),
    ("number_for_kind", "apiVersion: v1\nkind: 7\n", (2, 1), "/kind"),
    ("a_list", "- kind: Pod\n", (1, 1), "mapping"),
    ("a_word", "hello\n", (1, 1), "mapping"),
    ("json", "{\"kind\": \"Pod\" \"spec\": {}}", (1, 16), "`,`"),
    ("unknown_alias", "kind: Pod\nmetadata: *nothing\n", (2, 11), "nothing"),
    ("text_after_the_separator", "kind: Pod\n--- kind: Pod\n", (2, 5), "separator"),
    ("line_after_the_comment_of_a_separator", "--- # a\rkind: Pod\rspec: {}\n", (1, 8), "U+000D"),
    ("next_line_after_the_comment_of_a_separator", "a: 1\n---\n--- # \u{85}kind: Pod\n", (3, 7), "U+0085"),
    ("text_that_only_looks_like_a_separator", "---#a: '\nx: '\nkind: Pod\n", (1, 4), "separator"),
];

pub(crate) fn add(suite: &mut Suite) {
    suite.add("bad_input::long_cni_configurations_are_not_judged", || Ok(long_cni_configurations()?));
    suite.add("bad_input::pod_templates_too_deep_are_an_error", || Ok(too_deep()?));
    suite.add("bad_input::why_escapes_names_of_files", || Ok(names_in_why()?));
    for (name, content, place, words) in BROKEN {
        suite.add(format!("bad_input::{name}"), move || Ok(broken(content.as_bytes(), *place, words)?));
    }
    suite
        .add("bad_input::not_utf8", || Ok(broken(b"kind: Pod\nmetadata: {name: \xff}\n", (2, 18), "UTF-8")?));
    suite.add("bad_input::utf16", || Ok(broken(b"\xff\xfek\0i\0n\0d\0", (1, 1), "UTF-16")?));
    suite.add("bad_input::alias_bomb", || Ok(broken(bomb().as_bytes(), (1, 5), "alias")?));
    suite.add("bad_input::work_far_beyond_the_size_of_the_input", || Ok(too_much_work()?));
    suite.add("bad_input::more_empty_objects_than_real_ones_fit", || Ok(too_many_empty_objects()?));
    suite.add("bad_input::changes_far_longer_than_the_pods", || Ok(too_long_changes()?));
    suite.add("bad_input::work_far_beyond_the_size_of_an_audited_file", || Ok(too_much_work_of_an_audit()?));
    suite.add("bad_input::deep_flow", || {
        let deep = format!("kind: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
        Ok(broken(deep.as_bytes(), (1, 106), "100 levels")?)
    });
    suite.add("bad_input::deep_blocks", || {
        let deep: String = (0..2000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        Ok(broken(deep.as_bytes(), (101, 101), "100 levels")?)
    });
    suite.add("bad_input::deep_json", || {
        let deep = format!("{}{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
        Ok(broken(deep.as_bytes(), (1, 501), "100 levels")?)
    });
    for (name, content, reason, documents) in [
        ("only_comments", "# one\n---\n# two\n", "only comments", 0),
        ("no_kind", "apiVersion: v1\nname: values\n", "no kind", 1),
        ("empty_kind", "apiVersion: v1\nkind: \"\"\n", "no kind", 1),
        ("unknown_kind", "apiVersion: a.io/v1\nkind: Thing\n", "no rule", 1),
    ] {
        suite.add(format!("bad_input::skipped::{name}"), move || Ok(skipped(content, reason, documents)?));
    }
    suite.add("bad_input::skipped::empty_file", || {
        let (_scratch, review) = with_good(b"")?;
        same("exit code", 0, review.ran.code)?;
        Ok(same("reason", Some("empty file"), review.list("skipped")[0]["reason"].as_str())?)
    });
    suite.add("bad_input::duplicate_keys_are_findings_in_every_format", || Ok(duplicates()?));
    suite.add("bad_input::duplicate_keys_belong_to_their_own_item", || Ok(duplicates_of_items()?));
    suite.add("bad_input::duplicate_keys_of_one_object_are_limited", || Ok(many_duplicates()?));
    suite.add("bad_input::scalars_of_a_wrong_type_do_not_end_the_review", || Ok(wrong_types()?));
    suite.add("bad_input::empty_standard_input", || Ok(empty()?));
    suite.add("bad_input::unreadable_inputs_are_counted", || Ok(inputs_not_errors()?));
    suite.add("bad_input::helm_and_mustache_are_distinguished", || Ok(templates()?));
    suite.add("bad_input::missing_file", || {
        let review = beside("no such file or directory", &["missing.yaml"])?;
        Ok(same("file", Some("missing.yaml"), review.list("errors")[0]["file"].as_str())?)
    });
    suite.add("bad_input::directory_without_manifests", || {
        beside("no manifests", &["empty"])?;
        Ok(())
    });
    suite.add("bad_input::one_of_three_documents", || Ok(one_of_three()?));
}

/// Nine lists of nine lists of …: 9^9 nodes.
fn bomb() -> String {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for n in 1..10 {
        let inner = vec![format!("*a{}", n - 1); 9].join(",");
        text.push_str(&format!("a{n}: &a{n} [{inner}]\n"));
    }
    text
}

fn with_good(content: &[u8]) -> Result<(Scratch, Review), String> {
    let scratch = Scratch::new()?;
    scratch.write("a/bad.yaml", content)?;
    scratch.write("a/good.yaml", GOOD)?;
    let review = review(&["a".to_owned()], b"", scratch.path())?;
    Ok((scratch, review))
}

fn too_much_work() -> Result<(), String> {
    let text = policies_compared_with_each_other();
    let ran = run(&["review", "--no-config", "-o", "json", "-"], text.as_bytes(), root())?;
    let report = report_with_error_about_work(&ran)?;
    // What was reviewed before is reported.
    let results = report["results"].as_array().map_or(0, Vec::len);
    if (10..4000).contains(&results) { Ok(()) } else { Err(format!("{results} results")) }
}

/// Objects without content: a list of 2 MB used a gigabyte of memory.
fn too_many_empty_objects() -> Result<(), String> {
    let text = format!("apiVersion: v1\nkind: PodList\nitems: [{}]\n", "{},".repeat(40_000));
    let ran = run(&["review", "--no-config", "-o", "json", "-"], text.as_bytes(), root())?;
    let report = report_with_error_about_work(&ran)?;
    let results = report["results"].as_array().map_or(0, Vec::len);
    if (10_000..25_000).contains(&results) { Ok(()) } else { Err(format!("{results} results")) }
}

/// A profile with long variables for many short pods: 1 MB of input used 5.9 GB of memory.
fn too_long_changes() -> Result<(), String> {
    let variables: String = (0..32)
        .map(|number| {
            format!("    - {{name: NCCL_X{number}, value: {}, reason: r, source: s}}\n", "x".repeat(4_000))
        })
        .collect();
    let pod = "- {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}\n";
    let text = format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: long}}\nspec:\n  base: roce-sriov\n  \
         env:\n{variables}---\napiVersion: v1\nkind: PodList\nitems:\n{}",
        pod.repeat(700)
    );
    let args = ["review", "--no-config", "--profile", "long", "-o", "json", "-"];
    let report = report_with_error_about_work(&run(&args, text.as_bytes(), root())?)?;
    let results = report["results"].as_array().map_or(0, Vec::len);
    if (250..600).contains(&results) { Ok(()) } else { Err(format!("{results} results")) }
}

/// The audit too ends there, and shows the results so far.
fn too_much_work_of_an_audit() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("dump.yaml", policies_compared_with_each_other())?;
    let ran = run(&["audit", "--cluster", "dump.yaml", "-o", "json"], b"", scratch.path())?;
    let report = report_with_error_about_work(&ran)?;
    let objects = report["workloads"].as_array().map_or(0, Vec::len);
    if (10..360).contains(&objects) { Ok(()) } else { Err(format!("{objects} objects")) }
}

/// Hundreds of policies that are compared with each other, one of them named thousands of times: 72 kB took six seconds.
fn policies_compared_with_each_other() -> String {
    let policy = "{apiVersion: sriovnetwork.openshift.io/v1,kind: SriovNetworkNodePolicy,metadata: {name: a,namespace: o},\
                  spec: {resourceName: r,numVfs: 8,isRdma: true,nodeSelector: {a: b},nicSelector: {pfNames: [x]}}}";
    let others: Vec<String> =
        (0..350).map(|n| format!("- {{<<: *p,metadata: {{name: a{n},namespace: o}}}}\n")).collect();
    format!(
        "apiVersion: v1\nkind: List\nitems:\n- &p {policy}\n{}- {{kind: List,items: [{}]}}\n",
        others.concat(),
        "*p,".repeat(4000)
    )
}

fn report_with_error_about_work(ran: &Ran) -> Result<serde_json::Value, String> {
    same("exit code", 2, ran.code)?;
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
    let [error] = report["errors"].as_array().map(Vec::as_slice).unwrap_or_default() else {
        return Err(format!("expected one error: {}", report["errors"]));
    };
    let message = error["message"].as_str().unwrap_or_default();
    if !message.contains("far more work than their size explains") {
        return Err(format!("unexpected message {message:?}"));
    }
    match ran.stderr.contains(message) {
        true => Ok(report),
        false => Err(format!("standard error lacks the message: {}", ran.stderr)),
    }
}

/// The good file beside it is reviewed, and both ways of telling name the place.
fn broken(content: &[u8], (line, column): (u64, u64), words: &str) -> Result<(), String> {
    let (_scratch, review) = with_good(content)?;
    same("exit code", 2, review.ran.code)?;
    let [error] = review.list("errors") else {
        return Err(format!("expected one error: {}", review.json["errors"]));
    };
    let place = (error["line"].as_u64(), error["column"].as_u64());
    same(&format!("place of {error}"), (Some(line), Some(column)), place)?;
    let message = error["message"].as_str().unwrap_or_default();
    if !message.contains(words) {
        return Err(format!("expected {words:?} in {message:?}"));
    }
    for leak in ["struct ", "Error(", "called `", "panicked", "\u{1b}"] {
        if message.contains(leak) || review.ran.stderr.contains(leak) {
            return Err(format!("{leak:?} in the message: {}", review.ran.stderr));
        }
    }
    let start = format!("error: a/bad.yaml:{line}:{column}: {message}");
    if !review.ran.stderr.lines().any(|l| l == start) {
        return Err(format!("expected on stderr {start:?}: {}", review.ran.stderr));
    }
    good_is_reviewed(&review)
}

fn good_is_reviewed(review: &Review) -> Result<(), String> {
    let names: Vec<Option<&str>> = review.results().iter().map(|r| r["name"].as_str()).collect();
    if names.contains(&Some("good")) {
        Ok(())
    } else {
        Err(format!("the good pod is not reviewed: {names:?}"))
    }
}

fn skipped(content: &str, reason: &str, documents: u64) -> Result<(), String> {
    let (_scratch, review) = with_good(content.as_bytes())?;
    same("exit code", 0, review.ran.code)?;
    same("documents", Some(documents + 1), review.json["summary"]["documents"].as_u64())?;
    good_is_reviewed(&review)?;
    let alone =
        crate::support::round_trip::review(&["-".to_owned()], content.as_bytes(), crate::support::root())?;
    for (review, file) in [(&review, "a/bad.yaml"), (&alone, "<stdin>")] {
        let [skipped] = review.list("skipped") else {
            return Err(format!("expected one skipped: {}", review.json["skipped"]));
        };
        same("file", Some(file), skipped["source"]["file"].as_str())?;
        if !skipped["reason"].as_str().is_some_and(|r| r.contains(reason)) {
            return Err(format!("expected {reason:?}: {skipped}"));
        }
    }
    same("exit code of stdin alone", 0, alone.ran.code)
}

/// Reports hold the finding; the other formats have it on stderr, with its rule.
fn duplicates() -> Result<(), String> {
    let content =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  key: a\n  other: b\n  key: c\n";
    let (scratch, review) = with_good(content.as_bytes())?;
    same("exit code", 0, review.ran.code)?;
    same("stderr", "", review.ran.stderr.as_str())?;
    let own = review.results().iter().find(|r| r["source"]["file"] == "a/bad.yaml").ok_or("no result")?;
    let found = &own["findings"][0];
    same("rule", Some("FAB902"), found["rule"].as_str())?;
    same("path", Some("/data/key"), found["path"].as_str())?;
    same("place", (Some(7), Some(3)), (found["line"].as_u64(), found["column"].as_u64()))?;
    for format in ["text", "yaml", "patch", "diff"] {
        let ran = run(&["review", "-o", format, "a/bad.yaml"], b"", scratch.path())?;
        let (holds, other) =
            if format == "text" { (&ran.stdout, &ran.stderr) } else { (&ran.stderr, &ran.stdout) };
        let named = |text: &str| text.contains("FAB902") && text.contains("7:3");
        same(&format!("-o {format} has it once"), (true, false), (named(holds), named(other)))?;
    }
    Ok(())
}

/// Twenty-one objects in a list: the tenth and later ones have a key twice, and `/items/1` is how their pointers begin.
fn duplicates_of_items() -> Result<(), String> {
    let item = |i: usize| {
        let twice = if i < 10 { "" } else { "\"name\": \"a\", " };
        format!(r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{{twice}"name": "c{i}"}}}}"#)
    };
    let items: Vec<String> = (0..21).map(item).collect();
    let content = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{}]}}"#, items.join(",\n"));
    let (_scratch, review) = with_good(content.as_bytes())?;
    let found = review.results().iter().filter(|r| r["source"]["file"] == "a/bad.yaml").map(|r| {
        let paths: Vec<&str> =
            r["findings"].as_array().into_iter().flatten().filter_map(|f| f["path"].as_str()).collect();
        (r["name"].as_str().unwrap_or_default().to_owned(), paths)
    });
    let expected: Vec<_> = (10..21).map(|i| (format!("c{i}"), vec!["/metadata/name"])).collect();
    same("items with their keys", expected, found.collect())
}

/// The last of fifty findings has the number of the others.
fn many_duplicates() -> Result<(), String> {
    for (keys, expected) in [(50, vec![0; 50]), (53, [vec![0; 49], vec![3]].concat())] {
        let labels: String = (0..keys).map(|i| format!("    l{i}: \"1\"\n    l{i}: \"2\"\n")).collect();
        let metadata = format!("metadata:\n  name: twice\n  labels:\n{labels}");
        let content = GOOD.replacen("metadata: {name: good}\n", &metadata, 1);
        let (_scratch, review) = with_good(content.as_bytes())?;
        let own = review.results().iter().find(|r| r["source"]["file"] == "a/bad.yaml").ok_or("no result")?;
        let twice = own["findings"].as_array().into_iter().flatten().filter(|f| f["rule"] == "FAB902");
        let (paths, repeats): (Vec<_>, Vec<_>) = twice
            .map(|f| (f["path"].as_str().unwrap_or_default(), f["repeats"].as_u64().unwrap_or(99)))
            .unzip();
        same("repeats", expected, repeats)?;
        same("last path", Some("/metadata/labels/l49"), paths.last().copied())?;
        let rows = review.json["rules"].as_array().into_iter().flatten();
        let counted: Vec<_> = rows.filter(|r| r["rule"] == "FAB902").map(|r| r["count"].as_u64()).collect();
        same("count", vec![Some(keys)], counted)?;
    }
    Ok(())
}

/// All of them are reported, and the rest of the document is reviewed.
fn wrong_types() -> Result<(), String> {
    let content =
        GOOD.replace("    image: i\n", "    image: i\n    args: [8]\n    env: [{name: A, value: 1}]\n");
    let (_scratch, review) = with_good(content.as_bytes())?;
    same("exit code", 1, review.ran.code)?;
    same("errors", 0, review.list("errors").len())?;
    let own = review.results().iter().find(|r| r["source"]["file"] == "a/bad.yaml").ok_or("no result")?;
    let findings = own["findings"].as_array().cloned().unwrap_or_default();
    let paths: Vec<&str> =
        findings.iter().filter(|f| f["rule"] == "FAB901").filter_map(|f| f["path"].as_str()).collect();
    same("paths", vec!["/spec/containers/0/args/0", "/spec/containers/0/env/0/value"], paths)?;
    same("verdict", Some("deny"), own["verdict"].as_str())?;
    same("the rest", true, findings.iter().any(|f| f["rule"] == "FAB803"))
}

/// `helm template … | review -` whose first command fails does not pass.
fn empty() -> Result<(), String> {
    let at = |args: &[&str], stdin: &[u8]| run(&[&["review"][..], args].concat(), stdin, root());
    for stdin in [&b""[..], b" \n\n"] {
        let ran = at(&["-"], stdin)?;
        same("exit code", 2, ran.code)?;
        same("words on stderr", true, ran.stderr.contains("standard input is empty"))?;
        same("exit code with --allow-empty", 0, at(&["--allow-empty", "-"], stdin)?.code)?;
    }
    let scratch = Scratch::new()?;
    scratch.write("empty/notes.txt", "kind: Pod\n")?;
    let directory = scratch.path().join("empty").display().to_string();
    same("a directory", 2, at(&[&directory], b"")?.code)?;
    same("a directory with --allow-empty", 0, at(&["--allow-empty", &directory], b"")?.code)
}

/// One file with two errors is one input.
fn inputs_not_errors() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("a.yaml", "kind: [\n---\nkind: [\n")?;
    scratch.write("b.yaml", GOOD)?;
    let review = review(&["a.yaml".to_owned(), "b.yaml".to_owned()], b"", scratch.path())?;
    let summary = &review.json["summary"];
    same(
        "errors and inputs",
        (Some(2), Some(1)),
        (summary["errors"].as_u64(), summary["unreadable"].as_u64()),
    )?;
    let text = run(&["review", "a.yaml", "b.yaml"], b"", scratch.path())?;
    same(
        "the summary",
        true,
        text.stdout
            .trim_end()
            .ends_with("; partial result: 1 input unreadable; 1 note hidden (-v shows them)"),
    )
}

/// Each is named as what it is, once for a file.
fn templates() -> Result<(), String> {
    let helm = "kind: Pod\nmetadata: {{ include \"x\" . }}\n---\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n";
    let mustache =
        "kind: Pod\nmetadata:\n  name: {{ name }}\n---\nkind: Pod\nmetadata:\n  name: {{ other }}\n";
    for (content, words, other) in [(helm, "Helm", "Mustache"), (mustache, "Mustache", "Helm")] {
        let (_scratch, review) = with_good(content.as_bytes())?;
        same("exit code", 2, review.ran.code)?;
        let [error] = review.list("errors") else {
            return Err(format!("expected one error: {}", review.json["errors"]));
        };
        let message = error["message"].as_str().unwrap_or_default();
        if !message.contains(words) || message.contains(other) || !message.contains("1 more document") {
            return Err(format!("expected {words:?} and a count in {message:?}"));
        }
        good_is_reviewed(&review)?;
    }
    Ok(())
}

/// Something unreadable named beside a good file.
fn beside(words: &str, paths: &[&str]) -> Result<Review, String> {
    let scratch = Scratch::new()?;
    scratch.write("good.yaml", GOOD)?;
    scratch.write("empty/notes.txt", "kind: Pod\n")?;
    let args: Vec<String> = paths.iter().chain(&["good.yaml"]).map(|p| (*p).to_owned()).collect();
    let review = review(&args, b"", scratch.path())?;
    same("exit code", 2, review.ran.code)?;
    let errors = review.list("errors");
    same("errors", 1, errors.len())?;
    if !errors[0]["message"].as_str().is_some_and(|m| m.contains(words)) || !review.ran.stderr.contains(words)
    {
        return Err(format!("expected {words:?}: {} {}", errors[0], review.ran.stderr));
    }
    good_is_reviewed(&review)?;
    Ok(review)
}

fn one_of_three() -> Result<(), String> {
    let content = format!("{GOOD}---\nkind: [\n---\n{}", GOOD.replace("name: good", "name: last"));
    let (_scratch, review) = with_good(content.as_bytes())?;
    same("exit code", 2, review.ran.code)?;
    same("errors", 1, review.list("errors").len())?;
    let of_bad = review.results().iter().filter(|r| r["source"]["file"] == "a/bad.yaml");
    let seen: Vec<_> = of_bad.map(|r| (r["name"].as_str(), r["source"]["document"].as_u64())).collect();
    same("documents that are reviewed", vec![(Some("good"), Some(0)), (Some("last"), Some(2))], seen)
}

/// A name of a file must not move the cursor of a terminal, nor start a command of a CI system.
fn names_in_why() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let name = "a\u{1b}[31m\n::error::x.yaml";
    scratch.write(name, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: [1]\n")?;
    for command in ["why", "review"] {
        let ran = run(&[command, name], b"", scratch.path())?;
        same("exit code", 2, ran.code)?;
        let raw = ran.stderr.contains('\u{1b}') || ran.stderr.lines().any(|line| line.starts_with("::error"));
        same(&format!("{command}: {:?}", ran.stderr), false, raw)?;
    }
    Ok(())
}

/// Multus and the operators read configurations of any length, so nothing is said of those that are not read here.
fn long_cni_configurations() -> Result<(), String> {
    for (entries, code) in [(800, 1), (1_200, 0)] {
        let routes = vec![r#"{"dst":""}"#; entries / 2].join(",");
        let exclude = vec![r#""10.0.0.0/24""#; entries].join(",");
        // Each has a fault behind the list.
        let config =
            format!(r#"{{"type":"sriov","ipam":{{"type":"host-local","routes":[{routes}]}},"vlan":x}}"#);
        let ipam = format!(r#"{{"type":"whereabouts","exclude":[{exclude}],x}}"#);
        for object in [
            json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                "metadata": {"name": "a", "namespace": "b"}, "spec": {"config": config}}),
            json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetwork",
                "metadata": {"name": "a", "namespace": "b"}, "spec": {"resourceName": "r", "ipam": ipam}}),
            json!({"apiVersion": "mellanox.com/v1alpha1", "kind": "MacvlanNetwork",
                "metadata": {"name": "a"}, "spec": {"master": "eth1", "ipam": ipam}}),
        ] {
            let ran =
                run(&["review", "-", "--fail-on", "error"], object.to_string().as_bytes(), Path::new("."))?;
            same(&format!("{entries} {:.600} {}", ran.stdout, ran.stderr), code, ran.code)?;
        }
    }
    Ok(())
}

/// AppWrappers around each other, with a pod that no node can run: what is not reviewed must not look like a success.
fn too_deep() -> Result<(), String> {
    let pod = r#"{"spec":{"containers":[{"name":"a","image":"x","resources":{"requests":{"nvidia.com/gpu":8},"limits":{"nvidia.com/gpu":4}}}]}}"#;
    let job = format!(
        r#"{{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"j"}},"spec":{{"template":{pod}}}}}"#
    );
    let wrap = |inner: String| {
        format!(
            r#"{{"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","metadata":{{"name":"w"}},"spec":{{"components":[{{"template":{inner}}}]}}}}"#
        )
    };
    for (levels, code) in [(3, 1), (4, 2)] {
        let text = (0..levels).fold(job.clone(), |inner, _| wrap(inner));
        let ran = run(
            &["review", "-", "--fail-on", "error", "--profile", "roce-sriov"],
            text.as_bytes(),
            Path::new("."),
        )?;
        same(&format!("exit code of {levels} levels: {} {}", ran.stdout, ran.stderr), code, ran.code)?;
        let words = "is more than 16 levels deep, so its pod templates are not reviewed";
        same(&ran.stderr, code == 2, ran.stderr.contains(words))?;
    }
    // A text that is not searched again on each level around it.
    let long = (0..12).fold(format!(r#"{{"containers":1,"p":"{}"}}"#, "x".repeat(1_400_000)), |inner, _| {
        format!(r#"{{"a":{inner}}}"#)
    });
    let text = wrap(job).replacen("[{", &format!(r#"[{{"template":{long}}},{{"#), 1);
    let ran = run(&["review", "-", "--profile", "roce-sriov"], text.as_bytes(), Path::new("."))?;
    same(&format!("exit code behind a long text: {:.300} {}", ran.stdout, ran.stderr), 1, ran.code)
}
