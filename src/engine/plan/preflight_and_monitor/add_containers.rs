//! Adds the containers `fabric-install`, `fabric-preflight` and `fabric-monitor`, with their volumes, to a plan.

use super::container_json::AddedContainerWriter;
use super::which_containers_are_added::{ContainersToAdd, PROMETHEUS_ANNOTATIONS};
use super::{monitor_flags, preflight_expectation};
use crate::demands::Subject;
use crate::plan::AddedContainerRefusal;
use crate::plan::{Change, Edit, Plan, Reason, annotation_size_limit};
use crate::pod::which_containers_webhook_added::{INSTALL_CONTAINER, MONITOR_CONTAINER, PREFLIGHT_CONTAINER};
use crate::profile::{PreflightInstall, Profile, Scrape};

/// Adds the containers to a plan that is otherwise complete: their env, mounts and quantities are those of the target with
/// the plan.
pub(in crate::plan) fn add_containers_and_refusals_to_plan(
    subject: &Subject<'_>,
    profile: &Profile,
    plan: &mut Plan,
    place: ContainersToAdd<'_>,
) {
    let pod = subject.pod;
    plan.in_pod_refusals = place.refusals.clone();
    let writer = AddedContainerWriter { pod, plan, place: &place };
    let mut changes: Vec<Change> = Vec::new();
    let mut volumes = pod.volumes().len()
        + plan
            .changes_of_pod_itself()
            .iter()
            .filter(|c| matches!(c.edit, Edit::ShmVolume { .. } | Edit::FilesVolume { .. }))
            .count();
    let mut volume = |name: &str, image: Option<String>, reason: &'static str| {
        let edit = Edit::InPodVolume { name: name.to_owned(), image, index: volumes };
        volumes += 1;
        Change { edit, reason: reason.into() }
    };
    if place.new_volume {
        let reason = if place.preflight.is_some() {
            "contains the program, nccl.conf and the facts of this pod for the containers of fabric-admission"
        } else {
            "is empty; hides the service account token from fabric-monitor"
        };
        changes.push(volume(&place.volume, None, reason));
    }
    let mut inits = pod.init_containers().len();
    let mut container = |name: &'static str, text: String, reason: Reason| {
        let edit = Edit::InitContainer { name, text, index: inits };
        inits += 1;
        Change { edit, reason }
    };
    if let Some((preflight, target)) = place.preflight {
        if preflight.install == PreflightInstall::ImageVolume {
            if let Some(name) = &place.image_volume {
                changes.push(volume(name, Some(preflight.image.clone()), "the program that preflight runs"));
            }
        } else if pod.container_that_looks_added(INSTALL_CONTAINER).is_none() {
            let reason = "copies the fabric-admission program to the volume, so that the training container can run it";
            changes.push(container(
                INSTALL_CONTAINER,
                writer.install_container_json(&preflight.image),
                reason.into(),
            ));
        }
        let expected = preflight_expectation::expectation_of_preflight(subject, profile, plan, &place);
        let name = pod.containers().get(target).map(|c| c.name()).unwrap_or_default();
        let text = writer.preflight_container_json(preflight, target, &expected);
        let reason = format!(
            "checks the fabric before the training starts, in the image and with the devices of container {name}; the pod's effective request does not grow"
        );
        changes.push(container(PREFLIGHT_CONTAINER, text, reason.into()));
    }
    if let Some(monitor) = place.monitor {
        let devices = if place.has_preflight_for_monitor(pod) {
            "the pod's RDMA devices"
        } else {
            "all RDMA devices that the pod sees"
        };
        let mut does = vec![format!("exports the counters of {devices} on port {}", monitor.port)];
        let mut flags = monitor_flags::flags_env_and_mounts_of_monitor(pod, plan, &place, monitor);
        does.append(&mut flags.does);
        let text = writer.monitor_container_json(monitor, profile.transport, flags);
        changes.push(container(MONITOR_CONTAINER, text, does.join("; ").into()));
        let own = PROMETHEUS_ANNOTATIONS.iter().any(|key| pod.annotation(key).is_some());
        if monitor.scrape == Scrape::Annotations && !own {
            let values = ["true".to_owned(), monitor.port.to_string(), "/metrics".to_owned()];
            let edit = |(key, value): (&'static str, String)| Edit::Annotation {
                key: key.into(),
                value,
                present: false,
            };
            let edits: Vec<Edit> = PROMETHEUS_ANNOTATIONS.into_iter().zip(values).map(edit).collect();
            let reason = "Prometheus scrapes the port of fabric-monitor";
            // Room that the networks need is not taken for this.
            if annotation_size_limit::do_annotations_fit(
                pod,
                plan.changes.iter().map(|c| &c.edit).chain(&edits),
            ) {
                changes.extend(edits.into_iter().map(|edit| Change { edit, reason: reason.into() }));
            }
        }
    }
    let monitor = profile.monitor.as_ref().filter(|m| m.scrape == Scrape::Annotations);
    let added = changes.iter().any(|c| matches!(c.edit, Edit::Annotation { .. }));
    let refused = plan.in_pod_refusals.iter().any(AddedContainerRefusal::is_of_monitor);
    if monitor.is_some()
        && !added
        && !refused
        && PROMETHEUS_ANNOTATIONS.iter().all(|key| pod.annotation(key).is_none())
    {
        plan.in_pod_refusals.push(AddedContainerRefusal::NoRoom);
    }
    // The edits of containers stand last.
    let at = plan.changes.partition_point(|c| c.edit.container().is_none());
    plan.changes.splice(at..at, changes);
}
