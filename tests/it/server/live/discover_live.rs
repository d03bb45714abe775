//! `discover --live` with a scripted API server: pages, 410, forbidden kinds, failing lists.

use super::one_network;
use crate::support::round_trip::same;
use crate::support::scripted_api_server::script::Script;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, run};
use serde_json::{Value, json};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::discover_reads_a_cluster", pages);
    suite.add("live::discover_begins_an_expired_list_again", expired);
    suite.add("live::discover_withholds_what_a_forbidden_kind_would_show", forbidden);
    suite.add("live::discover_without_nodes", no_nodes);
    suite.add("live::discover_ends_with_an_error_if_a_list_fails", failing);
}

fn discover(script: &Script) -> Result<(Ran, Value), String> {
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    let ran = run(&["discover", "--live", "--kubeconfig", "kubeconfig", "-o", "json"], b"", scratch.path())?;
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    crate::cli::published_schemas::validate_discover(&value)?;
    Ok((ran, value))
}

fn rails(value: &Value) -> &Value {
    &value["profiles"][0]["profile"]["spec"]["rails"]
}

fn pages() -> Outcome {
    let script = one_network()?;
    script.page(1);
    let (ran, value) = discover(&script)?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)?;
    same("rails", &json!([{"network": "fabric/east", "resource": "x.com/east", "count": 8}]), rails(&value))?;
    Ok(same("nodes", 4, value["profiles"][0]["nodes"].as_array().map_or(0, Vec::len))?)
}

fn expired() -> Outcome {
    let script = one_network()?;
    let (_, once) = discover(&script)?;
    script.page(1);
    script.expire_pages(2);
    let (ran, again) = discover(&script)?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)?;
    Ok(same("result", once, again)?)
}

fn forbidden() -> Outcome {
    let script = one_network()?;
    script.refuse("NetworkAttachmentDefinition", Some(403));
    let (ran, value) = discover(&script)?;
    same("exit code", 2, ran.code)?;
    same("profiles", 0, value["profiles"].as_array().map_or(1, Vec::len))?;
    let reason = value["unknown"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("NetworkAttachmentDefinitions could not be read"), "{reason}");
    // A kind that this fabric does not need.
    script.refuse("NetworkAttachmentDefinition", None);
    script.refuse("IPoIBNetwork", Some(403));
    let (ran, value) = discover(&script)?;
    same("exit code", 2, ran.code)?;
    same("profiles", 1, value["profiles"].as_array().map_or(0, Vec::len))?;
    Ok(same("unread", "IPoIBNetwork", value["unread"][0]["kind"].as_str().unwrap_or_default())?)
}

fn no_nodes() -> Outcome {
    let script = one_network()?;
    script.refuse("Node", Some(403));
    let (ran, value) = discover(&script)?;
    same("exit code", 2, ran.code)?;
    same("profiles", 0, value["profiles"].as_array().map_or(1, Vec::len))?;
    assert!(ran.stderr.contains("no profile: the nodes could not be read"), "{}", ran.stderr);
    Ok(())
}

fn failing() -> Outcome {
    let script = one_network()?;
    script.refuse("SriovNetworkNodePolicy", Some(500));
    let (ran, value) = discover(&script)?;
    same("exit code", 3, ran.code)?;
    Ok(same("unread", "SriovNetworkNodePolicy", value["unread"][0]["kind"].as_str().unwrap_or_default())?)
}
