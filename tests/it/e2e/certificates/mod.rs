//! Certificates that the server makes for itself, against a real API server.

mod cert_manager;
mod changed_by_others;
mod gitops;
mod load;
mod replicas_start_at_once;
mod rights_and_clocks;
mod rotation;
mod site;

use super::support::plane::Plane;
use super::trial;
use crate::support::release_under_test;
use crate::support::suite::{Outcome, Suite};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use site::{QUICK, Site, metric};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    let mut add = |name: &str, test| trial(suite, assets, &format!("certificates_{name}"), test);
    add("out_of_nothing", out_of_nothing);
    add("leave_no_key_in_a_file", cert_manager::keys);
    add("of_three_that_start_at_once_have_one_ca", replicas_start_at_once::starts);
    add("rotate_under_creates_without_a_failed_call", rotation::under_creates);
    add("survive_a_death_in_every_state", rotation::deaths);
    add("changed_cabundles_are_put_back", changed_by_others::of_bundles);
    add("fights_are_reported_and_slowed_down", changed_by_others::fight);
    add("survive_a_spoilt_or_deleted_secret", changed_by_others::of_the_secret);
    add("come_back_when_nobody_was_left", changed_by_others::nobody_left);
    add("wait_for_rights", rights_and_clocks::rights);
    add("of_absent_configurations_are_ready", rights_and_clocks::absent);
    add("ask_for_no_other_rights", cert_manager::rights);
    add("belong_to_no_gitops_tool", gitops::apply);
    add("of_cert_manager_are_read_and_verified", cert_manager::by_cert_manager);
    let clocks = "certificates_bear_clocks_that_are_ten_minutes_off";
    // `--tls-test-clock-offset` is in no binary that is shipped (house::shipped).
    if release_under_test() {
        suite.cannot("only a debug build has the option for another clock", &format!("e2e::{clocks}"));
    } else {
        trial(suite, assets, clocks, rights_and_clocks::clocks);
    }
}

/// A number that the environment may set.
fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// No certificate, no caBundle, no Secret: a replica makes all three, and the API server believes it.
fn out_of_nothing(plane: &Plane) -> Outcome {
    let site = Site::new(plane)?;
    assert!(site.create().is_err_and(|e| e.contains("failed calling webhook")));
    let server = site.replica(&[&QUICK[..], &["--tls-ca-out", "ca.out"]].concat())?;
    site.front.set(&[&server]);
    let took = site.ready(&server)?;
    site.front.set(&[&server]);
    site.create()?;
    eprintln!("ready after {took:?}");
    let secret = site.secret()?;
    assert_eq!(secret["metadata"]["annotations"]["fabric-admission.dev/phase"], "steady", "{secret}");
    assert_eq!(secret["data"].as_object().map(|d| d.len()), Some(2), "{secret}");
    assert_eq!(metric(&server, "cabundle_in_sync")?, 2);
    assert_eq!(metric(&server, "cabundle_writes_total")?, 2);
    let bundle = std::fs::read(server.scratch.path().join("ca.out")).map_err(|e| e.to_string())?;
    assert_eq!(secret["data"]["current.crt"], STANDARD.encode(bundle));
    // It shakes hands with itself.
    assert_eq!(metric(&server, "certificate_failures_total{call=\"dial\"")?, 0);
    Ok(())
}
