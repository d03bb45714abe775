//! `preflight` on modelled trees: healthy ones, and each with something broken. The trials are `preflight::…`.

use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::tree::{Tree, path};
use crate::support::{Scratch, golden, names, root, run};

pub(crate) fn add(suite: &mut Suite) {
    for folder in ["", "broken"] {
        for name in names(&root().join("tests/preflight").join(folder)) {
            let Some(name) = name.strip_suffix(".txt") else { continue };
            let name = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            suite.add(format!("preflight::tree::{name}"), move || output(&name));
        }
    }
}

/// The output for a tree, as text; with the exit code.
pub(crate) fn text(tree: &Tree) -> Result<String, String> {
    let scratch = Scratch::new()?;
    tree.write(scratch.path())?;
    let place = scratch.path().display().to_string();
    let ran = run(&["preflight", "--root", &place], b"", root())?;
    same("stderr", "", ran.stderr.as_str())?;
    Ok(format!("{}exit code {}\n", ran.stdout, ran.code))
}

/// The golden output of a tree. A broken one must have a verdict other than pass.
fn output(name: &str) -> Outcome {
    let text = text(&Tree::listed(name)?)?;
    let checked = name.strip_prefix("broken/").and_then(|name| name.split('_').next()).map(str::to_uppercase);
    if let Some(id) = checked {
        let found = text.lines().find(|line| line.starts_with(&id)).ok_or("no line of the check")?;
        if !found.starts_with(&format!("{id}  fail"))
            && !found.starts_with(&format!("{id}  warn"))
            && !name.contains("unknown")
        {
            return Err(format!("neither fail nor warn: {found}").into());
        }
    }
    Ok(golden(&path(name).with_extension("out"), Some(&text))?)
}
