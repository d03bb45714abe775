//! The kept inputs of `tests/fuzz`, each through its check; libFuzzer makes up others (docs/testing.md).

use crate::support::suite::{Outcome, Suite};
use crate::support::{names, read, root};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[allow(dead_code, unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
pub(crate) mod checks;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("kept_fuzz_inputs::every_target_has_inputs", || {
        let folders: BTreeSet<String> = names(&root().join("tests/fuzz/seeds")).into_iter().collect();
        let targets: BTreeSet<String> = checks::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let programs: BTreeSet<String> = names(&root().join("tests/fuzz/fuzz_targets"))
            .into_iter()
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .collect();
        assert_eq!((&folders, &programs), (&targets, &targets));
        Ok(())
    });
    suite.add("kept_fuzz_inputs::the_lock_file_has_our_dependencies", || Ok(locked()?));
    for (name, check) in checks::TARGETS {
        suite.add(format!("kept_fuzz_inputs::{name}"), move || replay(name, *check));
    }
}

/// The fuzz targets are a workspace of their own, which the ordinary build does not lock.
fn locked() -> Result<(), String> {
    let lock = read(&root().join("tests/fuzz/Cargo.lock"))?;
    for (package, manifest) in
        [("fabric-admission-shell", "src/Cargo.toml"), ("fabric-admission-engine", "src/engine/Cargo.toml")]
    {
        let head = format!("\n[[package]]\nname = \"{package}\"\n");
        let entry = lock.split_once(&head).and_then(|(_, rest)| rest.split("\n[[package]]").next());
        let entry = entry.ok_or_else(|| format!("tests/fuzz/Cargo.lock has no {package}"))?;
        let manifest = read(&root().join(manifest))?;
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let lines = dependencies.lines().take_while(|line| !line.starts_with('['));
        let names =
            lines.filter_map(|line| Some(line.split_once('=')?.0.trim())).filter(|n| !n.starts_with('#'));
        let missing: Vec<&str> = names
            .filter(|name| {
                let listed =
                    |line: &str| line.trim().trim_matches(['"', ',']).split(' ').next() == Some(name);
                !entry.lines().any(listed)
            })
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "tests/fuzz/Cargo.lock lacks {missing:?} of {package}; run `cargo check --manifest-path tests/fuzz/Cargo.toml`"
            ));
        }
    }
    Ok(())
}

fn replay(target: &str, check: checks::Check) -> Outcome {
    let folder = root().join("tests/fuzz/seeds").join(target);
    let files = names(&folder);
    assert!(files.len() > 3, "{} inputs", files.len());
    for file in files {
        let input = std::fs::read(folder.join(&file))?;
        assert!(
            input.len() < 4 << 10 && std::str::from_utf8(&input).is_ok(),
            "{file}: texts of less than 4 KiB are kept"
        );
        let checked = catch_unwind(AssertUnwindSafe(|| check(&input)));
        checked.map_err(|_| format!("{target}/{file} fails, see above"))?;
    }
    Ok(())
}
