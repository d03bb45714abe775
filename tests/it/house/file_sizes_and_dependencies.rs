//! Rules of the house: layers, sizes of files, dependencies, words.

use crate::house::floors;
use crate::house::layers;
use crate::support::suite::Suite;
use crate::support::{names, read, root};
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 500;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("house::the_layer_scan_sees", || Ok(layers::sees()?));
    suite.add("house::the_floor_check_sees", || Ok(floors::sees()?));
    suite.add("house::no_import_goes_up_or_in_a_cycle", || {
        none("src/ is not as its floors", floors::breaches()?)
    });
    suite.add("house::the_picture_of_the_modules_is_current", || Ok(floors::drawn()?));
    suite.add("house::the_core_names_no_shell", || none("a core module names", layers::breaches()?));
    suite.add("house::the_core_depends_on_no_io", || {
        none("not on the list of the core's dependencies", layers::other_dependencies()?)
    });
    suite.add("house::files_are_short", || none("too long", long_files()?));
    suite.add("house::flags_for_tests_are_not_shipped", || none("in the shipped binary", shipped()?));
    suite.add("house::the_shipped_binary_has_no_level_of_the_quick_build", || {
        none("[profile.dist.package] of Cargo.toml lacks", levels_of_quick_build_only()?)
    });
    suite.add("house::locked_crates", || none("Cargo.lock", locked()?));
    suite.add("house::every_dependency_has_a_reason", || none("without a reason", without_reason()?));
    suite.add("house::unsafe_code_is_forbidden", || {
        let cargo = read(&root().join("Cargo.toml"))?;
        let inherits = manifests()?.iter().all(|manifest| manifest.contains("[lints]\nworkspace = true\n"));
        if inherits && cargo.contains("[workspace.lints.rust]\nunsafe_code = \"forbid\"\n") {
            Ok(())
        } else {
            Err("the workspace does not forbid it, or a crate does not inherit its lints".into())
        }
    });
    suite.add("house::no_keys_in_the_tree", || {
        // Git ignores the development certificates that the README has people make.
        let key = |p: &PathBuf| {
            p.extension().is_some_and(|e| e == "pem" || e == "key")
                && !p.starts_with(root().join("certs/dev"))
        };
        none("a key", files(root()).iter().filter(|p| key(p)).map(|p| shown(p)).collect())
    });
    suite.add("house::one_place_names_the_crypto_provider", || {
        let sources = layers::sources(&root().join("src"));
        let naming = sources.iter().filter(|f| read(f).is_ok_and(|text| text.contains("crypto::ring")));
        let naming: Vec<String> = naming.map(|f| shown(f)).collect();
        if naming.len() == 1 { Ok(()) } else { Err(format!("expected one file: {naming:?}").into()) }
    });
    suite.add("house::messages_on_stderr_have_one_writer", || {
        // It escapes what inputs may bring.
        let sources = layers::sources(&root().join("src/cli"));
        let written = |text: &str| {
            let mut calls = text.split("writeln!(").skip(1).map(str::trim_start);
            let levels = ["\"error: ", "\"warning: ", "\"note: "];
            calls.any(|call| {
                let words = call.strip_prefix("err,").map(str::trim_start);
                words.is_some_and(|words| levels.iter().any(|level| words.starts_with(level)))
            })
        };
        let wrong = sources.iter().filter(|file| read(file).is_ok_and(|text| written(&text)));
        let wrong = wrong.map(|file| format!("{}: use cli/lines_on_stderr.rs", shown(file)));
        none("writes a message itself", wrong.collect())
    });
    suite.add("house::the_project_speaks_of_itself_alone", || none("speaks of a place outside", foreign()));
}

fn none(what: &str, found: Vec<String>) -> crate::support::suite::Outcome {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}:\n  {}", found.join("\n  ")).into()) }
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Every file of the tree; build output and what tools keep for themselves left out.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let hidden = [".ci", ".github"].map(str::to_owned);
    let hidden = hidden.into_iter().filter(|n| directory == root() && directory.join(n).is_dir());
    for name in names(directory).into_iter().chain(hidden) {
        let path = directory.join(&name);
        if path.is_symlink() || name == "target" {
            continue;
        }
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn long_files() -> Result<Vec<String>, String> {
    let mut long = Vec::new();
    for file in ["src", "tests", "benches"].iter().flat_map(|d| layers::sources(&root().join(d))) {
        let lines = read(&file)?.lines().count();
        if lines > MAX_LINES {
            long.push(format!("{}: {lines} lines, at most {MAX_LINES}", shown(&file)));
        }
    }
    Ok(long)
}

/// Crates with a level of optimization in `release` and none in `dist`, which would inherit it.
fn levels_of_quick_build_only() -> Result<Vec<String>, String> {
    let cargo = read(&root().join("Cargo.toml"))?;
    let levels = |profile: &str| -> Vec<String> {
        let table = cargo.split(&format!("[profile.{profile}.package]\n")).nth(1).unwrap_or_default();
        let lines = table.lines().take_while(|line| !line.starts_with('['));
        lines.filter_map(|line| Some(line.split_once(" = {")?.0.to_owned())).collect()
    };
    let (quick, shipped) = (levels("release"), levels("dist"));
    if quick.is_empty() || shipped.is_empty() {
        return Err("a list of levels is empty".to_owned());
    }
    Ok(quick.into_iter().filter(|name| !shipped.contains(name)).collect())
}

/// One of each, so that no two TLS stacks or patch types meet; no HTTP/2, no C library for TLS.
fn locked() -> Result<Vec<String>, String> {
    let lock = read(&root().join("Cargo.lock"))?;
    let count = |name: &str| lock.lines().filter(|l| *l == format!("name = \"{name}\"")).count();
    let most = [
        ("aws-lc-rs", 0),
        ("aws-lc-sys", 0),
        ("h2", 0),
        ("native-tls", 0),
        ("openssl", 0),
        ("openssl-sys", 0),
        ("json-patch", 1),
        ("ring", 1),
        ("rustls", 1),
    ];
    let wrong = most.iter().filter(|(name, most)| count(name) > *most);
    Ok(wrong.map(|(name, most)| format!("{name}: {} versions, at most {most}", count(name))).collect())
}

/// Hidden flags are for tests: only builds with debug assertions have them, and no build that is shipped has those.
fn shipped() -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for name in names(&root().join("src/cli")).into_iter().filter(|name| name.ends_with(".rs")) {
        let text = read(&root().join("src/cli").join(&name))?;
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("hide = true")) {
            let before = lines[..number].iter().rev().take_while(|line| !line.ends_with(','));
            if !before.clone().any(|line| *line == "#[cfg(debug_assertions)]") {
                found.push(format!("src/cli/{name}:{}", number + 1));
            }
        }
    }
    let cargo = read(&root().join("Cargo.toml"))?;
    found.extend(cargo.lines().filter(|line| line.contains("debug-assertions")).map(str::to_owned));
    Ok(found)
}

/// The manifests of all crates.
fn manifests() -> Result<Vec<String>, String> {
    [
        ".",
        "src",
        "src/cli",
        "src/engine",
        "src/engine/discover",
        "src/engine/doctor",
        "src/engine/report",
        "src/manifest",
        "src/pod_agent",
        "src/replacements/jsonpath-rust",
        "src/replacements/serde-saphyr",
    ]
    .iter()
    .map(|folder| read(&root().join(folder).join("Cargo.toml")))
    .collect()
}

fn without_reason() -> Result<Vec<String>, String> {
    let cargo = manifests()?.concat();
    let mut section = String::new();
    let mut open = 0_usize;
    let mut wrong = Vec::new();
    for line in cargo.lines() {
        let code = line.split(" #").next().unwrap_or_default();
        let inside = open > 0;
        let count = |c| code.matches(c).count();
        open = (open + count('[') + count('{')).saturating_sub(count(']') + count('}'));
        if !inside && line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
            if section.contains("dependencies.") {
                wrong.push(format!("[{section}]: write the dependency on one line, with its reason"));
            }
        } else if section.ends_with("dependencies") && !inside && code.contains('=') && !code.starts_with('#')
        {
            let reason = line.split_once(" # ").map(|(_, reason)| reason.trim());
            if reason.is_none_or(|r| r.is_empty()) {
                wrong.push(format!("[{section}] {}", code.trim()));
            }
        }
    }
    Ok(wrong)
}

/// A checkout stands alone: nothing points at the place where it was written.
fn foreign() -> Vec<String> {
    let beside = ["..", "shared"].join("/");
    let workplace = ["", "work", ""].join("/");
    let mut found = Vec::new();
    for file in files(root()) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let name = shown(&file);
        // Tests look for the shared data there, and documentation may say so where it names the variable.
        let tests = name.starts_with("tests/") || name.starts_with("benches/");
        let explains = text.contains("FABRIC_ADMISSION_SHARED");
        for (number, line) in text.lines().enumerate() {
            if line.contains(&workplace) || (line.contains(&beside) && !tests && !explains) {
                found.push(format!("{name}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    found
}
