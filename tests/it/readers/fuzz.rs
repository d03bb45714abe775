//! The kept inputs of `tests/fuzz`, each through its check; libFuzzer makes up others (docs/testing.md).

use crate::support::suite::{Outcome, Suite};
use crate::support::{names, root};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[allow(dead_code, unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
pub(crate) mod checks;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("fuzz::every_target_has_inputs", || {
        let folders: BTreeSet<String> = names(&root().join("tests/fuzz/seeds")).into_iter().collect();
        let targets: BTreeSet<String> = checks::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let programs: BTreeSet<String> = names(&root().join("tests/fuzz/fuzz_targets"))
            .into_iter()
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .collect();
        assert_eq!((&folders, &programs), (&targets, &targets));
        Ok(())
    });
    for (name, check) in checks::TARGETS {
        suite.add(format!("fuzz::{name}"), move || replay(name, *check));
    }
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
