//! Symbolic links that another person's change may bring: what is written, what is read, and which configuration
//! counts. Links that are named as inputs are in `many_files`.

use crate::support::monitor::Monitor;
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, read, run};
use std::os::unix::fs::{PermissionsExt, symlink};

const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n";
/// A pod with an error.
const BAD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {fabric-admission.dev/profile: none-such}}\nspec: \
                   {containers: [{name: c, image: i}]}\n";
const CONFIG: &str = ".fabric-admission.yaml";

pub(crate) fn add(suite: &mut Suite) {
    suite.add("links_of_others::only_the_owner_may_read_the_key_of_a_certificate", key_of_certificate);
    suite.add("links_of_others::no_output_follows_a_link_out_of_the_repository", outputs);
    suite.add("links_of_others::a_linked_file_is_judged_under_each_configuration", configurations);
    suite.add("links_of_others::the_directory_of_git_is_outside", directory_of_git);
    suite.add("links_of_others::baselines_and_facts_outside_are_errors", baselines_and_facts);
    suite.add("links_of_others::the_facts_of_a_monitor_are_of_the_repository", || Ok(facts_of_monitor()?));
    suite.add("links_of_others::no_termination_message_leaves_the_repository", termination_messages);
    suite.add("links_of_others::a_case_outside_of_the_repository_is_an_error", case_outside);
}

fn link(scratch: &Scratch, target: &str, name: &str) -> Result<(), String> {
    symlink(target, scratch.path().join(name)).map_err(|e| format!("{name}: {e}"))
}

fn outputs() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "[core]\n")?;
    scratch.write("tree/in/pod.yaml", POD)?;
    scratch.write("tree/own.txt", "old")?;
    scratch.write("outside/file", "kept")?;
    link(&scratch, "../outside/file", "tree/file")?;
    link(&scratch, "../outside/new", "tree/new")?;
    link(&scratch, "file", "tree/chain")?;
    link(&scratch, "../outside", "tree/directory")?;
    link(&scratch, ".git/hook", "tree/hook")?;
    link(&scratch, "own.txt", "tree/inside")?;
    let at = |arguments: &[&str]| run(arguments, b"", &scratch.path().join("tree"));
    let commands: [(&[&str], &str); 8] = [
        (&["review", "in", "-o"], "sarif="),
        (&["review", "in", "-o"], "text="),
        (&["review", "in", "-o"], "yaml="),
        (&["review", "in", "--write-baseline"], ""),
        (&["audit", "--cluster", "in", "-o"], "json="),
        (&["audit", "--cluster", "in", "-o"], "text="),
        (&["audit", "--cluster", "in", "--write-baseline"], ""),
        (&["review", "in", "-o", "json=own.json", "-o"], "sarif="),
    ];
    for (command, format) in commands {
        for name in ["file", "new", "chain", "directory/file", "directory/new", "hook"] {
            let value = format!("{format}{name}");
            let ran = at(&[command, &[&*value]].concat())?;
            same(&format!("{command:?} {value}: {}", ran.stderr), true, ran.code >= 2)?;
            same(&ran.stderr, true, ran.stderr.contains("the symbolic link leads to "))?;
        }
        // Paths without such a link are written as before.
        for name in ["inside", "../outside/named", "/dev/null", "/dev/stdout"] {
            let value = format!("{format}{name}");
            let ran = at(&[command, &[&*value]].concat())?;
            same(&format!("{command:?} {value}: {}", ran.stderr), true, ran.code < 2)?;
        }
    }
    // Names of certificates cannot be given, so the links have those names.
    for (name, target) in [("ca", "file"), ("tls", "new")] {
        scratch.write(&format!("tree/{name}/empty"), "")?;
        link(&scratch, &format!("../../outside/{target}"), &format!("tree/{name}/tls.key"))?;
        let ran = at(&["certs", "dev", "--out", name])?;
        same(&format!("certificates: {}", ran.stderr), 2, ran.code)?;
        same(&ran.stderr, true, ran.stderr.contains("the symbolic link leads to "))?;
    }
    same("certificates in a linked directory", 2, at(&["certs", "dev", "--out", "directory"])?.code)?;
    same("the file outside", "kept", &*read(&scratch.path().join("outside/file"))?)?;
    same("a new file outside", false, scratch.path().join("outside/new").exists())?;
    same("a file of Git", false, scratch.path().join("tree/.git/hook").exists())?;
    same("the file inside", false, read(&scratch.path().join("tree/own.txt"))? == "old")?;
    same("a file that is named", true, scratch.path().join("outside/named").exists())?;
    // Without a repository, links belong to the user.
    link(&scratch, "outside/file", "mine")?;
    let ran = run(&["review", "tree/in", "-o", "sarif=mine"], b"", scratch.path())?;
    same(&ran.stderr, true, ran.code < 2)?;
    Ok(same("the user's file", false, read(&scratch.path().join("outside/file"))? == "kept")?)
}

/// A key that replaces a file which others may read.
fn key_of_certificate() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tls.key", "old")?;
    let key = scratch.path().join("tls.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644))?;
    for _ in 0..2 {
        let ran = run(&["certs", "dev", "--out", "."], b"", scratch.path())?;
        same(&ran.stderr, 0, ran.code)?;
        same("mode", 0o600, std::fs::metadata(&key)?.permissions().mode() & 0o777)?;
        same("a key", true, read(&key)?.starts_with("-----BEGIN PRIVATE KEY-----"))?;
        std::fs::remove_file(&key)?;
    }
    Ok(())
}

/// A link in a directory with a lenient configuration takes no file away from another directory.
fn configurations() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write(".git", "gitdir: elsewhere\n")?;
    scratch.write("base/x.txt", BAD)?;
    scratch.write(&format!("prod/{CONFIG}"), "failOn: error\n")?;
    link(&scratch, "../base/x.txt", "prod/x.yaml")?;
    let review = || run(&["review", "."], b"", scratch.path());
    same("exit code", 1, review()?.code)?;
    scratch.write(&format!("aaa/{CONFIG}"), "failOn: never\n")?;
    link(&scratch, "../base/x.txt", "aaa/x.yaml")?;
    link(&scratch, "../base/x.txt", "aaa/y.yaml")?;
    let both = review()?;
    same(&format!("exit code with another link: {}", both.stdout), 1, both.code)?;
    for (name, is_read) in [("aaa/x.yaml", true), ("aaa/y.yaml", false), ("prod/x.yaml", true)] {
        same(name, is_read, both.stdout.contains(name))?;
    }
    Ok(())
}

/// A case that is not tested must not look like a success.
fn case_outside() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "")?;
    scratch.write("tree/cases/a.yaml", POD)?;
    scratch.write("outside.yaml", POD)?;
    let test = |more: &[&str]| {
        run(&[&["profiles", "test", "cases"], more].concat(), b"", &scratch.path().join("tree"))
    };
    same("exit code", 0, test(&["--update"])?.code)?;
    same("exit code", 0, test(&[])?.code)?;
    link(&scratch, "../../outside.yaml", "tree/cases/d.yaml")?;
    let ran = test(&[])?;
    same(&ran.stderr, true, ran.stderr.contains("d.yaml:1:1: the symbolic link leads to "))?;
    Ok(same("exit code with the link", 2, ran.code)?)
}

/// A link to a terminal would wait for input without end. The file here is one that the command could read.
fn baselines_and_facts() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "")?;
    scratch.write("tree/pod.yaml", POD)?;
    scratch.write("facts.json", "{}")?;
    let at = |arguments: &[&str]| run(arguments, b"", &scratch.path().join("tree"));
    same("exit code", 0, at(&["review", "pod.yaml", "--write-baseline", "../baseline.json"])?.code)?;
    link(&scratch, "../baseline.json", "tree/baseline.json")?;
    link(&scratch, "../facts.json", "tree/facts.json")?;
    same("exit code", 0, at(&["review", "pod.yaml", "--baseline", "../baseline.json"])?.code)?;
    for arguments in [
        &["review", "pod.yaml", "--baseline", "baseline.json"][..],
        &["estimate", "--parameters", "7e9", "--compute", "1s", "--facts", "facts.json"],
    ] {
        let ran = at(arguments)?;
        same(&format!("exit code of {arguments:?}: {}", ran.stderr), 2, ran.code)?;
        same(&ran.stderr, true, ran.stderr.contains("the symbolic link leads to "))?;
    }
    Ok(())
}

fn facts_of_monitor() -> Result<(), String> {
    for (facts, is_read) in [("../out.json", true), ("in.json", true), ("out.json", false), ("secret", false)]
    {
        let scratch = Scratch::new()?;
        scratch.write("tree/.git/config", "")?;
        scratch.write("tree/own.json", "{\"version\": 1, \"verdict\": \"warn\"}")?;
        scratch.write("out.json", "{\"version\": 1, \"verdict\": \"warn\"}")?;
        scratch.write("secret", "hidden")?;
        link(&scratch, "../out.json", "tree/out.json")?;
        link(&scratch, "../secret", "tree/secret")?;
        link(&scratch, "own.json", "tree/in.json")?;
        let path = scratch.path().join("tree").join(facts).display().to_string();
        let monitor = Monitor::start(scratch, &["--facts", &path])?;
        let metrics = monitor.get("/metrics")?;
        same(&format!("{facts}: {metrics}"), is_read, metrics.contains("warn"))?;
        if !is_read {
            let words = "the symbolic link leads to ";
            let line = match monitor.early.contains(words) {
                true => monitor.early.clone(),
                false => monitor.line(words)?,
            };
            same(&line, false, line.contains("hidden") || metrics.contains("hidden"))?;
        }
    }
    Ok(())
}

fn termination_messages() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "[core]\n")?;
    scratch.write("tree/own", "old")?;
    scratch.write("outside/file", "kept")?;
    scratch.write("root/a", "")?;
    link(&scratch, "../outside/file", "tree/file")?;
    link(&scratch, "../outside/new", "tree/new")?;
    link(&scratch, "../outside", "tree/directory")?;
    link(&scratch, ".git/config", "tree/git")?;
    link(&scratch, "own", "tree/inside")?;
    let at = |path: &str| {
        let arguments = ["preflight", "--root", "../root", "--termination-message", path];
        run(&arguments, b"", &scratch.path().join("tree"))
    };
    for path in ["file", "new", "directory/file", "directory/new", "git"] {
        let ran = at(path)?;
        // The log has the report, so the container does not fail for this.
        same(&format!("exit code of {path}"), 0, ran.code)?;
        let words = format!("warning: cannot write {path}: the symbolic link leads to ");
        same(&format!("{path}: {}", ran.stderr), true, ran.stderr.contains(&words))?;
    }
    same("the file outside", "kept", &*read(&scratch.path().join("outside/file"))?)?;
    same("a file of Git", "[core]\n", &*read(&scratch.path().join("tree/.git/config"))?)?;
    same("a new file outside", false, scratch.path().join("outside/new").exists())?;
    for (path, written) in [
        ("inside", "tree/own"),
        ("plain", "tree/plain"),
        ("../outside/named", "outside/named"),
        ("../outside/file", "outside/file"),
    ] {
        let ran = at(path)?;
        same(&format!("{path}: {}", ran.stderr), false, ran.stderr.contains("cannot write"))?;
        let text = read(&scratch.path().join(written))?;
        same(&format!("{path}: {text}"), true, text.contains("preflight: "))?;
    }
    Ok(())
}

/// The directory `.git` holds credentials of remotes.
fn directory_of_git() -> Outcome {
    let scratch = Scratch::new()?;
    scratch.write("tree/.git/config", "url: [hidden\n")?;
    scratch.write("tree/a/pod.yaml", POD)?;
    scratch.write("tree/b/pod.yaml", POD)?;
    scratch.write(&format!("tree/b/{CONFIG}"), "cluster: [../.git/config]\n")?;
    link(&scratch, "../.git/config", "tree/a/x.yaml")?;
    link(&scratch, ".git", "tree/git")?;
    let tree = scratch.path().join("tree");
    for named in ["a", "a/x.yaml", "git/config", "b"] {
        let ran = run(&["review", named], b"", &tree)?;
        same(&format!("exit code of {named}: {}", ran.stderr), 2, ran.code)?;
        let Ran { stdout, stderr, .. } = ran;
        same(&stderr, true, stderr.contains("outside of the "))?;
        same("shows the file", false, (stdout + &stderr).contains("hidden"))?;
    }
    Ok(())
}
