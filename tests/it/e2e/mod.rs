//! End to end: a real etcd and kube-apiserver (and controllers, where they are), our own rendered configuration,
//! our own binary. One control plane serves every trial; the trials take turns, since webhook configurations are
//! the cluster's.

mod api_server_restart;
mod audit;
mod break_glass;
mod broken_answers;
mod busy_server_is_asked_again;
mod certificates;
mod changes_in_a_live_cluster;
mod client_certificates;
mod corpus_pods;
mod crd_of_profiles;
mod creates_under_load;
mod discover;
mod doctor;
mod exported_object_policies;
mod exported_policies;
mod helm;
mod how_soon_changes_count;
mod in_the_pod;
mod manifests_of_deploy;
mod match_conditions;
mod monitoring;
mod namespace_isolation;
mod network_objects;
mod node_filter_agrees_with_scheduler;
mod object_rules;
mod offline_equals_online;
mod older_and_newer_versions;
mod pod_rules;
mod pods_of_controllers;
mod pods_of_people;
mod profile_status;
mod random_pods;
mod reinvocation;
mod reserved_label;
mod review_live;
mod rollout;
mod support;
mod thousands_of_nodes;
mod webhook_away;
mod workloads;
mod works_without_the_webhook;

use crate::support::suite::{Need, Outcome, Suite};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};
use support::plane::Plane;

static PLANE: OnceLock<Result<Mutex<Option<Plane>>, String>> = OnceLock::new();

pub(crate) fn add(suite: &mut Suite) {
    let Some(assets) = suite.need(Need::E2e, "e2e") else { return };
    audit::add(suite, &assets);
    match_conditions::add(suite, &assets);
    manifests_of_deploy::add(suite, &assets);
    certificates::add(suite, &assets);
    pods_of_people::add(suite, &assets);
    pods_of_controllers::add(suite, &assets);
    crd_of_profiles::add(suite, &assets);
    in_the_pod::add(suite, &assets);
    discover::add(suite, &assets);
    namespace_isolation::add(suite, &assets);
    monitoring::add(suite, &assets);
    network_objects::add(suite, &assets);
    object_rules::add(suite, &assets);
    profile_status::add(suite, &assets);
    offline_equals_online::add(suite, &assets);
    workloads::add(suite, &assets);
    webhook_away::add(suite, &assets);
    works_without_the_webhook::add(suite, &assets);
    break_glass::add(suite, &assets);
    broken_answers::add(suite, &assets);
    older_and_newer_versions::add(suite, &assets);
    reinvocation::add(suite, &assets);
    changes_in_a_live_cluster::add(suite, &assets);
    how_soon_changes_count::add(suite, &assets);
    thousands_of_nodes::add(suite, &assets);
    api_server_restart::add(suite, &assets);
    review_live::add(suite, &assets);
    node_filter_agrees_with_scheduler::add(suite, &assets);
    creates_under_load::add(suite, &assets);
    busy_server_is_asked_again::add(suite, &assets);
    rollout::add(suite, &assets);
    client_certificates::add(suite, &assets);
    random_pods::add(suite, &assets);
    corpus_pods::add(suite, &assets);
    exported_policies::add(suite, &assets);
    pod_rules::add(suite, &assets);
    exported_object_policies::add(suite, &assets);
    reserved_label::add(suite, &assets);
    doctor::add(suite, &assets);
    helm::add(suite, &assets);
}

/// Ends the control plane, if one was started.
pub(crate) fn end() {
    if let Some(Ok(plane)) = PLANE.get() {
        plane.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    }
}

/// Adds a trial that has the control plane for itself while it runs.
fn trial(suite: &mut Suite, assets: &Path, name: &str, test: fn(&Plane) -> Outcome) {
    let assets = assets.to_path_buf();
    suite.add(format!("e2e::{name}"), move || {
        let plane = PLANE.get_or_init(|| Plane::start(&assets).map(|p| Mutex::new(Some(p))));
        let plane = plane.as_ref().map_err(|e| format!("the control plane does not start: {e}"))?;
        let turn: MutexGuard<'_, Option<Plane>> =
            plane.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        test(turn.as_ref().ok_or("the control plane has ended")?)
    });
}
