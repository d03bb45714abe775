//! What `why` says of profiles beside the pod's own: those of its nodes that hold as well, and those that are open to all.

use crate::support::round_trip::same;
use crate::support::suite::Suite;
use crate::support::{read, root, run};
use serde_json::Value;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("also_held::why_names_the_profiles_of_the_nodes", || Ok(also_held()?));
    suite.add("also_held::why_names_the_profiles_that_every_namespace_can_use", || Ok(open()?));
}

const STRICTER: &str = "resolve/a-laxer-profile-that-is-named-lifts-nothing.yaml";

fn also_held() -> Result<(), String> {
    let field = root().join("tests/field");
    let text = run(&["why", STRICTER], b"", &field)?.stdout;
    if !text.contains("also holds  what profile strict of the pod's nodes requires and forbids") {
        return Err(text);
    }
    let json = run(&["why", "-o", "json", STRICTER], b"", &field)?.stdout;
    let json: Value = serde_json::from_str(&json).map_err(|e| e.to_string())?;
    same("alsoHeld", &serde_json::json!(["strict"]), &json["results"][0]["why"]["alsoHeld"])
}

/// A profile with `namespaces: {}` is meant for every namespace.
fn open() -> Result<(), String> {
    let words = "profiles without spec.namespaces, which every namespace can use\n     ";
    let text = run(&["why", STRICTER], b"", &root().join("tests/field"))?.stdout;
    let files =
        read(&root().join("tests/field").join(STRICTER))?.replace("  env:", "  namespaces: {}\n  env:");
    let meant = run(&["why", "-"], files.as_bytes(), root())?.stdout;
    match (text.contains(&format!("{words}lax, strict\n")), meant.contains(&format!("{words}lax\n"))) {
        (true, true) => Ok(()),
        _ => Err(format!("{text}\n{meant}")),
    }
}
