//! The order in which a pod is planned: whether anything is planned, its networks, then container by container.

use super::IpcLockRefusal;
use super::OwnFieldKept;
use super::annotation_names_and_paths::{NCCL_CONF, RAILS_ANNOTATION};
use super::nccl_conf_format::ConfFile;
use super::plan_type::{Change, Plan};
use super::user_fabric_counts::{CountedUnits, OwnFabricResult};
use super::why_pod_gets_nothing::{WhyNothingPlanned, why_nothing_by_pod_and_profile};
use super::{
    add_rails_to_networks_annotation, annotation_size_limit, gke_network_annotations, injected_annotation,
    ipc_lock, memlock_annotation, nccl_conf_and_small_files, node_affinity,
    node_labels_that_networks_require, patch_size_limit, preflight_and_monitor,
    rdma_resources_of_each_container, shm, target_container_type, user_fabric, which_containers_get_profile,
    which_rails_pod_gets, which_variables_to_add,
};
use crate::demands::Subject;
use crate::pod::PodView;
use crate::profile::Profile;
use crate::profile::schema::{Inject, Transport};
use crate::resolve::{Evidence, MissingNetworkOrResource, missing_networks_and_resources};
use std::collections::BTreeSet;

/// Plans a profile for a pod.
#[must_use]
pub fn plan_profile_for_pod(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let mut plan = plan_before_limits_and_mark(subject, profile, evidence);
    if !rdma_resources_of_each_container::are_resource_lists_short_enough(subject.pod, &plan) {
        let Plan { targets, accelerators, missing, user_fabric, .. } = plan;
        return Plan {
            targets,
            accelerators,
            missing,
            user_fabric,
            withheld: Some(WhyNothingPlanned::ManyResources),
            ..Plan::default()
        };
    }
    if annotation_size_limit::do_annotations_fit(subject.pod, plan.changes.iter().map(|c| &c.edit)) {
        // A pod with another fabric has nothing of this profile's, so the mark would be untrue.
        let marked = plan.user_fabric.as_ref().is_none_or(|user_fabric| user_fabric.other_fabric().is_none());
        let mark = marked.then(|| injected_annotation::plan(subject.pod, profile, &plan.changes));
        if let Some(mark) = mark.flatten() {
            // The edits of containers stand last.
            let at = plan.changes.partition_point(|c| c.edit.container().is_none());
            plan.changes.insert(at, mark);
        }
        return plan;
    }
    // Devices without their networks would be half a plan: plan both or neither.
    let Plan { targets, accelerators, missing, user_fabric, .. } = plan;
    Plan {
        targets,
        accelerators,
        missing,
        user_fabric,
        withheld: Some(WhyNothingPlanned::NoRoom),
        ..Plan::default()
    }
}

fn plan_before_limits_and_mark(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let pod = subject.pod;
    let (targets, wrong) = match which_containers_get_profile::find_targets(subject, profile) {
        Ok(targets) => (targets, None),
        Err(wrong) => (Vec::new(), Some(WhyNothingPlanned::WrongContainers(wrong))),
    };
    let accelerators = target_container_type::sum_of_accelerators(&targets);
    let mut plan = Plan { accelerators, targets, ..Plan::default() };
    plan.withheld = why_nothing_by_pod_and_profile(subject, profile).or(wrong);
    if plan.withheld.is_none() {
        plan.missing = missing_networks_and_resources(profile, subject.namespace, subject.snapshot);
        // A pod whose network does not exist never starts. A resource may come with a plugin that is still starting on
        // the first node of a pool: who waits for it stays Pending, and its peers get the same. Who reviews with a
        // profile of their choice wants to see what it does, wherever that is.
        let networks = plan.missing.iter().any(|what| matches!(what, MissingNetworkOrResource::Network(_)));
        plan.withheld =
            (networks && *evidence != Evidence::Flag).then_some(WhyNothingPlanned::MissingNetworks);
    }
    if plan.withheld.is_none() && plan.targets.is_empty() {
        plan.withheld = Some(WhyNothingPlanned::NoTarget);
    }
    let targets = plan.targets.len();
    if plan.withheld.is_none() && targets > patch_size_limit::TARGETS_ALWAYS_ALLOWED {
        let most = patch_size_limit::most_targets(profile);
        plan.withheld = (targets > most).then_some(WhyNothingPlanned::ManyTargets { targets, most });
    }
    if plan.withheld.is_some() {
        return plan;
    }
    // The Neuron runtime has its own collectives over EFA and does not use NCCL's networks and variables.
    if profile.transport != Transport::Efa && plan.targets.iter().all(|target| !target.nccl) {
        plan.withheld = Some(WhyNothingPlanned::NotServed);
        return plan;
    }
    let Some(rails) = which_rails_pod_gets::rails_chosen_for_pod(pod, profile, plan.accelerators) else {
        let name = pod.annotation(RAILS_ANNOTATION).unwrap_or_default();
        plan.withheld = Some(WhyNothingPlanned::UnknownRails(name.to_owned()));
        return plan;
    };
    let room = match user_fabric::count_user_fabric_or_withhold(subject, profile, rails, &plan.targets) {
        Ok((user_fabric, room)) => {
            plan.user_fabric = Some(user_fabric);
            room
        }
        Err(withheld) => {
            plan.withheld = Some(withheld);
            return plan;
        }
    };
    let user_fabric = plan.user_fabric.as_ref();
    if user_fabric.is_some_and(|b| b.other_fabric().is_some()) {
        // Changes that serve every fabric: shared memory, and pinned memory if the profile has RDMA.
        if matches!(profile.inject, Inject::Full) {
            plan.add_shm_volume(shm::plan_shm_volume(pod, profile, &plan.targets));
            let lifted = plan.lift_memlock_by_annotation(pod, profile);
            for index in (0..pod.containers().len()).take_while(|_| !subject.deadline.is_over()) {
                if let Some(target) = plan.target(index).filter(|_| !lifted.contains(&index)) {
                    plan.add_ipc_lock_or_refusal(index, ipc_lock::plan(subject, profile, target));
                }
                plan.mount_shm_volume(pod, index);
            }
        }
        return plan;
    }
    // Most plans have a dozen changes.
    plan.changes.reserve(16);
    // No CNI plugin is called for a pod in the node's network namespace.
    let mut attached = Vec::new();
    if !pod.host_network() {
        let complete = user_fabric.is_some_and(|b| b.completeness != OwnFabricResult::Incomplete);
        let networks = add_rails_to_networks_annotation::plan_networks_annotation(
            subject, profile, rails, evidence, room, complete,
        );
        plan.unused_interfaces = networks.unused_interfaces;
        plan.changes.extend(networks.change);
        plan.kept.extend(networks.kept);
        attached = networks.attached;
    }
    plan.add_changes_and_kept(gke_network_annotations::plan(pod, profile, evidence));
    if profile.inject == Inject::Annotations {
        return plan;
    }
    if profile.inject == Inject::Networks {
        plan.add_changes_and_kept(node_labels_that_networks_require::plan(subject, &plan.changes));
        plan.add_changes_and_kept(node_affinity::plan(pod, profile, evidence));
        let wanted = rdma_resources_of_each_container::units_wanted_by_each_target(
            pod,
            profile,
            &plan.targets,
            plan.own_units(),
            &attached,
        );
        for target in plan.targets.clone().into_iter().take_while(|_| !subject.deadline.is_over()) {
            plan.add_changes_and_kept(rdma_resources_of_each_container::plan_units_of_target(
                pod, target, &wanted,
            ));
        }
        return plan;
    }
    plan.add_shm_volume(shm::plan_shm_volume(pod, profile, &plan.targets));
    plan.add_changes_and_kept(node_affinity::plan(pod, profile, evidence));
    // Container by container, so that a patch and a reader find one container's edits together.
    let wanted = rdma_resources_of_each_container::units_wanted_by_each_target(
        pod,
        profile,
        &plan.targets,
        plan.own_units(),
        &attached,
    );
    let place = preflight_and_monitor::decide_containers_to_add(subject, profile, &plan.targets);
    let readers = place.as_ref().map(|p| &p.readers);
    let own_conf = ConfFile::read_with_limit(
        nccl_conf_and_small_files::file_annotation_of_pod(pod, NCCL_CONF).unwrap_or_default(),
        subject.snapshot.catalog().variables(),
    );
    let unused = &plan.unused_interfaces;
    let mut all = which_variables_to_add::decide_variables_of_targets(
        subject,
        profile,
        &plan.targets,
        unused,
        (&own_conf, readers),
    );
    for variables in &mut all {
        let unknown = std::mem::take(&mut variables.unknown_version).into_iter();
        plan.unknown_version.extend(unknown.map(|name| (variables.container, name)));
        plan.without_interface.append(&mut variables.without_interface);
        plan.set_by_pod.append(&mut variables.set_by_pod);
    }
    let conf = place.as_ref().and_then(preflight_and_monitor::ContainersToAdd::nccl_conf_of_preflight);
    let (changes, files) = nccl_conf_and_small_files::plan_file_annotations_and_volume(
        pod,
        profile,
        &plan.targets,
        &all,
        &plan.changes,
        (&own_conf, conf),
    );
    plan.changes.extend(changes);
    let lifted = plan.lift_memlock_by_annotation(pod, profile);
    let containers = pod.containers().iter().enumerate();
    for (index, container) in containers.take_while(|_| !subject.deadline.is_over()) {
        // They are in the order of the containers.
        let variables = all.binary_search_by_key(&index, |v| v.container).ok();
        let variables = variables.and_then(|at| all.get(at));
        if let (Some(target), Some(variables)) = (plan.target(index), variables) {
            plan.add_changes_and_kept(rdma_resources_of_each_container::plan_units_of_target(
                pod, target, &wanted,
            ));
            if !lifted.contains(&index) {
                plan.add_ipc_lock_or_refusal(index, ipc_lock::plan(subject, profile, target));
            }
            let (changes, left_out) =
                which_variables_to_add::plan_env_and_left_out(pod, profile, variables, &files);
            plan.changes.extend(changes);
            plan.left_out.extend(left_out);
            plan.changes.extend(nccl_conf_and_small_files::plan_file_mounts(pod, profile, variables, &files));
            if let Some(refusal) =
                nccl_conf_and_small_files::directory_refusal(pod, profile, container, &files)
            {
                plan.file_refusals.push((index, refusal));
            }
        }
        plan.mount_shm_volume(pod, index);
    }
    if let Some(place) = place {
        preflight_and_monitor::add_containers_and_refusals_to_plan(subject, profile, &mut plan, place);
    }
    plan
}

impl Plan {
    /// Units that the pod requests itself.
    fn own_units(&self) -> &[CountedUnits] {
        self.user_fabric.as_ref().map_or(&[], |user_fabric| &user_fabric.units)
    }

    fn add_changes_and_kept(&mut self, (changes, kept): (Vec<Change>, Vec<OwnFieldKept>)) {
        self.changes.extend(changes);
        self.kept.extend(kept);
    }

    fn add_shm_volume(&mut self, volume: Option<shm::ShmVolume>) {
        if let Some(shm::ShmVolume { name, change }) = volume {
            self.shm_volume = Some(name);
            self.changes.extend(change);
        }
    }

    fn mount_shm_volume(&mut self, pod: &PodView<'_>, container: usize) {
        let volume = self.shm_volume.as_deref();
        let mount =
            volume.and_then(|v| shm::plan_shm_mount(pod, container, v, self.changes_of_container(container)));
        self.changes.extend(mount);
    }

    /// Adds the annotations that lift the memlock limit. The containers for which it is lifted.
    fn lift_memlock_by_annotation(&mut self, pod: &PodView<'_>, profile: &Profile) -> BTreeSet<usize> {
        let (changes, lifted) = memlock_annotation::plan_and_list_lifted_targets(pod, profile, &self.targets);
        // Before anything else is planned for a container: the edits of containers stand last.
        self.changes.extend(changes);
        lifted
    }

    fn add_ipc_lock_or_refusal(&mut self, container: usize, planned: Result<Option<Change>, IpcLockRefusal>) {
        match planned {
            Ok(change) => self.changes.extend(change),
            Err(refusal) => self.ipc_lock_refusals.push((container, refusal)),
        }
    }
}
