//! End to end: a real etcd and kube-apiserver (and controllers, where they are), our own rendered configuration,
//! our own binary. One control plane serves every trial; the trials take turns, since webhook configurations are
//! the cluster's.

mod audit;
mod break_glass;
mod broken_answers;
mod certificates;
mod changes;
mod client_certificates;
mod conditions;
mod configuration;
mod controllers;
mod corpus_pods;
mod custom_resource;
mod discover;
mod doctor;
mod helm;
mod in_the_pod;
mod isolation;
mod live;
mod load;
mod monitoring;
mod network_objects;
mod nodes;
mod object_policies;
mod object_rules;
mod one_object;
mod outages;
mod overload;
mod pod_rules;
mod pods;
mod policies;
mod random_pods;
mod reinvocation;
mod reserved;
mod restart;
mod review;
mod rollout;
mod scheduler;
mod status;
mod support;
mod untouched;
mod versions;
mod workloads;

use crate::support::suite::{Need, Outcome, Suite};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};
use support::plane::Plane;

static PLANE: OnceLock<Result<Mutex<Option<Plane>>, String>> = OnceLock::new();

pub(crate) fn add(suite: &mut Suite) {
    let Some(assets) = suite.need(Need::E2e, "e2e") else { return };
    audit::add(suite, &assets);
    conditions::add(suite, &assets);
    configuration::add(suite, &assets);
    certificates::add(suite, &assets);
    pods::add(suite, &assets);
    controllers::add(suite, &assets);
    custom_resource::add(suite, &assets);
    in_the_pod::add(suite, &assets);
    discover::add(suite, &assets);
    isolation::add(suite, &assets);
    monitoring::add(suite, &assets);
    network_objects::add(suite, &assets);
    object_rules::add(suite, &assets);
    status::add(suite, &assets);
    one_object::add(suite, &assets);
    workloads::add(suite, &assets);
    outages::add(suite, &assets);
    untouched::add(suite, &assets);
    break_glass::add(suite, &assets);
    broken_answers::add(suite, &assets);
    versions::add(suite, &assets);
    reinvocation::add(suite, &assets);
    live::add(suite, &assets);
    changes::add(suite, &assets);
    nodes::add(suite, &assets);
    restart::add(suite, &assets);
    review::add(suite, &assets);
    scheduler::add(suite, &assets);
    load::add(suite, &assets);
    overload::add(suite, &assets);
    rollout::add(suite, &assets);
    client_certificates::add(suite, &assets);
    random_pods::add(suite, &assets);
    corpus_pods::add(suite, &assets);
    policies::add(suite, &assets);
    pod_rules::add(suite, &assets);
    object_policies::add(suite, &assets);
    reserved::add(suite, &assets);
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
