//! `preflight` on modelled trees: healthy ones, and each with something broken. The trials are `preflight::…`.

use crate::cli::published_schemas::validate_preflight;
use crate::support::file_trees::{Entry, Tree, path};
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, golden, names, root, run};
use fabric_admission::pod_agent::{Options, Root, read_everything};
use fabric_admission::preflight::check_outcome::Verdict;
use fabric_admission::preflight::checks::CHECKS;
use fabric_admission::preflight::preflight_report::Report;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(crate) fn add(suite: &mut Suite) {
    for name in trees() {
        suite.add(format!("preflight::tree::{name}"), {
            let name = name.clone();
            move || output(&name)
        });
        suite.add(format!("preflight::json_fits_its_schema::{name}"), {
            let name = name.clone();
            move || json(&name)
        });
        if name.starts_with("broken/") {
            suite.add(format!("preflight::junk::{name}"), move || junk(&name));
        }
    }
    suite.add("preflight::gid_rows_beyond_the_limit_are_unknown", || Ok(beyond_the_limit()?));
    suite.add("preflight::every_check_has_a_broken_tree", || {
        let trees = trees();
        let without = CHECKS.iter().filter(|check| {
            let start = format!("broken/{}_", check.id.to_lowercase());
            !trees.iter().any(|name| name.starts_with(&start))
        });
        let without: Vec<&str> = without.map(|check| check.id).collect();
        if without.is_empty() { Ok(()) } else { Err(format!("no broken tree: {without:?}").into()) }
    });
}

/// Names of all listings: healthy trees, and `broken/…`.
pub(crate) fn trees() -> Vec<String> {
    let of = |folder: &str, prefix: &str| {
        let names = names(&root().join(folder)).into_iter();
        let listed = names.filter_map(|name| name.strip_suffix(".txt").map(|name| format!("{prefix}{name}")));
        listed.collect::<Vec<_>>()
    };
    [of("tests/preflight", ""), of("tests/preflight/broken", "broken/")].concat()
}

/// Tables beyond 16,384 rows are not read, and say nothing about their devices.
fn beyond_the_limit() -> Result<(), String> {
    let mut tree = Tree::listed("roce-vf")?;
    let own = |path: &str| tree.entries.get(path).cloned().ok_or(format!("no {path}"));
    let port = "sys/class/infiniband/mlx5_0/ports/1";
    let files =
        ["state", "phys_state", "rate", "link_layer", "gids/3", "gid_attrs/types/3", "gid_attrs/ndevs/3"];
    let files: Vec<(&str, Entry)> = files
        .iter()
        .map(|file| Ok((*file, own(&format!("{port}/{file}"))?)))
        .collect::<Result<_, String>>()?;
    let empty = own(&format!("{port}/gids/4"))?;
    // The eight devices of the tree have 40 rows.
    for number in 0..64 {
        let port = format!("sys/class/infiniband/mlx5_x{number:02}/ports/1");
        for row in 0..256 {
            tree.put(&format!("{port}/gids/{row}"), empty.clone());
        }
        for (file, entry) in &files {
            tree.put(&format!("{port}/{file}"), entry.clone());
        }
        let name = Entry::File(format!("mlx5_x{number:02}\n").into_bytes());
        tree.put(&format!("sys/class/infiniband_verbs/uverbs{}/ibdev", 100 + number), name);
        tree.put(&format!("dev/infiniband/uverbs{}", 100 + number), Entry::File(Vec::new()));
    }
    let text = text(&tree)?;
    let line = text.lines().find(|line| line.starts_with("PF202")).unwrap_or_default();
    let expected = "mlx5_x63:1: preflight reads at most 16384 GID rows";
    if !line.starts_with("PF202  unknown") || !line.contains(expected) || line.contains("mlx5_x62") {
        return Err(format!("{expected:?} is not all of {line:?} in\n{text}"));
    }
    Ok(())
}

/// The id of the check that a broken tree is for.
fn checked(name: &str) -> Option<String> {
    name.strip_prefix("broken/").and_then(|name| name.split('_').next()).map(str::to_uppercase)
}

/// What the binary prints for a tree, its exit code, and what it writes.
pub(crate) fn text(tree: &Tree) -> Result<String, String> {
    let scratch = Scratch::new()?;
    tree.write(scratch.path())?;
    let place = scratch.path().display().to_string();
    let ran = run(&["preflight", "--root", &place], b"", root())?;
    let conf = fs::read_to_string(scratch.path().join("fabric/nccl.conf"));
    let conf = conf.map(|conf| format!("--- nccl.conf\n{conf}")).unwrap_or_default();
    let log = if ran.stderr.is_empty() { String::new() } else { format!("--- stderr\n{}", ran.stderr) };
    let text = format!("{}exit code {}\n{log}{conf}", ran.stdout, ran.code);
    Ok(text.replace(&place, ""))
}

/// The golden output of a tree. In a broken one the check that the tree is for must not pass.
fn output(name: &str) -> Outcome {
    let text = text(&Tree::listed(name)?)?;
    if let Some(id) = checked(name) {
        let found = text.lines().find(|line| line.starts_with(&id)).ok_or("no line of the check")?;
        let wanted: &[&str] = if name.contains("unknown") { &["unknown"] } else { &["fail", "warn"] };
        if !wanted.iter().any(|verdict| found.starts_with(&format!("{id}  {verdict}"))) {
            return Err(format!("not {wanted:?}: {found}").into());
        }
    }
    // The files below belong to healthy trees; a broken one shows its report only.
    let shown = if checked(name).is_some() { text.split("--- ").next().unwrap_or_default() } else { &text };
    Ok(golden(&path(name).with_extension("out"), Some(shown))?)
}

/// The JSON report of a tree against its published schema; it has the checks of the text in the same order.
fn json(name: &str) -> Outcome {
    let scratch = Scratch::new()?;
    Tree::listed(name)?.write(scratch.path())?;
    let place = scratch.path().display().to_string();
    let preflight = |more: &[&str]| run(&[&["preflight", "--root", &place], more].concat(), b"", root());
    let report: Value =
        serde_json::from_str(&preflight(&["-o", "json"])?.stdout).map_err(|e| e.to_string())?;
    validate_preflight(&report)?;
    let checks = report["checks"].as_array().ok_or("no list of checks")?;
    let of = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let listed = checks.iter().map(|check| format!("{}  {}", of(check, "id"), of(check, "verdict")));
    let text = preflight(&[])?.stdout;
    let lines = text.lines().filter(|line| line.starts_with("PF"));
    let printed = lines.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join("  "));
    Ok(same("checks", listed.collect::<Vec<_>>(), printed.collect())?)
}

fn verdicts(directory: &Path) -> BTreeMap<String, Verdict> {
    let seen = read_everything(&Options { root: Root::new(directory), expect: None });
    Report::run_all_checks(&seen).checks.into_iter().map(|check| (check.id, check.verdict)).collect()
}

/// Replaces files of a broken tree, one at a time, by what a file may turn out to be. Nothing may panic, and no check that
/// did not pass may pass for it.
fn junk(name: &str) -> Outcome {
    let tree = Tree::listed(name)?;
    let scratch = Scratch::new()?;
    tree.write(scratch.path())?;
    let before = verdicts(scratch.path());
    // Device files and old segments are there or not; the environment is not a file in a pod.
    let read = |path: &str| !path.starts_with("dev/") && path != ".preflight/environment" && path != "fabric";
    let files = tree.entries.iter().filter(|(path, entry)| read(path) && matches!(entry, Entry::File(_)));
    let files: Vec<_> = files.collect();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(4_usize);
    let step = (files.len() / cases).max(1);
    let start = name.len() % step;
    for (number, (path, entry)) in files.into_iter().enumerate().skip(start).step_by(step) {
        let place = scratch.path().join(path);
        let Entry::File(content) = entry else { continue };
        for kind in 0..6 {
            fs::remove_file(&place)?;
            match kind {
                0 => {}
                1 => fs::write(&place, b"")?,
                2 => fs::write(&place, [0xff, 0, b'\n', 0x1b, b'['].repeat(50 + number % 7))?,
                3 => fs::write(&place, b"4: ACTIVE\n".repeat(20_000))?,
                4 => fs::create_dir(&place)?,
                _ => Tree::parse("pipe : pipe\n")?.write(place.parent().ok_or("no parent")?)?,
            }
            if kind == 5 {
                fs::rename(place.with_file_name("pipe"), &place)?;
            }
            let after = verdicts(scratch.path());
            if kind == 4 {
                fs::remove_dir(&place)?
            } else if kind > 0 {
                fs::remove_file(&place)?
            }
            fs::write(&place, content)?;
            for (id, verdict) in &after {
                let was = before.get(id).copied().unwrap_or(Verdict::Off);
                if *verdict == Verdict::Pass && was > Verdict::Pass {
                    return Err(format!("{id} was {was:?} and passes with junk {kind} in {path}").into());
                }
            }
        }
    }
    Ok(())
}
