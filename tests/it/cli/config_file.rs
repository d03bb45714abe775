//! `.fabric-admission.yaml`: which file counts for which input, what it says, and its mistakes.

use crate::support::many_profiles_and_nodes::{nodes_with_labels, profiles_for_all_nodes_but_one};
use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Ran, Scratch, run};
use serde_json::Value;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i\n    \
                   resources: {limits: {nvidia.com/gpu: 8}}\n";
const POLICY: &str = "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: a, namespace: \
                      sriov-network-operator}\nspec:\n  resourceName: rails\n  numVfs: 8\n  priority: 99\n  nodeSelector: \
                      {pool: a}\n  nicSelector: {pfNames: [ens1f0np0]}\n  deviceType: vfio-pci\n  isRdma: true\n";
const NAME: &str = ".fabric-admission.yaml";

fn scratch() -> Result<Scratch, String> {
    let scratch = Scratch::new()?;
    scratch.write("pod.yaml", POD)?;
    scratch.write("sub/pod.yaml", POD)?;
    scratch.write("sub/policy.yaml", POLICY)?;
    Ok(scratch)
}

fn review(scratch: &Scratch, args: &[&str]) -> Result<Ran, String> {
    run(&[&["review"], args].concat(), b"", scratch.path())
}

fn results(scratch: &Scratch, args: &[&str]) -> Result<Vec<Value>, String> {
    let ran = review(scratch, &[&["-o", "json"], args].concat())?;
    let json: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {ran:?}"))?;
    Ok(json["results"].as_array().cloned().unwrap_or_default())
}

/// Profile and namespace of each pod.
fn chosen(scratch: &Scratch, args: &[&str]) -> Result<Vec<(String, String, String)>, String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let pods = results(scratch, args)?.into_iter().filter(|r| r["kind"] == "Pod");
    Ok(pods.map(|r| (text(&r["source"]["file"]), text(&r["profile"]), text(&r["namespace"]))).collect())
}

fn rows(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    rows.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("config_file::the_nearest_file_counts_as_a_whole", || {
        let scratch = scratch()?;
        scratch.write(NAME, "profile: roce-sriov\nnamespace: above\n")?;
        let whole = rows(&[("pod.yaml", "roce-sriov", "above"), ("sub/pod.yaml", "roce-sriov", "above")]);
        same("from above", whole, chosen(&scratch, &["pod.yaml", "sub"])?)?;
        scratch.write(&format!("sub/{NAME}"), "namespace: below\n")?;
        let nearest = rows(&[("pod.yaml", "roce-sriov", "above"), ("sub/pod.yaml", "-", "below")]);
        same("the nearest", &nearest, &chosen(&scratch, &["pod.yaml", "sub"])?)?;
        same("of a directory", &nearest, &chosen(&scratch, &["."])?.into_iter().map(short).collect())?;
        let from_below = run(&["review", "-o", "json", "../pod.yaml"], b"", &scratch.path().join("sub"))?;
        Ok(same("by the place of the input", true, from_below.stdout.contains("\"profile\":\"roce-sriov\""))?)
    });
    suite.add("config_file::extend_is_explicit", || {
        let scratch = scratch()?;
        scratch.write("site/base.yaml", "profile: roce-sriov\nnamespace: above\nprofiles: profiles\n")?;
        scratch.write("site/profiles/own.yaml", "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {name: own}\nspec: {base: ethernet-tcp}\n")?;
        scratch.write(&format!("sub/{NAME}"), "extend: ../site/base.yaml\nnamespace: below\n")?;
        same("both", rows(&[("sub/pod.yaml", "roce-sriov", "below")]), chosen(&scratch, &["sub/pod.yaml"])?)?;
        // Paths of the extended file start at its own directory.
        scratch.write(&format!("sub/{NAME}"), "extend: ../site/base.yaml\nprofile: own\n")?;
        Ok(same("its profiles", rows(&[("sub/pod.yaml", "own", "above")]), chosen(&scratch, &["sub/pod.yaml"])?)?)
    });
    suite.add("config_file::flags_count_more", || {
        let scratch = scratch()?;
        scratch.write(NAME, "profile: roce-sriov\nnamespace: above\nmode: audit\nfailOn: info\n")?;
        let args = ["--profile", "ethernet-tcp", "--namespace", "mine", "pod.yaml"];
        same("flags", rows(&[("pod.yaml", "ethernet-tcp", "mine")]), chosen(&scratch, &args)?)?;
        same("mode", "audit", results(&scratch, &["pod.yaml"])?[0]["mode"].as_str().unwrap_or_default())?;
        let enforced = results(&scratch, &["--mode", "enforce", "pod.yaml"])?;
        same("mode by flag", "enforce", enforced[0]["mode"].as_str().unwrap_or_default())?;
        same(
            "failOn",
            1,
            review(&scratch, &["--profile", "aws-efa", "pod.yaml"])?
                .code
                .max(review(&scratch, &["--no-config", "--fail-on", "info", "pod.yaml"])?.code),
        )?;
        same("--fail-on", 0, review(&scratch, &["--fail-on", "never", "pod.yaml"])?.code)?;
        same(
            "--no-config",
            rows(&[("pod.yaml", "-", "default")]),
            chosen(&scratch, &["--no-config", "pod.yaml"])?,
        )?;
        scratch.write("other.yaml", "namespace: other\n")?;
        let other = chosen(&scratch, &["--config", "other.yaml", "pod.yaml"])?;
        same("--config", rows(&[("pod.yaml", "-", "other")]), other)?;
        Ok(same("both", 2, review(&scratch, &["--config", "other.yaml", "--no-config", "pod.yaml"])?.code)?)
    });
    suite.add("config_file::ignored_findings_fail_nothing", || Ok(ignored()?));
    suite.add("config_file::only_short_regular_files", || {
        let scratch = scratch()?;
        scratch.write("long.yaml", "#".repeat(1024 * 1024 + 1))?;
        for (extended, words) in [
            ("/dev/zero", "error: .fabric-admission.yaml:1:1: /dev/zero is neither a file nor a directory"),
            ("sub", "error: sub:1:1: a configuration is a regular file"),
            ("long.yaml", "error: long.yaml:1:1: a configuration has at most 1 MiB"),
        ] {
            scratch.write(NAME, format!("extend: {extended}\n"))?;
            let ran = review(&scratch, &["pod.yaml"])?;
            same("exit code", 2, ran.code)?;
            same(&format!("{words} in {}", ran.stderr), true, ran.stderr.contains(words))?;
        }
        Ok(())
    });
    suite.add("config_file::many_configurations_name_a_long_file", || {
        let scratch = scratch()?;
        let long = format!("# {}\n", "x".repeat(12 << 20));
        scratch.write("facts.yaml", &long)?;
        let pod = std::fs::read(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?;
        for directory in ["a", "b", "c", "d"] {
            scratch.write(&format!("{directory}/pod.yaml"), &pod)?;
            scratch.write(&format!("{directory}/{NAME}"), "cluster: [../facts.yaml]\n")?;
        }
        // The longest files of one configuration do not count.
        for (inputs, flags, code) in [
            (["a", "b", "c"].as_slice(), [].as_slice(), 0),
            (&["a", "b", "c", "d"], &[], 2),
            (&["a", "b", "c", "d"], &["--cluster", "a/pod.yaml"], 0),
        ] {
            let ran = review(&scratch, &[inputs, flags].concat())?;
            same(&format!("exit code of {inputs:?}: {}", ran.stderr), code, ran.code)?;
            same("the limit is named", code == 2, ran.stderr.contains("of more than 32 MiB in total"))?;
        }
        Ok(())
    });
    suite.add("config_file::configurations_name_long_baselines", || {
        let scratch = scratch()?;
        review(&scratch, &["pod.yaml", "--write-baseline", "short.json"])?;
        let short = crate::support::read(&scratch.path().join("short.json"))?;
        let pod = std::fs::read(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?;
        for directory in ["a", "b", "c", "d"] {
            scratch.write(&format!("{directory}/pod.yaml"), &pod)?;
            scratch.write(&format!("{directory}/{NAME}"), "baseline: baseline.json\n")?;
            scratch
                .write(&format!("{directory}/baseline.json"), format!("{short}{}", " ".repeat(12 << 20)))?;
        }
        // The longest one does not count.
        for (inputs, code) in [(["a", "b", "c"].as_slice(), 0), (&["a", "b", "c", "d"], 2)] {
            let ran = review(&scratch, inputs)?;
            same(&format!("exit code of {inputs:?}: {}", ran.stderr), code, ran.code)?;
            same("the limit is named", code == 2, ran.stderr.contains("have more than 32 MiB in total"))?;
        }
        Ok(())
    });
    suite.add("config_file::configurations_share_the_files_that_they_name", || Ok(shared_files()?));
    suite.add("config_file::configurations_repeat_no_long_file", || Ok(repeated()?));
    suite.add("config_file::many_stars_in_patterns_of_many_files", || Ok(stars()?));
    suite.add("config_file::paths_below_other_paths_are_read_once", || Ok(nested_paths()?));
    suite.add("config_file::hidden_directories_that_are_listed_often", || Ok(hidden_paths()?));
    suite.add("config_file::paths_stay_in_the_repository", || {
        let scratch = scratch()?;
        scratch.write("tree/.git", "gitdir: elsewhere\n")?;
        scratch.write("tree/a/facts/none.yaml", "# nothing\n")?;
        scratch.write(
            "tree/a/pod.yaml",
            std::fs::read(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?,
        )?;
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())
        };
        link("/", "tree/a/link")?;
        scratch.write("secret.yaml", "hidden: [1]\n")?;
        link("../secret.yaml", "tree/secret.yaml")?;
        scratch.write("tree/base.yaml", "namespace: base\n")?;
        scratch.write("tree/extends.yaml", "extend: ../secret.yaml\n")?;
        for (text, place, words) in [
            ("cluster: [facts]\n", "", ""),
            ("cluster: [../a/facts]\n", "", ""),
            ("cluster: [facts, /]\n", "1:18", "/ is outside of the repository "),
            ("cluster: [../..]\n", "1:11", "../.. is outside of the repository "),
            ("cluster: [link]\n", "1:11", "link is outside of the repository "),
            ("cluster: [\"-\"]\n", "1:11", "- is standard input, which only the command line may name"),
            ("cluster: [/proc/self/fd/0]\n", "1:11", "/proc/self/fd/0 leads to an open file of a process"),
            ("profiles: /dev/zero\n", "1:1", "/dev/zero is neither a file nor a directory"),
            ("baseline: ../../pod.yaml\n", "1:1", "../../pod.yaml is outside of the repository "),
            ("extend: ../base.yaml\n", "", ""),
            ("extend: ../../secret.yaml\n", "1:1", "../../secret.yaml is outside of the repository "),
            ("extend: ../secret.yaml\n", "1:1", "../secret.yaml is outside of the repository "),
            (
                "extend: ../extends.yaml\n",
                "tree/a/../extends.yaml:1:1",
                "../secret.yaml is outside of the repository ",
            ),
        ] {
            scratch.write(&format!("tree/a/{NAME}"), text)?;
            let ran = review(&scratch, &["tree/a/pod.yaml"])?;
            let start = match place {
                "" => String::new(),
                place if place.starts_with("tree") => format!("error: {place}: {words}"),
                place => format!("error: tree/a/{NAME}:{place}: {words}"),
            };
            same(&format!("{text}: {}", ran.stderr), place.is_empty(), ran.code == 0)?;
            same(&format!("{start} of {}", ran.stderr), true, ran.stderr.starts_with(&start))?;
            same("shows the other file", false, ran.stderr.contains("hidden"))?;
        }
        // The configuration itself is a link.
        std::fs::remove_file(scratch.path().join(format!("tree/a/{NAME}"))).map_err(|e| e.to_string())?;
        link("../../secret.yaml", &format!("tree/a/{NAME}"))?;
        let ran = review(&scratch, &["tree/a/pod.yaml"])?;
        same("exit code", 2, ran.code)?;
        let start = format!("error: tree/a/{NAME}:1:1: {NAME} is outside of the repository ");
        same(&format!("{start} of {}", ran.stderr), true, ran.stderr.starts_with(&start))?;
        same("shows the other file", false, ran.stderr.contains("hidden"))?;
        // Whoever names a configuration with a flag may name any, but a change of others may bring a link.
        scratch.write("site.yaml", "namespace: site\n")?;
        link("../base.yaml", "tree/a/site.yaml")?;
        link("tree/base.yaml", "link.yaml")?;
        for config in ["site.yaml", "tree/a/../../site.yaml", "tree/a/site.yaml", "link.yaml"] {
            let ran = review(&scratch, &["--config", config, "tree/a/pod.yaml"])?;
            same(&format!("exit code with {config}: {}", ran.stderr), 0, ran.code)?;
        }
        for config in [format!("tree/a/{NAME}"), "tree/secret.yaml".to_owned()] {
            let ran = review(&scratch, &["--config", &config, "tree/a/pod.yaml"])?;
            same(&format!("exit code with {config}"), 2, ran.code)?;
            let start = format!("error: {config}:1:1: the symbolic link leads to ");
            same(&format!("{start} of {}", ran.stderr), true, ran.stderr.starts_with(&start))?;
            same("shows the other file", false, ran.stderr.contains("hidden"))?;
        }
        Ok(())
    });
    for (name, text, place, words) in [
        ("unknown_key", "profil: roce-sriov\n", "1:1", "unknown field \"profil\"; did you mean \"profile\"?"),
        ("unknown_mode", "\nmode: enforced\n", "2:1", "did you mean \"enforce\"?"),
        ("unknown_level", "failOn: fatal\n", "1:1", "fatal"),
        ("wrong_type", "cluster: facts\n", "1:1", "expected a list"),
        ("namespace", "namespace: A_B\n", "1:1", "lower-case"),
        ("version", "kubeVersion: \"1.36\"\n", "1:1", "unknown field"),
        ("no_reason", "ignore:\n- rules: [FAB301]\n", "2:3", "reason"),
        ("empty_reason", "ignore:\n- rules: [FAB301]\n  reason: \" \"\n", "3:3", "give a reason"),
        ("unknown_rule", "ignore:\n- rules: [FAB3O1]\n  reason: r\n", "2:11", "did you mean FAB301?"),
        ("twice", "mode: audit\nmode: enforce\n", "2:1", "duplicate key"),
        ("two_documents", "mode: audit\n---\nmode: audit\n", "3:1", "one document"),
        ("not_yaml", "mode: [\n", "2:1", ""),
        ("extends_itself", "extend: .fabric-admission.yaml\n", "1:1", "extend one another"),
        ("extends_nothing", "extend: nowhere.yaml\n", "1:1", "No such file"),
    ] {
        suite.add(format!("config_file::mistake::{name}"), move || {
            let scratch = scratch()?;
            scratch.write(NAME, text)?;
            let ran = review(&scratch, &["pod.yaml"])?;
            same("exit code", 2, ran.code)?;
            same("stdout", "", ran.stdout.as_str())?;
            let start = if name == "extends_nothing" {
                "error: nowhere.yaml".to_owned()
            } else {
                format!("error: {NAME}:{place}: ")
            };
            let right = ran.stderr.starts_with(&start) && ran.stderr.contains(words);
            Ok(same(&format!("{start}{words} in {}", ran.stderr), true, right)?)
        });
    }
}

fn short((file, profile, namespace): (String, String, String)) -> (String, String, String) {
    (file.trim_start_matches("./").to_owned(), profile, namespace)
}

fn ignored() -> Result<(), String> {
    let scratch = scratch()?;
    let entry = |rule: &str, paths: &str| {
        format!("ignore:\n- rules: [{rule}]\n  paths: [{paths}]\n  reason: \"the old pool goes in May\"\n")
    };
    same("before", 1, review(&scratch, &["sub/policy.yaml"])?.code)?;
    for (paths, code) in [("sub", 0), ("\"**/pol*.yaml\"", 0), ("pod.yaml", 1)] {
        scratch.write(NAME, entry("FAB301", paths))?;
        let ran = review(&scratch, &["sub/policy.yaml"])?;
        same(&format!("exit code with {paths}"), code, ran.code)?;
        // The webhook does not know the file.
        same("the verdict", true, ran.stdout.starts_with("DENY "))?;
        same("the reason", code == 0, ran.stdout.contains("because the old pool goes in May"))?;
    }
    scratch.write(NAME, entry("FAB301", "sub"))?;
    let results = results(&scratch, &["sub/policy.yaml"])?;
    let suppressed = &results[0]["suppressed"][0];
    let seen = (suppressed["rule"].as_str(), suppressed["by"].as_str(), results[0]["verdict"].as_str());
    same("-o json", (Some("FAB301"), Some("configuration"), Some("deny")), seen)?;
    let patch = review(&scratch, &["-o", "patch", "sub/policy.yaml"])?;
    same("-o patch", true, patch.stderr.contains("by a finding that the configuration ignores"))?;
    scratch.write(NAME, entry("FAB302", "sub"))?;
    same("another rule", 1, review(&scratch, &["sub/policy.yaml"])?.code)
}

/// Many directories have a short configuration, or a link, that leads to one long file.
fn repeated() -> Result<(), String> {
    let directories = |scratch: &Scratch, number: usize, config: &str| {
        let pod = std::fs::read(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?;
        for i in 0..number {
            scratch.write(&format!("all/d{i}/pod.yaml"), &pod)?;
            let link = scratch.path().join(format!("all/d{i}/{NAME}"));
            match config.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, link).map_err(|e| e.to_string())?,
                None => scratch.write(&format!("all/d{i}/{NAME}"), config)?,
            }
        }
        Ok::<_, String>(())
    };
    let padded = format!("failOn: never\n# {}\n", "x".repeat(90_000));
    // A file that links lead to, or that others extend, is read once.
    let long: String =
        (0..1_000).map(|i| format!("- {{rules: [FAB501], reason: a, paths: [\"a{i}\"]}}\n")).collect();
    for (number, config, code) in [
        (200, "-> ../../long.yaml", 0),
        (200, "extend: ../../long.yaml\n", 0),
        (90, &padded, 0),
        (100, &padded, 2),
        // Paths start at the directory of each link.
        (100, "-> ../../with-path.yaml", 2),
    ] {
        let scratch = scratch()?;
        scratch.write("long.yaml", format!("ignore:\n{long}"))?;
        scratch.write("with-path.yaml", format!("extend: ../../short.yaml\n{padded}"))?;
        scratch.write("short.yaml", "namespace: a\n")?;
        directories(&scratch, number, config)?;
        let ran = review(&scratch, &["all"])?;
        same(&format!("exit code of {number} times {config}: {}", ran.stderr), code, ran.code)?;
        same(&ran.stderr, code == 2, ran.stderr.contains("have more than 8 MiB in total"))?;
    }
    // The patterns of a linked file start at the directory of each link.
    let linked = self::scratch()?;
    let policy = std::fs::read(linked.path().join("sub/policy.yaml")).map_err(|e| e.to_string())?;
    linked.write("ignored.yaml", "ignore:\n- {rules: [FAB301], paths: [\"mine/*\"], reason: old}\n")?;
    directories(&linked, 2, "-> ../../ignored.yaml")?;
    for (file, code) in
        [("all/d0/mine/policy.yaml", 0), ("all/d1/mine/policy.yaml", 0), ("all/d1/policy.yaml", 1)]
    {
        linked.write(file, &policy)?;
        let ran = review(&linked, &["all"])?;
        same(&format!("exit code with {file}: {}", ran.stdout), code, ran.code)?;
    }
    // Too many of them: none is read.
    let scratch = scratch()?;
    directories(&scratch, 1_001, "-> ../../short.yaml")?;
    scratch.write("short.yaml", "namespace: a\n")?;
    let ran = review(&scratch, &["all"])?;
    same("exit code", 2, ran.code)?;
    same(&ran.stderr, true, ran.stderr.contains("more than 1000 configuration files"))?;
    // Aliases make a long document of few bytes.
    let scratch = self::scratch()?;
    let labels: String = (0..60).map(|i| format!("l{i}: {}, ", "v".repeat(40))).collect();
    let nodes: String =
        (1..40).map(|i| format!("- {{kind: Node, metadata: {{name: n{i}, labels: *l}}}}\n")).collect();
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {{kind: Node, metadata: {{name: n, labels: &l {{{labels}}}}}}}\n{nodes}---\n"
    );
    scratch.write("facts.yaml", list.repeat(20))?;
    directories(&scratch, 20, "cluster: [../../facts.yaml]\n")?;
    let ran = review(&scratch, &["all"])?;
    same(&format!("exit code: {}", ran.stderr), 2, ran.code)?;
    same(&ran.stderr, true, ran.stderr.contains("name files of more than 32 MiB in total"))?;
    let ran = review(&scratch, &["all", "--cluster", "facts.yaml", "--fail-on", "never"])?;
    same(&format!("exit code with the flag: {}", ran.stderr), 0, ran.code)?;
    // All directories have one baseline, which they name in different ways.
    let scratch = self::scratch()?;
    let written = review(&scratch, &["pod.yaml", "--write-baseline", "baseline.json"])?;
    same(&format!("exit code: {}", written.stderr), true, written.code < 2)?;
    directories(&scratch, 3, "baseline: ../../baseline.json\n")?;
    let ran = run(&["review", "-o", "json", "all"], b"", scratch.path())?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)
}

/// Each part of a name between stars is looked for in each name of each path.
fn stars() -> Result<(), String> {
    let scratch = scratch()?;
    let pattern = format!("**/{}b", "a*".repeat(120));
    let paths = format!("&p '{pattern}', {}", "*p, ".repeat(1_900));
    scratch.write(NAME, format!("ignore:\n- {{rules: [FAB416], reason: x, paths: [{paths}]}}\n"))?;
    let directory = format!("{}/", "a".repeat(200)).repeat(8);
    let pod = std::fs::read_to_string(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?;
    for i in 0..40 {
        scratch.write(&format!("deep/{directory}{i}.yaml"), &pod)?;
    }
    let ran = review(&scratch, &["deep"])?;
    same(&format!("exit code: {:.400}", ran.stderr), 2, ran.code)?;
    same("the limit is named", true, ran.stderr.contains("far more work than their size explains"))
}

/// Each of the paths is below the one before, and the files are below all of them.
fn nested_paths() -> Result<(), String> {
    let scratch = scratch()?;
    let path = |depth: usize| format!("c{}", "/d".repeat(depth));
    for i in 0..300 {
        scratch.write(&format!("{}/n{i}.yaml", path(60)), "")?;
    }
    let time = |paths: usize| {
        let named: Vec<String> = (0..paths).map(path).collect();
        scratch.write(NAME, format!("cluster: [{}]\n", named.join(", ")))?;
        let began = std::time::Instant::now();
        let ran = review(&scratch, &["pod.yaml"])?;
        same(&format!("{paths} paths: {:.300}", ran.stderr), true, ran.code < 2)?;
        Ok::<_, String>(began.elapsed())
    };
    let (one, all) = (time(1)?.min(time(1)?), time(60)?.min(time(60)?));
    same(&format!("{all:?} for sixty paths, {one:?} for one"), true, all < 5 * one)
}

/// Each path is a hidden directory below the one before, so all of them are listed.
fn hidden_paths() -> Result<(), String> {
    let scratch = scratch()?;
    let path = |depth: usize| format!("c{}", "/.d".repeat(depth));
    for i in 0..300 {
        scratch.write(&format!("{}/n{i}.yaml", path(60)), "a: 1")?;
    }
    let named: Vec<String> = (0..60).map(path).collect();
    scratch.write(NAME, format!("cluster: [{}]\n", named.join(", ")))?;
    let ran = review(&scratch, &["pod.yaml"])?;
    same(&format!("exit code: {:.400}", ran.stderr), 2, ran.code)?;
    same("the limit is named", true, ran.stderr.contains("more than 8192 files and directories in total"))
}

/// Many configurations name the same profiles and nodes, each of which takes long to compare with the others.
fn shared_files() -> Result<(), String> {
    let scratch = scratch()?;
    scratch.write("profiles.yaml", profiles_for_all_nodes_but_one(400))?;
    scratch.write("nodes.yaml", nodes_with_labels(2_000))?;
    let pod = std::fs::read_to_string(scratch.path().join("pod.yaml")).map_err(|e| e.to_string())?;
    let fact = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n---\n";
    // The same files are read once; inputs with facts, and files for objects of another namespace, are not shared.
    for (what, facts, code) in [("shared", "", 0), ("facts", fact, 2), ("namespaces", "", 2)] {
        for i in 0..60 {
            let namespace = if what == "namespaces" { format!("namespace: n{i}\n") } else { String::new() };
            let files = "profiles: ../profiles.yaml\ncluster: [../nodes.yaml]";
            let keys = format!("{files}\nfailOn: never\n{namespace}");
            scratch.write(&format!("d{i}/{NAME}"), keys)?;
            scratch.write(&format!("d{i}/pod.yaml"), format!("{facts}{pod}"))?;
        }
        let all: Vec<String> = (0..60).map(|i| format!("d{i}")).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let ran = review(&scratch, &all)?;
        same(&format!("{what}: exit code: {:.400}", ran.stderr), code, ran.code)?;
        let words =
            "name profiles and objects of the cluster that cause far more work than their size explains";
        same(&format!("{what}: {:.400}", ran.stderr), code == 2, ran.stderr.contains(words))?;
    }
    Ok(())
}
