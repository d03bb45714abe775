//! The order in which a pod is planned: whether anything is planned, its networks, then container by container.

use super::IpcLockRefusal;
use super::Kept;
use super::annotation_names_and_paths::{NCCL_CONF, RAILS_ANNOTATION};
use super::planned_changes::{Change, Plan};
use super::user_fabric_counts::{Completeness, CountedUnits};
use super::which_lines_nccl_conf_gets::ConfFile;
use super::why_pod_gets_nothing::{Withheld, withheld};
use super::{
    add_rails_to_networks_annotation, annotation_size_limit, gke_network_annotations, injected_annotation,
    ipc_lock, memlock_annotation, nccl_conf_and_small_files, node_affinity,
    node_labels_that_networks_require, patch_size_limit, preflight_and_monitor,
    rdma_resources_of_each_container, shm, target_container, user_fabric, which_containers_get_profile,
    which_rails_pod_gets, which_variables_to_add,
};
use crate::demands::Subject;
use crate::pod::PodView;
use crate::profile::Profile;
use crate::profile::schema::{Inject, Transport};
use crate::resolve::{Evidence, Missing, missing};
use std::collections::BTreeSet;

/// Plans a profile for a pod.
#[must_use]
pub fn plan(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let mut plan = whole(subject, profile, evidence);
    if !rdma_resources_of_each_container::fit(subject.pod, &plan) {
        let Plan { targets, accelerators, missing, user_fabric, .. } = plan;
        return Plan {
            targets,
            accelerators,
            missing,
            user_fabric,
            withheld: Some(Withheld::ManyResources),
            ..Plan::default()
        };
    }
    if annotation_size_limit::fit(subject.pod, plan.changes.iter().map(|c| &c.edit)) {
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
    Plan { targets, accelerators, missing, user_fabric, withheld: Some(Withheld::NoRoom), ..Plan::default() }
}

fn whole(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let pod = subject.pod;
    let (targets, wrong) = match which_containers_get_profile::find(subject, profile) {
        Ok(targets) => (targets, None),
        Err(wrong) => (Vec::new(), Some(Withheld::WrongContainers(wrong))),
    };
    let accelerators = target_container::accelerators(&targets);
    let mut plan = Plan { accelerators, targets, ..Plan::default() };
    plan.withheld = withheld(subject, profile).or(wrong);
    if plan.withheld.is_none() {
        plan.missing = missing(profile, subject.namespace, subject.snapshot);
        // A pod whose network does not exist never starts. A resource may come with a plugin that is still starting on
        // the first node of a pool: who waits for it stays Pending, and its peers get the same. Who reviews with a
        // profile of their choice wants to see what it does, wherever that is.
        let networks = plan.missing.iter().any(|what| matches!(what, Missing::Network(_)));
        plan.withheld = (networks && *evidence != Evidence::Flag).then_some(Withheld::MissingNetworks);
    }
    if plan.withheld.is_none() && plan.targets.is_empty() {
        plan.withheld = Some(Withheld::NoTarget);
    }
    let targets = plan.targets.len();
    if plan.withheld.is_none() && targets > patch_size_limit::LEAST {
        let most = patch_size_limit::most_targets(profile);
        plan.withheld = (targets > most).then_some(Withheld::ManyTargets { targets, most });
    }
    if plan.withheld.is_some() {
        return plan;
    }
    // The Neuron runtime has its own collectives over EFA and does not use NCCL's networks and variables.
    if profile.transport != Transport::Efa && plan.targets.iter().all(|target| !target.nccl) {
        plan.withheld = Some(Withheld::NotServed);
        return plan;
    }
    let Some(rails) = which_rails_pod_gets::chosen(pod, profile, plan.accelerators) else {
        let name = pod.annotation(RAILS_ANNOTATION).unwrap_or_default();
        plan.withheld = Some(Withheld::UnknownRails(name.to_owned()));
        return plan;
    };
    let room = match user_fabric::assess(subject, profile, rails, &plan.targets) {
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
            plan.add_volume(shm::volume(pod, profile, &plan.targets));
            let lifted = plan.lift_limits(pod, profile);
            for index in (0..pod.containers().len()).take_while(|_| !subject.deadline.is_over()) {
                if let Some(target) = plan.target(index).filter(|_| !lifted.contains(&index)) {
                    plan.add_capability(index, ipc_lock::plan(subject, profile, target));
                }
                plan.mount_volume(pod, index);
            }
        }
        return plan;
    }
    // Most plans have a dozen changes.
    plan.changes.reserve(16);
    // No CNI plugin is called for a pod in the node's network namespace.
    let mut attached = Vec::new();
    if !pod.host_network() {
        let complete = user_fabric.is_some_and(|b| b.completeness != Completeness::Incomplete);
        let networks =
            add_rails_to_networks_annotation::plan(subject, profile, rails, evidence, room, complete);
        plan.unused_interfaces = networks.unused_interfaces;
        plan.changes.extend(networks.change);
        plan.kept.extend(networks.kept);
        attached = networks.attached;
    }
    plan.add(gke_network_annotations::plan(pod, profile, evidence));
    if profile.inject == Inject::Annotations {
        return plan;
    }
    if profile.inject == Inject::Networks {
        plan.add(node_labels_that_networks_require::plan(subject, &plan.changes));
        plan.add(node_affinity::plan(pod, profile, evidence));
        let wanted = rdma_resources_of_each_container::wanted(
            pod,
            profile,
            &plan.targets,
            plan.own_units(),
            &attached,
        );
        for target in plan.targets.clone().into_iter().take_while(|_| !subject.deadline.is_over()) {
            plan.add(rdma_resources_of_each_container::plan(pod, target, &wanted));
        }
        return plan;
    }
    plan.add_volume(shm::volume(pod, profile, &plan.targets));
    plan.add(node_affinity::plan(pod, profile, evidence));
    // Container by container, so that a patch and a reader find one container's edits together.
    let wanted =
        rdma_resources_of_each_container::wanted(pod, profile, &plan.targets, plan.own_units(), &attached);
    let place = preflight_and_monitor::place(subject, profile, &plan.targets);
    let readers = place.as_ref().map(|p| &p.readers);
    let own_conf = ConfFile::of(
        nccl_conf_and_small_files::text(pod, NCCL_CONF).unwrap_or_default(),
        subject.snapshot.catalog().variables(),
    );
    let unused = &plan.unused_interfaces;
    let mut all =
        which_variables_to_add::wanted(subject, profile, &plan.targets, unused, (&own_conf, readers));
    for variables in &mut all {
        let unknown = std::mem::take(&mut variables.unknown_version).into_iter();
        plan.unknown_version.extend(unknown.map(|name| (variables.container, name)));
        plan.without_interface.append(&mut variables.without_interface);
        plan.set_by_pod.append(&mut variables.set_by_pod);
    }
    let conf = place.as_ref().and_then(preflight_and_monitor::Place::conf);
    let (changes, files) =
        nccl_conf_and_small_files::plan(pod, profile, &plan.targets, &all, &plan.changes, (&own_conf, conf));
    plan.changes.extend(changes);
    let lifted = plan.lift_limits(pod, profile);
    let containers = pod.containers().iter().enumerate();
    for (index, container) in containers.take_while(|_| !subject.deadline.is_over()) {
        // They are in the order of the containers.
        let variables = all.binary_search_by_key(&index, |v| v.container).ok();
        let variables = variables.and_then(|at| all.get(at));
        if let (Some(target), Some(variables)) = (plan.target(index), variables) {
            plan.add(rdma_resources_of_each_container::plan(pod, target, &wanted));
            if !lifted.contains(&index) {
                plan.add_capability(index, ipc_lock::plan(subject, profile, target));
            }
            let (changes, left_out) = which_variables_to_add::plan(pod, profile, variables, &files);
            plan.changes.extend(changes);
            plan.left_out.extend(left_out);
            plan.changes.extend(nccl_conf_and_small_files::mounts(pod, profile, variables, &files));
            if let Some(refusal) =
                nccl_conf_and_small_files::directory_refusal(pod, profile, container, &files)
            {
                plan.file_refusals.push((index, refusal));
            }
        }
        plan.mount_volume(pod, index);
    }
    if let Some(place) = place {
        preflight_and_monitor::add(subject, profile, &mut plan, place);
    }
    plan
}

impl Plan {
    /// Units that the pod requests itself.
    fn own_units(&self) -> &[CountedUnits] {
        self.user_fabric.as_ref().map_or(&[], |user_fabric| &user_fabric.units)
    }

    fn add(&mut self, (changes, kept): (Vec<Change>, Vec<Kept>)) {
        self.changes.extend(changes);
        self.kept.extend(kept);
    }

    fn add_volume(&mut self, volume: Option<shm::ShmVolume>) {
        if let Some(shm::ShmVolume { name, change }) = volume {
            self.shm_volume = Some(name);
            self.changes.extend(change);
        }
    }

    fn mount_volume(&mut self, pod: &PodView<'_>, container: usize) {
        let volume = self.shm_volume.as_deref();
        let mount = volume.and_then(|v| shm::mount(pod, container, v, self.of_container(container)));
        self.changes.extend(mount);
    }

    /// Adds the annotations that lift the memlock limit. The containers for which it is lifted.
    fn lift_limits(&mut self, pod: &PodView<'_>, profile: &Profile) -> BTreeSet<usize> {
        let (changes, lifted) = memlock_annotation::plan(pod, profile, &self.targets);
        // Before anything else is planned for a container: the edits of containers stand last.
        self.changes.extend(changes);
        lifted
    }

    fn add_capability(&mut self, container: usize, planned: Result<Option<Change>, IpcLockRefusal>) {
        match planned {
            Ok(change) => self.changes.extend(change),
            Err(refusal) => self.ipc_lock_refusals.push((container, refusal)),
        }
    }
}
