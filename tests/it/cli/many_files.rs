//! Many files: decided in their order, in memory that grows by little more than their names, and never from two versions of
//! one file.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{Scratch, binary, run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

const FORMATS: [&str; 9] = ["text", "json", "yaml", "patch", "diff", "sarif", "junit", "github", "gitlab"];

/// A pod with a warning, and a comment.
fn pod(name: &str, gpus: usize, comment: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - name: c\n    image: i\n    resources: \
         {{limits: {{nvidia.com/gpu: {gpus}}}}}\n# {}\n",
        "x".repeat(comment)
    )
}

pub(crate) fn add(suite: &mut Suite) {
    suite.add("many_files::errors_have_the_order_of_the_files", || Ok(order()?));
    suite.add("many_files::a_fact_counts_for_the_files_before_it", || Ok(facts()?));
    suite.add("many_files::links_stay_in_the_directory_or_repository", || Ok(links()?));
    suite.add("many_files::hidden_manifests_are_read_like_others", || Ok(hidden()?));
    suite.add("many_files::a_link_takes_no_file_away_from_another_directory", || {
        Ok(links_and_configurations()?)
    });
    suite.add("many_files::links_repeat_no_long_file", || Ok(repeated_links()?));
    suite.add("many_files::hidden_links_read_little_outside", || Ok(hidden_links()?));
    suite.add("many_files::files_of_version_control_are_not_shown", || Ok(version_control()?));
    suite.add("many_files::results_are_not_written_through_links", || Ok(links_of_outputs()?));
    suite.add("many_files::named_links_stay_in_the_repository", || Ok(named_links()?));
    suite.add("many_files::a_directory_that_is_too_deep_is_an_error", || Ok(deep_directory()?));
    suite.add("many_files::equal_pods_have_a_short_way_to_their_diff", || Ok(diff_of_equal_pods()?));
    if cfg!(target_os = "linux") {
        suite.add("many_files::a_file_that_changes_is_an_error", || Ok(change()?));
        suite.add("many_files::memory_grows_by_little_in_all_formats", || Ok(memory()?));
    }
}

/// A change of others may replace a named file or directory of a repository by a link to a file of the machine.
fn named_links() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())
    };
    scratch.write("secret/token.yaml", "token: [hidden\n")?;
    scratch.write("tree/.git", "gitdir: elsewhere\n")?;
    scratch.write("tree/a/pod.yaml", pod("a", 8, 0))?;
    link("../secret/token.yaml", "tree/file.yaml")?;
    link("../secret", "tree/directory")?;
    link("a", "tree/inside")?;
    link("tree/a/pod.yaml", "own.yaml")?;
    // Standard input is a pipe here, and has no path.
    link("/proc/self/fd/0", "tree/open.yaml")?;
    for named in ["tree/file.yaml", "tree/directory", "tree/directory/token.yaml", "tree/open.yaml"] {
        for command in ["review", "why", "audit --cluster", "discover --cluster", "profiles validate"] {
            let arguments: Vec<&str> = command.split(' ').chain([named]).collect();
            let ran = run(&arguments, b"token: [hidden\n", scratch.path())?;
            let words = format!("{named}:1:1: the symbolic link leads to ");
            same(&format!("{arguments:?}: {}", ran.stderr), true, ran.stderr.contains(&words))?;
            same("exit code", 2, ran.code)?;
            same("shows the other file", false, (ran.stderr + &ran.stdout).contains("hidden"))?;
        }
    }
    for named in ["tree/inside", "tree/inside/pod.yaml", "own.yaml"] {
        let ran = run(&["review", named, "--fail-on", "never"], b"", scratch.path())?;
        same(&format!("exit code of {named}: {}", ran.stderr), 0, ran.code)?;
    }
    Ok(())
}

/// Files below the deepest directory that is searched are not left out silently.
fn deep_directory() -> Result<(), String> {
    for (levels, code) in [(64, 0), (65, 2)] {
        let scratch = Scratch::new()?;
        scratch.write("tree/pod.yaml", pod("a", 8, 0))?;
        scratch.write(&format!("tree/{}pod.yaml", "d/".repeat(levels)), pod("b", 8, 0))?;
        for flags in [&["--no-config"][..], &[]] {
            let arguments = [&["review", "tree", "--fail-on", "never"], flags].concat();
            let ran = run(&arguments, b"", scratch.path())?;
            same(&format!("exit code of {levels} levels: {}", ran.stderr), code, ran.code)?;
            let words = "this directory is more than 64 levels below the named one";
            same("error", code == 2, ran.stderr.contains(words))?;
        }
    }
    Ok(())
}

/// A link in a directory must not show a file of the machine; and each file that links lead to is read once for them.
fn links() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())
    };
    scratch.write("secret.yaml", "token: [hidden\n")?;
    scratch.write("tree/..data/of-volume", pod("of-volume", 8, 0))?;
    scratch.write("tree/a.yaml", pod("a", 8, 0))?;
    link("..data/of-volume", "tree/of-volume.yaml")?;
    link("../secret.yaml", "tree/z.yaml")?;
    link("a.yaml", "tree/b.yaml")?;
    link("a.yaml", "tree/c.yaml")?;
    link("..", "tree/above.yaml")?;
    let (code, result) = json(&["tree"], scratch.path())?;
    let names = |result: &Value| -> Vec<String> {
        let results = result["results"].as_array().into_iter().flatten();
        results.map(|r| r["source"]["file"].as_str().unwrap_or_default().to_owned()).collect()
    };
    same("exit code", Some(2), code)?;
    same(
        "files",
        ["tree/a.yaml", "tree/b.yaml", "tree/of-volume.yaml"].map(str::to_owned).to_vec(),
        names(&result),
    )?;
    let shown = result.to_string();
    same("hidden", false, shown.contains("hidden"))?;
    same("said", true, shown.contains("which is outside of the directory; name this file itself"))?;
    // In a repository, a link may lead to other directories.
    scratch.write(".git", "gitdir: elsewhere\n")?;
    scratch.write("secret.yaml", pod("shared", 8, 0))?;
    let (code, result) = json(&["tree"], scratch.path())?;
    same("exit code in a repository", Some(0), code)?;
    same("files in a repository", 4, names(&result).len())
}

/// `kubectl apply -f DIR` applies hidden manifests too. Settings of other tools stay without a message.
fn hidden() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let manifests = [
        "tree/.a.yaml",
        "tree/.json",
        "tree/.sub/b.yml",
        "tree/.sub/c/d.yaml",
        "tree/a/.e.yaml",
        "tree/..unlinked/f.yaml",
        "tree/.hg/g.yaml",
    ];
    for name in manifests {
        scratch.write(name, pod("a", 8, 0))?;
    }
    let broken = "apiVersion: v1\nkind: Pod\nspec: {{ .Values.spec }}\n";
    scratch.write("tree/.broken.yaml", broken)?;
    scratch.write("tree/ok.yaml", pod("ok", 8, 0))?;
    for (name, text) in [
        (".github/workflows/ci.yml", "on: push\njobs: {kind: {uses: helm/kind-action@v1}}\n"),
        (".gitlab-ci.yml", "test: {script: [\"a\\\\b\"]}\n"),
        (".vscode/tasks.json", "// tasks\n{\"group\": {\"kind\": \"build\"},}\n"),
        (".empty.yaml", ""),
        (".list.yaml", "- kind\n"),
        (".fabric-admission.yaml", "failOn: never\n"),
    ] {
        scratch.write(&format!("tree/{name}"), text)?;
    }
    for directory in [".git", "a/.git"] {
        scratch.write(&format!("tree/{directory}/pod.yaml"), pod("history", 8, 0))?;
    }
    // A volume has a link for each key.
    scratch.write("tree/..2027/of-volume.yaml", pod("of-volume", 8, 0))?;
    for (target, name) in [("..2027", "..data"), ("..data/of-volume.yaml", "of-volume.yaml")] {
        std::os::unix::fs::symlink(target, scratch.path().join("tree").join(name))
            .map_err(|e| e.to_string())?;
    }
    let (code, result) = json(&["tree"], scratch.path())?;
    let names = |list: &str, pointer: &str| -> Vec<String> {
        let all = result[list].as_array().into_iter().flatten();
        let mut names: Vec<String> =
            all.filter_map(|one| one.pointer(pointer)?.as_str().map(str::to_owned)).collect();
        names.sort();
        names
    };
    let mut expected: Vec<String> = manifests.map(str::to_owned).to_vec();
    expected.extend(["tree/of-volume.yaml", "tree/ok.yaml"].map(str::to_owned));
    expected.sort();
    same("results", expected, names("results", "/source/file"))?;
    same("errors", vec!["tree/.broken.yaml".to_owned()], names("errors", "/file"))?;
    same("skipped", Vec::<String>::new(), names("skipped", "/source/file"))?;
    same("exit code", Some(2), code)?;
    // Every command that searches a directory reads the same files.
    scratch.write(
        "profiles/.bad.yaml",
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nspec: {x: 1}\n",
    )?;
    scratch.write("profiles/.other.yaml", "x: 1\n")?;
    for command in ["profiles validate profiles", "review tree --profiles profiles", "audit --cluster tree"] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = run(&arguments, b"", scratch.path())?;
        let file = if command.contains("profiles") { "profiles/.bad.yaml:" } else { "tree/.broken.yaml:" };
        same(&format!("{command}: {}", ran.stderr), true, (ran.stderr.clone() + &ran.stdout).contains(file))?;
        same("other", false, (ran.stderr + &ran.stdout).contains(".other.yaml"))?;
    }
    Ok(())
}

fn link(scratch: &Scratch, target: &str, name: &str) -> Result<(), String> {
    std::os::unix::fs::symlink(target, scratch.path().join(name)).map_err(|e| e.to_string())
}

/// Each directory may have a configuration of its own.
fn links_and_configurations() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tree/base/pod", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {fabric-admission.dev/profile: nosuch}}\nspec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}\n")?;
    for directory in ["aaa", "prod"] {
        scratch.write(&format!("tree/{directory}/other"), "")?;
        link(&scratch, "../base/pod", &format!("tree/{directory}/pod.yaml"))?;
    }
    scratch.write("tree/aaa/.fabric-admission.yaml", "failOn: never\n")?;
    let (code, result) = json(&["tree"], scratch.path())?;
    same("exit code", Some(1), code)?;
    same("results", 2, result["results"].as_array().map_or(0, Vec::len))
}

fn repeated_links() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tree/base/pod", pod("p", 8, 12 << 20))?;
    for directory in ["a", "b", "c", "d", "e"] {
        scratch.write(&format!("tree/{directory}/other"), "")?;
        link(&scratch, "../base/pod", &format!("tree/{directory}/pod.yaml"))?;
    }
    let ran = run(&["review", "tree", "--fail-on", "never"], b"", scratch.path())?;
    same("exit code", 2, ran.code)?;
    let words = "tree/d/pod.yaml:1:1: links of several directories lead to the same files";
    same(&ran.stderr, true, ran.stderr.contains(words))?;
    same("c", false, ran.stderr.contains("tree/c/pod.yaml:1:1: links"))
}

/// Nobody looks into all files of the machine to find out whether hidden links lead to manifests.
fn hidden_links() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tree/pod.yaml", pod("p", 8, 0))?;
    for name in ["a", "b", "c"] {
        scratch.write(&format!("outside/{name}"), format!("# {}\n", "x".repeat(12 << 20)))?;
        for number in 0..4 {
            link(&scratch, &format!("../outside/{name}"), &format!("tree/.{name}{number}.yaml"))?;
        }
    }
    let ran = run(&["review", "tree", "--fail-on", "never"], b"", scratch.path())?;
    same("exit code", 2, ran.code)?;
    for (name, is_refused) in [("a0", false), ("a3", false), ("b3", false), ("c0", true), ("c3", true)] {
        let words = format!("tree/.{name}.yaml:1:1: the symbolic link leads to ");
        same(&format!("{name}: {}", ran.stderr), is_refused, ran.stderr.contains(&words))?;
    }
    Ok(())
}

/// The directory `.git` may have the password of a remote repository.
fn version_control() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "url: [password\n")?;
    scratch.write("tree/a/pod.yaml", pod("a", 8, 0))?;
    scratch.write("tree/b/pod.yaml", pod("b", 8, 0))?;
    scratch.write("tree/b/.fabric-admission.yaml", "cluster: [../.git/config]\n")?;
    link(&scratch, "../.git/config", "tree/a/link.yaml")?;
    for named in ["tree/a", "tree/a/link.yaml", "tree/b"] {
        let ran = run(&["review", named, "--fail-on", "never"], b"", scratch.path())?;
        same(&format!("{named}: {}", ran.stderr), 2, ran.code)?;
        same(&format!("{named}: {}", ran.stderr), true, ran.stderr.contains("outside of the"))?;
        same("shows the file", false, (ran.stderr + &ran.stdout).contains("password"))?;
    }
    let ran = run(&["verify-log", "tree/a/link.yaml"], b"", scratch.path())?;
    same(&format!("verify-log: {}", ran.stderr), true, ran.stderr.contains("the symbolic link leads to "))
}

/// A change of others may replace a file of results by a link to a file of the machine.
fn links_of_outputs() -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git", "gitdir: elsewhere\n")?;
    scratch.write("tree/pod.yaml", pod("a", 8, 0))?;
    scratch.write("outside/old", "old\n")?;
    for (target, name) in
        [("../outside/old", "out.a"), ("../outside/new", "out.b"), ("../outside", "directory")]
    {
        link(&scratch, target, &format!("tree/{name}"))?;
    }
    let tree = scratch.path().join("tree");
    for file in ["out.a", "out.b", "directory/new"] {
        for command in [
            format!("review pod.yaml -o sarif={file}"),
            format!("review pod.yaml --write-baseline {file}"),
            format!("audit --cluster pod.yaml -o json={file}"),
            format!("audit --cluster pod.yaml --write-baseline {file}"),
        ] {
            let arguments: Vec<&str> = command.split(' ').collect();
            let ran = run(&arguments, b"", &tree)?;
            same(
                &format!("{command}: {}", ran.stderr),
                true,
                ran.stderr.contains("the symbolic link leads to "),
            )?;
            same(&command, true, ran.code > 1)?;
        }
    }
    same(
        "old",
        "old\n",
        fs::read_to_string(scratch.path().join("outside/old")).map_err(|e| e.to_string())?.as_str(),
    )?;
    same("new", false, scratch.path().join("outside/new").exists())?;
    // A link in the repository stays usable.
    link(&scratch, "pod.sarif", "tree/inside")?;
    fs::write(tree.join("pod.sarif"), "").map_err(|e| e.to_string())?;
    let ran = run(&["review", "pod.yaml", "--fail-on", "never", "-o", "sarif=inside"], b"", &tree)?;
    same(&format!("inside: {}", ran.stderr), 0, ran.code)
}

/// Lines of one pod are in all of them.
fn diff_of_equal_pods() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let mut list = "apiVersion: v1\nkind: List\nitems:\n- &p {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: \
                    [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}\n"
        .to_owned();
    list += &"- *p\n".repeat(4_000);
    scratch.write("list.yaml", list)?;
    let output = Command::new(binary())
        .args(["review", "-o", "diff", "--profile", "roce-sriov", "list.yaml"])
        .current_dir(scratch.path())
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let hunks = text.lines().filter(|line| line.starts_with("@@ ")).count();
    let added = text.lines().filter(|line| line.contains("NCCL_IB_HCA")).count();
    same("every pod has its variable", 4_001, added)?;
    if hunks < 4_001 { Err(format!("{hunks} hunks")) } else { Ok(()) }
}

/// A review with `-o json` in a directory.
fn json(arguments: &[&str], directory: &Path) -> Result<(Option<i32>, Value), String> {
    let output = Command::new(binary())
        .args(["review", "-o", "json"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .map_err(|e| e.to_string())?;
    let json = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    Ok((output.status.code(), json))
}

/// A file that may hold a fact is read before the others.
fn order() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let broken = |kind: &str| format!("kind: {kind}\nspec: [\n");
    for (name, text) in [
        ("a.yaml", broken("Pod")),
        ("b.yaml", broken("Node")),
        ("c.yaml", String::new()),
        ("d.yaml", broken("Job")),
        ("e.yaml", broken("ConfigMap") + "---\n" + &broken("Pod")),
        ("f.yaml", "# Node\n".to_owned()),
    ] {
        scratch.write(name, text)?;
    }
    let (code, json) = json(&["."], scratch.path())?;
    same("exit code", Some(2), code)?;
    let files = |list: &str, file: &str| -> Vec<&str> {
        let all = json[list].as_array().into_iter().flatten();
        all.filter_map(|one| one.pointer(file)?.as_str()).collect()
    };
    same(
        "errors",
        vec!["./a.yaml", "./b.yaml", "./d.yaml", "./e.yaml", "./e.yaml"],
        files("errors", "/file"),
    )?;
    same("skipped", vec!["./c.yaml", "./f.yaml"], files("skipped", "/source/file"))
}

/// Every file before the last one is decoded only as it is reviewed.
fn facts() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let pod =
        pod("p", 8, 1).replace("{name: p}", "{name: p, annotations: {fabric-admission.dev/profile: mine}}");
    for number in 0..40 {
        scratch.write(&format!("a{number}.yaml"), &pod)?;
    }
    let profile = "apiVersion: fabric-admission.dev/v1alpha1\nkind: NAME\nmetadata: {name: mine}\nspec: {base: roce-sriov}\n";
    for (kind, expected) in [
        ("FabricProfile", 40),
        ("\"Fabric\\x50rofile\"", 40),
        ("!!binary RmFicmljUHJvZmlsZQ==", 40),
        ("Other", 0),
    ] {
        scratch.write("z.yaml", profile.replace("NAME", kind))?;
        let (_, json) = json(&["."], scratch.path())?;
        let results = json["results"].as_array().into_iter().flatten();
        same(kind, expected, results.filter(|result| result["profile"] == "mine").count())?;
    }
    Ok(())
}

/// The review waits for the pipe when it has read the other files once.
fn change() -> Result<(), String> {
    let scratch = Scratch::new()?;
    // More text than stays in memory.
    for number in 0..50 {
        scratch.write(&format!("in/a{number:02}.yaml"), pod("a", 8, 240_000))?;
    }
    scratch.write("in/b.yaml", pod("b", 8, 10))?;
    scratch.write("in/c.yaml", pod("c", 8, 10))?;
    scratch.write("in/d.yaml", pod("d", 8, 10))?;
    let pipe = scratch.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).map_err(|e| e.to_string())?;
    let mut child = Command::new(binary())
        .args(["review", "-o", "json", "in", "pipe"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    // Opened as soon as the other side opens it.
    let end = File::options().write(true).open(&pipe).map_err(|e| e.to_string())?;
    scratch.write("in/b.yaml", pod("b", 4, 10))?;
    scratch.write("in/c.yaml", "")?;
    fs::remove_file(scratch.path().join("in/d.yaml")).map_err(|e| e.to_string())?;
    drop(end);
    let mut out = String::new();
    child.stdout.take().ok_or("no output")?.read_to_string(&mut out).map_err(|e| e.to_string())?;
    let code = child.wait().map_err(|e| e.to_string())?.code();
    let json: Value = serde_json::from_str(&out).map_err(|e| e.to_string())?;
    same("exit code", Some(2), code)?;
    let errors: Vec<&str> =
        json["errors"].as_array().into_iter().flatten().filter_map(|e| e["file"].as_str()).collect();
    same("errors", vec!["in/b.yaml", "in/c.yaml", "in/d.yaml"], errors)?;
    let message = json.pointer("/errors/0/message").and_then(Value::as_str).unwrap_or_default();
    same("the message", "the file changed during the review", message)?;
    let results = json["results"].as_array().into_iter().flatten();
    let changed =
        results.filter(|r| r["source"]["file"].as_str().is_some_and(|f| !f.starts_with("in/a"))).count();
    same("results of changed files", 0, changed)
}

/// The largest memory of a review in all formats at once (KiB), for so many files.
fn peak(files: usize) -> Result<u64, String> {
    let scratch = Scratch::new()?;
    for number in 0..files {
        scratch.write(&format!("in/{}/{number}.yaml", number / 1000), pod(&format!("p{number}"), 8, 1500))?;
    }
    let mut command = Command::new(binary());
    command.args(["review", "in", "--write-baseline", "baseline", "-o", "text"]);
    for format in &FORMATS[1..] {
        command.args(["-o", &format!("{format}=out.{format}")]);
    }
    let mut child =
        command.current_dir(scratch.path()).stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
    // The process is alive for as long as some of its output is not read.
    let mut out = child.stdout.take().ok_or("no output")?;
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut part) = (0, vec![0; 1 << 12]);
    while out.read(&mut part).map_err(|e| e.to_string())? > 0 {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(peak).max(peak);
    }
    child.wait().map_err(|e| e.to_string())?;
    let mut sizes = String::new();
    for format in &FORMATS[1..] {
        let length = fs::metadata(scratch.path().join(format!("out.{format}"))).map_or(0, |m| m.len());
        let _ = write!(sizes, " {format} {length}");
    }
    eprintln!("{files} files: {peak} KiB;{sizes}");
    Ok(peak)
}

/// A name, a fingerprint, an entry of the baseline and a result of SARIF, which has at most 25,000: less than the documents.
fn memory() -> Result<(), String> {
    let (once, twice) = (peak(10_000)?, peak(20_000)?);
    match twice.saturating_sub(once) / 1024 {
        0..20 => Ok(()),
        more => Err(format!("{more} MiB more for twice the files: {once} KiB, {twice} KiB")),
    }
}
