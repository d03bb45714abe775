//! The table of faults in docs/testing.md names trials that exist, and every trial of a living cluster; what
//! docs/reliability.md and docs/security.md promise names trials and unit tests that exist. Paths on the pages for
//! contributors exist.

use crate::support::suite::Suite;
use crate::support::{read, root};
use std::collections::BTreeSet;

/// Adds the trial; after all others, which it knows by name.
pub(crate) fn add(suite: &mut Suite) {
    let trials = suite.names();
    let known = trials.clone();
    suite.add("docs::every_promise_names_its_trials", move || {
        for page in ["docs/reliability.md", "docs/security.md"] {
            promised(page, &known)?;
        }
        Ok(())
    });
    suite.add("docs::every_promise_names_its_unit_tests", || {
        for page in ["docs/reliability.md", "docs/security.md"] {
            unit_tests(page)?;
        }
        Ok(())
    });
    suite.add("docs::every_path_for_contributors_exists", || {
        for (page, least) in [("docs/design.md", 30), ("CONTRIBUTING.md", 2)] {
            paths(page, least)?;
        }
        Ok(())
    });
    suite.add("docs::every_fault_names_its_trials", move || Ok(agree(&trials)?));
}

/// Names in the last column of the table.
fn named(page: &str) -> Result<BTreeSet<&str>, String> {
    let (_, table) =
        page.split_once("## Faults of the API server").ok_or("docs/testing.md has no such heading")?;
    let rows = table.lines().skip_while(|l| !l.starts_with('|')).take_while(|l| l.starts_with('|')).skip(2);
    let last = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    Ok(last.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect())
}

/// A trial by its name, or several that differ in what follows it.
fn is(trial: &str, name: &str) -> bool {
    trial.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Every name on a page of promises stands for a trial. A name is `suite::name`, which stands for all of them.
fn promised(page: &str, trials: &BTreeSet<String>) -> Result<(), String> {
    let text = read(&root().join(page))?;
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let names: BTreeSet<&str> =
        quoted.filter(|name| name.contains("::") && !name.contains(' ') && *name != "suite::name").collect();
    // Parts of the end-to-end tests need more than others.
    let parts = trials.iter().any(|t| t.starts_with("e2e::") && t.contains("::needs_"));
    let skipped = |name: &str| name.starts_with("e2e::") && parts;
    let unknown: Vec<&&str> =
        names.iter().filter(|name| !skipped(name) && !trials.iter().any(|t| is(t, name))).collect();
    if names.len() > 20 && unknown.is_empty() {
        return Ok(());
    }
    Err(format!("{page} has {} names; these are not trials: {unknown:?}", names.len()))
}

/// Every unit test that a page names on one line with its file, as in `name` in `src/file.rs`, is in that file.
fn unit_tests(page: &str) -> Result<(), String> {
    let text = read(&root().join(page))?;
    let mut named = 0;
    for line in text.lines() {
        let parts: Vec<&str> = line.split('`').collect();
        for three in parts.windows(3) {
            let &[name, " in ", file] = three else { continue };
            if !file.starts_with("src/") {
                continue;
            }
            named += 1;
            if !read(&root().join(file))?.contains(&format!("fn {name}(")) {
                return Err(format!("{page}: {file} has no test {name}"));
            }
        }
    }
    if named > 0 { Ok(()) } else { Err(format!("{page} names no unit test")) }
}

/// Every path in backticks on a page exists, in the repository or, as the pages shorten it, in `src/` or `src/engine/`. The
/// page has `least` of them or more.
fn paths(page: &str, least: usize) -> Result<(), String> {
    let bases = [root().to_owned(), root().join("src"), root().join("src/engine")];
    let text = read(&root().join(page))?;
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths: BTreeSet<&str> = quoted
        .filter(|quoted| {
            quoted.split_once('/').is_some_and(|(first, _)| {
                let folder = !first.is_empty() && bases.iter().any(|base| base.join(first).is_dir());
                folder || quoted.ends_with(".rs") || quoted.ends_with(".md")
            })
        })
        .collect();
    // `GROUP` and `fabNNN_…` stand for any name.
    let placeholder = |part: &str| part.contains(|c: char| c.is_ascii_uppercase() || c == '…');
    let exists = |path: &str| {
        let known: std::path::PathBuf = path.split('/').take_while(|part| !placeholder(part)).collect();
        bases.iter().any(|base| base.join(&known).exists())
    };
    let lost: Vec<&&str> = paths.iter().filter(|path| !exists(path)).collect();
    if paths.len() >= least && lost.is_empty() {
        return Ok(());
    }
    Err(format!("{page} has {} paths; these do not exist: {lost:?}", paths.len()))
}

fn agree(trials: &BTreeSet<String>) -> Result<(), String> {
    let page = read(&root().join("docs/testing.md"))?;
    let named = named(&page)?;
    let part = |name: &&str| name.starts_with("e2e::") && trials.contains("e2e::needs_e2e");
    let unknown: Vec<&str> =
        named.iter().copied().filter(|name| !part(name) && !trials.iter().any(|t| is(t, name))).collect();
    let living = |trial: &&String| {
        (trial.starts_with("live::") && !trial.starts_with("live::script::"))
            || trial.starts_with("e2e::live_")
    };
    let missing: Vec<&String> =
        trials.iter().filter(living).filter(|t| !named.iter().any(|name| is(t, name))).collect();
    if unknown.is_empty() && missing.is_empty() {
        return Ok(());
    }
    Err(format!("docs/testing.md names trials that do not exist: {unknown:?}; it does not name: {missing:?}"))
}
