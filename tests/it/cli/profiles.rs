//! `profiles list`, `show`, `validate` and `test`: golden runs, a profile written out means the same, and what `--update`
//! writes.

use crate::support::generated_world::bases;
use crate::support::many_profiles_and_nodes::{nodes_with_labels, profiles_for_all_nodes_but_one};
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, golden, names, read, root, run};
use fabric_admission::manifest::{DocumentOrError, read_documents_of_file as documents};
use fabric_admission::profile::{FabricProfile, Profile, write_out_all_defaults};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Each directory has `args` and the files that they name; `output.txt` is what the run prints.
fn directory() -> PathBuf {
    root().join("tests/profiles")
}

pub(crate) fn add(suite: &mut Suite) {
    for name in names(&directory()) {
        suite.add(format!("profiles::{name}"), move || Ok(kept(&directory().join(name))?));
    }
    suite.add("profiles::written_out_means_the_same", || Ok(written()?));
    suite.add("profiles::list_fits_its_schema", || {
        let ran = profiles(&["list", "--cluster", "list/cluster.yaml", "-o", "json"], &directory())?;
        let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| e.to_string())?;
        Ok(crate::cli::published_schemas::validate_profiles(&value)?)
    });
    suite.add("profiles::test_reads_the_cluster_once", once);
    suite.add("profiles::update_keeps_what_an_expectation_leaves_out", update);
    suite.add("profiles::update_changes_no_expectation_that_cannot_be_read", unreadable_update);
    suite.add("profiles::an_expectation_is_a_file_of_the_repository", links_of_expectations);
    suite.add("profiles::many_cases_with_facts_end_in_an_error", many_cases);
    suite.add("profiles::many_cases_beside_profiles_and_nodes_end_in_an_error", many_profiles);
    suite.add("profiles::long_expectations_take_time_by_their_length", long_expectations);
    suite.add("profiles::links_to_an_expectation_cost_as_much_as_it_does", linked_expectations);
    suite.add("profiles::a_case_sees_no_object_of_another", apart);
    suite.add("profiles::many_repeated_keys_are_counted", many_repeated_keys);
    suite.add("profiles::usage", usage);
    for name in names(&how_to()) {
        suite.add(format!("profiles::how_to::{name}"), move || Ok(page(&name)?));
    }
    suite.add("profiles::how_to_pages_link_to_what_exists", || Ok(links()?));
    suite.add("profiles::examples_hold", || {
        let ran = run(&examples(), b"", root())?;
        same("exit code", 0, ran.code)?;
        Ok(same("cases that fail", 0, ran.stdout.matches("FAILED").count())?)
    });
}

/// A cluster on standard input is there for every case: it can be read once only.
fn once() -> Outcome {
    let mut cluster = String::new();
    for name in names(&root().join("examples/profiles-tests/cluster")) {
        cluster += &format!("---\n{}", read(&root().join("examples/profiles-tests/cluster").join(name))?);
    }
    let mut args = examples();
    args[6] = "-";
    let ran = run(&args, cluster.as_bytes(), root())?;
    same(&format!("exit code: {}{}", ran.stdout, ran.stderr), 0, ran.code)?;
    Ok(())
}

/// The profiles and jobs of the pages in docs/how-to.
fn how_to() -> PathBuf {
    root().join("examples/how-to")
}

/// A fabric's profile and job have the expected result, and its page shows both, with the difference.
fn page(name: &str) -> Result<(), String> {
    let [at, profile, cluster] =
        ["", "/profile.yaml", "/cluster.yaml"].map(|file| format!("examples/how-to/{name}{file}"));
    let ran = run(&["profiles", "test", &at, "--profiles", &profile, "--cluster", &cluster], b"", root())?;
    same(&format!("{}{}", ran.stdout, ran.stderr), 0, ran.code)?;
    let list = run(&["profiles", "list", "--profiles", &profile, "--cluster", &cluster], b"", root())?;
    same(&list.stdout, true, list.stdout.ends_with(", no problems\n"))?;
    let page = read(&root().join(format!("docs/how-to/{name}.md")))?;
    let marks = [
        format!("<!-- file: {profile} -->"),
        format!("<!-- file: {at}/job.yaml -->"),
        format!("<!-- output: review -o diff --profiles {profile} --cluster {cluster} {at}/job.yaml -->"),
    ];
    same("marks that the page lacks", Vec::new(), marks.iter().filter(|mark| !page.contains(*mark)).collect())
}

/// Every link of these pages leads to a file of the repository, and every link to a rule to a rule.
fn links() -> Result<(), String> {
    let pages = names(&root().join("docs/how-to"));
    let mut wrong = Vec::new();
    for page in &pages {
        let text = read(&root().join("docs/how-to").join(page))?;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let exists = root().join("docs/how-to").join(file).exists();
            let rule = anchor.strip_prefix("fab").map(|number| format!("FAB{number}"));
            let known = |id: &String| fabric_admission::rules::find_rule(id).is_some();
            if !exists || !rule.as_ref().is_none_or(known) {
                wrong.push(format!("{page}: {link}"));
            }
        }
    }
    let index = read(&root().join("docs/how-to/README.md"))?;
    wrong.extend(
        pages.iter().filter(|page| *page != "README.md" && !index.contains(&format!("]({page})"))).cloned(),
    );
    if wrong.is_empty() && pages.len() > 12 { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The command of the page about profile commands.
fn examples() -> [&'static str; 7] {
    let (profiles, cluster) = ("examples/profiles-tests/profiles", "examples/profiles-tests/cluster");
    ["profiles", "test", "examples/profiles-tests/cases", "--profiles", profiles, "--cluster", cluster]
}

fn profiles(args: &[&str], directory: &Path) -> Result<Ran, String> {
    run(&[&["profiles"], args].concat(), b"", directory)
}

fn kept(directory: &Path) -> Result<(), String> {
    let args = read(&directory.join("args"))?;
    let args: Vec<&str> = args.split_whitespace().collect();
    let ran = profiles(&args, directory)?;
    let stderr = if ran.stderr.is_empty() { String::new() } else { format!("\nstderr:\n{}", ran.stderr) };
    golden(&directory.join("output.txt"), Some(&format!("exit {}\n{}{stderr}", ran.code, ran.stdout)))
}

/// Every profile of the repository, written out and read again.
fn written() -> Result<(), String> {
    let mut checked = 0;
    for place in [
        "policies",
        "examples/profiles",
        "examples/site/profiles",
        "examples/profiles-tests/profiles",
        "tests/profiles/show",
    ] {
        for name in names(&root().join(place)).iter().filter(|name| name.ends_with(".yaml")) {
            let text = read(&root().join(place).join(name))?;
            for item in documents(name, text.as_bytes()) {
                let DocumentOrError::Document(document) = item else { return Err(format!("{place}/{name}")) };
                let raw: Value = serde_json::from_str(document.json.get()).map_err(|e| e.to_string())?;
                let profile = FabricProfile::read(document.json.get()).map_err(|e| e.to_string())?;
                let written = write_out_all_defaults(&profile, &raw, bases()).map_err(|e| e.to_string())?;
                let json = written.json.to_string();
                let again = FabricProfile::read(&json).map_err(|e| format!("{name}: {e}: {json}"))?;
                let resolve = |profile: &FabricProfile| {
                    Profile::checked_with_base(profile, bases()).map_err(|e| e.to_string())
                };
                // An absent selector of namespaces and an empty one mean the same; `when` has its default.
                let (expected, found) = (resolve(&profile)?, resolve(&again)?);
                let (when, fingerprint) = (found.when.clone(), found.fingerprint.clone());
                let namespaces = Some(expected.namespaces.clone().unwrap_or_default());
                let least = expected.when.min_accelerators.unwrap_or(expected.accelerators_per_node);
                same(&format!("{name}: minAccelerators"), Some(least), when.min_accelerators)?;
                same(name, Profile { when, fingerprint, namespaces, ..expected }, found)?;
                checked += 1;
            }
        }
    }
    if checked > 20 { Ok(()) } else { Err(format!("{checked} profiles")) }
}

fn scratch() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    let from = directory().join("test-passes");
    for file in ["profiles.yaml", "cases/ranks.yaml", "cases/ranks.expected.yaml"] {
        scratch.write(file, read(&from.join(file))?)?;
    }
    Ok(scratch)
}

const TEST: [&str; 4] = ["test", "cases", "--profiles", "profiles.yaml"];

fn update() -> Outcome {
    let scratch = scratch()?;
    let expected = || read(&scratch.path().join("cases/ranks.expected.yaml"));
    let (before, update) = (expected()?, [&TEST[..], &["--update"]].concat());
    same("exit code", 0, profiles(&update, scratch.path())?.code)?;
    same("an expectation that holds", before.clone(), expected()?)?;
    scratch.write(
        "profiles.yaml",
        read(&scratch.path().join("profiles.yaml"))?.replace("x.com/east", "x.com/new"),
    )?;
    same("a profile that changed", 1, profiles(&TEST, scratch.path())?.code)?;
    let ran = profiles(&update, scratch.path())?;
    same("--update", (0, true), (ran.code, ran.stdout.contains("written cases/ranks.expected.yaml")))?;
    let after = expected()?;
    same("the comment", before.lines().next(), after.lines().next())?;
    same("the new value", true, after.contains("trainer: limits: x.com/new = 8"))?;
    same("keys that were left out", 0, after.matches("findings:").count())?;
    same("exit code", 0, profiles(&TEST, scratch.path())?.code)?;
    // A new result gets every key.
    scratch.write(
        "cases/new.yaml",
        "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n",
    )?;
    profiles(&update, scratch.path())?;
    let new = read(&scratch.path().join("cases/new.expected.yaml"))?;
    let keys = ["profile: null", "verdict: allow", "changes: []", "findings: []"];
    Ok(same(&new, Vec::<&str>::new(), keys.into_iter().filter(|key| !new.contains(key)).collect())?)
}

/// Each of them took time by the length of the profile.
fn many_repeated_keys() -> Outcome {
    let scratch = Scratch::new()?;
    let text = format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: p, labels: {{{}}}}}\nspec: \
         {{base: roce-sriov}}\n",
        "a: b, ".repeat(54)
    );
    scratch.write("profile.yaml", text)?;
    let ran = profiles(&["validate", "profile.yaml"], scratch.path())?;
    same("exit code", 1, ran.code)?;
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let key = "/metadata/labels/a: duplicate key \"a\" (first on line 3)";
    same("first", format!("profile.yaml:3:36: {key}").as_str(), lines[0])?;
    same("last", format!("profile.yaml:3:330: {key}; 3 more duplicate keys").as_str(), lines[49])?;
    Ok(same("sum", "1 profile, 50 faults", lines[50])?)
}

fn unreadable_update() -> Outcome {
    let scratch = scratch()?;
    scratch.write("cases/ranks.expected.yaml", "result: []\n")?;
    let ran = profiles(&[&TEST[..], &["--update"]].concat(), scratch.path())?;
    same("exit code", 2, ran.code)?;
    assert!(ran.stderr.contains("did you mean \"results\"?"), "{}", ran.stderr);
    Ok(same("the file", "result: []\n", read(&scratch.path().join("cases/ranks.expected.yaml"))?.as_str())?)
}

/// An expectation that is a link shows no file of the machine, never ends, and writes no file outside of the repository.
fn links_of_expectations() -> Outcome {
    let scratch = scratch()?;
    let expected = scratch.path().join("cases/ranks.expected.yaml");
    scratch.write(".git", "gitdir: elsewhere\n")?;
    scratch.write("shared.yaml", read(&expected)?)?;
    let outside = Scratch::new()?;
    outside.write("secret.yaml", "hidden: [1\n")?;
    let secret = outside.path().join("secret.yaml");
    let new = outside.path().join("new.yaml");
    let update = [&TEST[..], &["--update"]].concat();
    for (target, code, words) in [
        (Path::new("../shared.yaml"), 0, ""),
        (&secret, 2, "replace the link by a regular file"),
        (Path::new("/dev/zero"), 2, "replace the link by a regular file"),
        (&new, 2, "the symbolic link leads to no file"),
        (Path::new("../cases"), 2, "an expectation is a regular file"),
    ] {
        std::fs::remove_file(&expected)?;
        std::os::unix::fs::symlink(target, &expected)?;
        for arguments in [&TEST[..], &update] {
            let ran = profiles(arguments, scratch.path())?;
            same(&format!("exit code with {target:?}: {}", ran.stderr), code, ran.code)?;
            same(&ran.stderr, true, ran.stderr.contains(words) && !ran.stderr.contains("hidden"))?;
        }
    }
    same("the other file", "hidden: [1\n", read(&secret)?.as_str())?;
    Ok(same("a new file", false, new.exists())?)
}

/// Each case with facts takes as long as all facts of the cluster.
fn many_cases() -> Outcome {
    let scratch = scratch()?;
    let node = |i: usize| {
        format!("apiVersion: v1\nkind: Node\nmetadata: {{name: n{i}, labels: {{a: b{i}}}}}\n---\n")
    };
    scratch.write("nodes.yaml", (0..5_000).map(node).collect::<String>())?;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n---\n";
    for (facts, code) in [("", 0), (namespace, 2)] {
        for i in 0..300 {
            scratch.write(&format!("cases/c{i}.yaml"), format!("{facts}{pod}"))?;
            scratch.write(
                &format!("cases/c{i}.expected.yaml"),
                "results: [{object: Pod default/a, profile: null}]\n",
            )?;
        }
        let ran = profiles(&[&TEST[..], &["--cluster", "nodes.yaml"]].concat(), scratch.path())?;
        same(&format!("exit code: {}{}", ran.stdout, ran.stderr), code, ran.code)?;
        let words = "the inputs cause far more work than their size explains";
        same(&ran.stderr, code == 2, ran.stderr.contains(words))?;
    }
    Ok(())
}

/// Each case with facts takes as long as the comparison of each profile with each kind of nodes.
fn many_profiles() -> Outcome {
    let scratch = scratch()?;
    scratch.write("many.yaml", profiles_for_all_nodes_but_one(300))?;
    scratch.write("nodes.yaml", nodes_with_labels(3_000))?;
    for i in 0..60 {
        let pod =
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n";
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n---\n";
        scratch.write(&format!("cases/c{i}.yaml"), format!("{namespace}{pod}"))?;
        let expected = "results: [{object: Pod default/a, profile: null}]\n";
        scratch.write(&format!("cases/c{i}.expected.yaml"), expected)?;
    }
    let test = ["test", "cases", "--cluster", "nodes.yaml", "--profiles", "many.yaml"];
    let ran = profiles(&test, scratch.path())?;
    same(&format!("exit code: {:.400}", ran.stderr), 2, ran.code)?;
    let words = "the inputs cause far more work than their size explains";
    Ok(same(&ran.stderr, true, ran.stderr.contains(words))?)
}

/// A short file may have many results and entries, with YAML aliases: each result is not compared with each entry.
fn long_expectations() -> Outcome {
    let run = |results: usize, entries: usize, code: i32| {
        let scratch = scratch()?;
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}";
        let items = "- *p\n".repeat(results - 1);
        scratch.write("cases/c.yaml", format!("apiVersion: v1\nkind: List\nitems:\n- &p {pod}\n{items}"))?;
        let entries = "- *a\n".repeat(entries - 1);
        scratch
            .write("cases/c.expected.yaml", format!("results:\n- &a {{object: Pod default/q}}\n{entries}"))?;
        let started = Instant::now();
        let ran = profiles(&TEST, scratch.path())?;
        same(&format!("exit code: {}", ran.stderr), code, ran.code)?;
        Ok::<_, String>((started.elapsed(), ran.stderr))
    };
    let ((few, _), (short, _)) = (run(4_000, 1, 1)?, run(1, 99_000, 1)?);
    let (both, _) = run(4_000, 99_000, 1)?;
    let most = 3 * (few + short);
    same(&format!("{both:?}, alone {few:?} and {short:?}"), true, both < most)?;
    let (_, message) = run(1, 100_001, 2)?;
    let words = "an expectation has at most 100000 results, and this one has 100001; write several cases with fewer objects";
    Ok(same(&message, true, message.contains(words))?)
}

/// Each link to one long expectation costs as much as the expectation.
fn linked_expectations() -> Outcome {
    let scratch = scratch()?;
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}";
    let entry = format!("&a {{object: Pod default/q, changes: [{}]}}", "a".repeat(100));
    scratch.write("cases/c0.yaml", pod)?;
    scratch.write("cases/c0.expected.yaml", format!("results:\n- {entry}\n{}", "- *a\n".repeat(1_000)))?;
    for i in 1..300 {
        scratch.write(&format!("cases/c{i}.yaml"), pod)?;
        let link = scratch.path().join(format!("cases/c{i}.expected.yaml"));
        std::os::unix::fs::symlink("c0.expected.yaml", link)?;
    }
    let ran = profiles(&TEST, scratch.path())?;
    same(&format!("exit code: {:.400}", ran.stderr), 2, ran.code)?;
    let words = "or with links to one long expectation";
    same("cases that are not tested", true, ran.stderr.matches(words).count() > 50)?;
    Ok(same("output (bytes)", true, ran.stdout.len() < 300 * 70_000)?)
}

/// Facts of one case, such as a Namespace, are unknown in the next.
fn apart() -> Outcome {
    let scratch = scratch()?;
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: lab}\nspec: {containers: [{name: c, image: i, \
               resources: {limits: {nvidia.com/gpu: 8}}}]}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab, annotations: {fabric-admission.dev/profile: \
                     east}}\n---\n";
    scratch.write("cases/a.yaml", format!("{namespace}{pod}"))?;
    scratch.write("cases/b.yaml", pod)?;
    profiles(&[&TEST[..], &["--update"]].concat(), scratch.path())?;
    let profile = |name: &str| {
        let text = read(&scratch.path().join("cases").join(name))?;
        Ok::<_, String>(text.lines().find(|l| l.contains("profile:")).unwrap_or_default().trim().to_owned())
    };
    same("with the Namespace", "profile: east", profile("a.expected.yaml")?.as_str())?;
    Ok(same("without it", "profile: null", profile("b.expected.yaml")?.as_str())?)
}

fn usage() -> Outcome {
    for (args, code, words) in [
        (&["show", "roce-sriov", "--used-by"][..], 2, "--used-by needs --live or --cluster"),
        (&["test", "nowhere"], 2, "nowhere: no such file"),
        (&["validate", "nowhere"], 2, "nowhere:1:1: no such file"),
        (&["list", "--profiles", "nowhere"], 2, "nowhere:1:1: no such file"),
        (&["validate", "test-passes/cases/ranks.yaml"], 2, "no FabricProfile in the inputs"),
        (
            &["test", "test-passes/cases", "test-passes/cases/ranks.yaml"],
            2,
            "two cases have the same expectation",
        ),
        (&["test", "-"], 2, "standard input is not supported"),
        (&["list", "--live", "--kubeconfig", "nowhere"], 2, "nowhere"),
    ] {
        let ran = profiles(args, &directory())?;
        same(&format!("exit code of {args:?}: {}", ran.stderr), code, ran.code)?;
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
    }
    let ran = run(
        &["profiles", "validate", "-"],
        b"apiVersion: fabric-admission.dev/v1\nkind: FabricProfile\nmetadata: {name: a}\nspec: {base: roce-sriov}\n",
        root(),
    )?;
    same("standard input", 1, ran.code)?;
    assert!(ran.stdout.starts_with("<stdin>:1:1: /apiVersion: expected"), "{}", ran.stdout);
    Ok(())
}
