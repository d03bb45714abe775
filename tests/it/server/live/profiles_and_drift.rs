//! `profiles list` and `discover --diff` with `--live`, on a scripted API server: a kind that the account may not read, and a
//! profile that drifted.

use super::{one_network, profile};
use crate::support::round_trip::same;
use crate::support::scripted_api_server::script::Script;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, run};
use serde_json::{Value, json};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::profiles_list_names_a_forbidden_kind", forbidden);
    suite.add("live::discover_compares_the_profiles_of_the_cluster", drifted);
}

/// Four nodes with one network, and its profile.
fn site() -> Result<Script, String> {
    let script = one_network()?;
    script.put("FabricProfile", profile("east", "x.com/east"));
    Ok(script)
}

fn live(script: &Script, args: &[&str]) -> Result<Ran, String> {
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    run(&[args, &["--live", "--kubeconfig", "kubeconfig"]].concat(), b"", scratch.path())
}

fn forbidden() -> Outcome {
    let script = site()?;
    script.refuse("Node", Some(403));
    let ran = live(&script, &["profiles", "list", "-o", "json"])?;
    same("exit code", 2, ran.code)?;
    let list: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    crate::cli::published_schemas::validate_profiles(&list)?;
    Ok(same(&ran.stdout, true, list["errors"][0].to_string().contains("Node"))?)
}

fn drifted() -> Outcome {
    let script = site()?;
    let ran = live(&script, &["discover", "--diff"])?;
    same(&format!("{}{}", ran.stdout, ran.stderr), 0, ran.code)?;
    let mut half = profile("east", "x.com/east");
    half["spec"]["rails"][0]["count"] = json!(4);
    script.put("FabricProfile", half);
    let ran = live(&script, &["discover", "--diff"])?;
    same(&format!("{}{}", ran.stdout, ran.stderr), 1, ran.code)?;
    Ok(same(&ran.stdout, true, ran.stdout.contains("profile has 4 x fabric/east"))?)
}
