//! The plan: the values to set on a pod so that it fits a profile, and why. Only absent values are set; a user's
//! value is never changed or removed. One file per kind of change. A plan changes nothing itself: `patch` writes it
//! as JSON operations, and `overlay` shows the pod with it.

mod added;
mod annotations;
mod attachment;
mod change_kind;
mod edit;
mod env;
mod files;
mod gke;
mod host_network;
mod in_pod;
mod in_pod_refusal_reasons;
mod injected;
mod ipc_lock;
mod kept;
mod mount_json;
mod names;
mod nccl_conf;
mod network_node_labels;
mod networks;
mod node_affinity;
mod outcome;
pub mod overlay;
mod rails;
mod reason;
mod refusals;
mod resources;
mod shm;
mod size;
mod summary;
mod target;
mod targets;
#[cfg(test)]
mod tests;
mod ulimits;
mod usable_namespaces;
mod user_fabric;
pub mod user_fabric_result;
mod variables;

pub use change_kind::{ChangeCounts, ChangeKind};
pub use edit::{Carrier, Edit, ResourceList};
pub(crate) use env::{is_checked, unused_interface};
pub(crate) use files::field_path as file_field_path;
pub(crate) use gke::GKE_DOMAIN;
pub use in_pod_refusal_reasons::InPodRefusal;
pub use kept::Kept;
pub use names::{
    CONTAINERS_ANNOTATION, FILE_ANNOTATION, FILES_PATH, INJECT_ANNOTATION, NCCL_CONF, NCCL_CONF_PATH,
    RAILS_ANNOTATION, SHM_PATH, TERMS_PATH,
};
use nccl_conf::ConfFile;
pub use outcome::{
    Change, OwnSetting, Plan, VariableSetByPod, VariableWithoutInterface, VariablesLeftOut, Withheld,
};
pub use reason::Reason;
pub use refusals::{EnvRefusal, FileRefusal, IpcLockRefusal};
pub use shm::recommended as recommended_shm;
pub use target::{Target, WrongContainers};
pub(crate) use ulimits::ULIMITS_ANNOTATION;
pub(crate) use usable_namespaces::serves_namespace;
use user_fabric_result::CountedUnits;
pub use user_fabric_result::{Completeness, OtherFabric, UserFabric};

use crate::demands::Subject;
use crate::pod::PodView;
use crate::pod::limits::over_limit;
use crate::profile::Profile;
use crate::profile::schema::{Attachment, Inject, Transport};
use crate::resolve::{Evidence, Missing, missing};
use std::collections::BTreeSet;

/// Most containers of an injected pod. A node runs 110 pods by default (kubelet `maxPods`), of a few containers each.
/// A pod with more containers than that is not a training pod, and its patch would be many times its size.
pub const MAX_CONTAINERS: usize = 1000;

/// Plans a profile for a pod.
#[must_use]
pub fn plan(subject: &Subject<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let mut plan = whole(subject, profile, evidence);
    if !resources::fit(subject.pod, &plan) {
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
    if annotations::fit(subject.pod, plan.changes.iter().map(|c| &c.edit)) {
        // A pod with another fabric has nothing of this profile's, so the mark would be untrue.
        let marked = plan.user_fabric.as_ref().is_none_or(|user_fabric| user_fabric.other_fabric().is_none());
        let mark = marked.then(|| injected::plan(subject.pod, profile, &plan.changes));
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
    let (targets, wrong) = match targets::find(subject, profile) {
        Ok(targets) => (targets, None),
        Err(wrong) => (Vec::new(), Some(Withheld::WrongContainers(wrong))),
    };
    let accelerators = target::accelerators(&targets);
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
    if plan.withheld.is_none() && targets > size::LEAST {
        let most = size::most_targets(profile);
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
    let Some(rails) = rails::chosen(pod, profile, plan.accelerators) else {
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
        let networks = networks::plan(subject, profile, rails, evidence, room, complete);
        plan.unused_interfaces = networks.unused_interfaces;
        plan.changes.extend(networks.change);
        plan.kept.extend(networks.kept);
        attached = networks.attached;
    }
    plan.add(gke::plan(pod, profile, evidence));
    if profile.inject == Inject::Annotations {
        return plan;
    }
    if profile.inject == Inject::Networks {
        plan.add(network_node_labels::plan(subject, &plan.changes));
        plan.add(node_affinity::plan(pod, profile, evidence));
        let wanted = resources::wanted(pod, profile, &plan.targets, plan.own_units(), &attached);
        for target in plan.targets.clone().into_iter().take_while(|_| !subject.deadline.is_over()) {
            plan.add(resources::plan(pod, target, &wanted));
        }
        return plan;
    }
    plan.add_volume(shm::volume(pod, profile, &plan.targets));
    plan.add(node_affinity::plan(pod, profile, evidence));
    // Container by container, so that a patch and a reader find one container's edits together.
    let wanted = resources::wanted(pod, profile, &plan.targets, plan.own_units(), &attached);
    let place = in_pod::place(subject, profile, &plan.targets);
    let readers = place.as_ref().map(|p| &p.readers);
    let own_conf =
        ConfFile::of(files::text(pod, NCCL_CONF).unwrap_or_default(), subject.snapshot.catalog().variables());
    let unused = &plan.unused_interfaces;
    let mut all = env::wanted(subject, profile, &plan.targets, unused, (&own_conf, readers));
    for variables in &mut all {
        let unknown = std::mem::take(&mut variables.unknown_version).into_iter();
        plan.unknown_version.extend(unknown.map(|name| (variables.container, name)));
        plan.without_interface.append(&mut variables.without_interface);
        plan.set_by_pod.append(&mut variables.set_by_pod);
    }
    let conf = place.as_ref().and_then(in_pod::Place::conf);
    let (changes, files) = files::plan(pod, profile, &plan.targets, &all, &plan.changes, (&own_conf, conf));
    plan.changes.extend(changes);
    let lifted = plan.lift_limits(pod, profile);
    let containers = pod.containers().iter().enumerate();
    for (index, container) in containers.take_while(|_| !subject.deadline.is_over()) {
        // They are in the order of the containers.
        let variables = all.binary_search_by_key(&index, |v| v.container).ok();
        let variables = variables.and_then(|at| all.get(at));
        if let (Some(target), Some(variables)) = (plan.target(index), variables) {
            plan.add(resources::plan(pod, target, &wanted));
            if !lifted.contains(&index) {
                plan.add_capability(index, ipc_lock::plan(subject, profile, target));
            }
            let (changes, left_out) = env::plan(pod, profile, variables, &files);
            plan.changes.extend(changes);
            plan.left_out.extend(left_out);
            plan.changes.extend(files::mounts(pod, profile, variables, &files));
            if let Some(refusal) = files::directory_refusal(pod, profile, container, &files) {
                plan.file_refusals.push((index, refusal));
            }
        }
        plan.mount_volume(pod, index);
    }
    if let Some(place) = place {
        in_pod::add(subject, profile, &mut plan, place);
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
        let (changes, lifted) = ulimits::plan(pod, profile, &self.targets);
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

fn withheld(subject: &Subject<'_>, profile: &Profile) -> Option<Withheld> {
    match pod_level_refusal(subject.pod, profile) {
        Some(Withheld::OptedOut) => Some(Withheld::OptedOut),
        _ if profile.inject == Inject::Review => Some(Withheld::ReviewOnly),
        None if matches!(subject.networks, Some(Err(_))) => Some(Withheld::Unreadable),
        reason => reason,
    }
}

/// Why a pod would get nothing from a profile, as far as pod and profile show it.
#[must_use]
pub fn pod_level_refusal(pod: &PodView<'_>, profile: &Profile) -> Option<Withheld> {
    if pod.annotation(INJECT_ANNOTATION) == Some("false") {
        return Some(Withheld::OptedOut);
    }
    if pod.annotation("kubernetes.io/config.mirror").is_some() {
        return Some(Withheld::Mirror);
    }
    if pod.spec.as_ref().and_then(|s| s.os.as_ref()?.name.as_deref()) == Some("windows") {
        return Some(Withheld::Windows);
    }
    if pod.containers().len() > MAX_CONTAINERS {
        return Some(Withheld::ManyContainers);
    }
    if over_limit(pod).is_some() {
        return Some(Withheld::OverLimit);
    }
    // hostNetwork is never added: it is a way out of the pod, and Pod Security decides on it.
    match (pod.host_network(), profile.attachment == Attachment::HostNetwork) {
        (true, false) => return Some(Withheld::HostNetwork),
        (false, true) => return Some(Withheld::OwnNetwork),
        _ => {}
    }
    let gke = Some("networking.gke.io/interfaces").filter(|_| profile.gke_networks.is_none());
    let mut keys = gke.into_iter().chain(["k8s.volcengine.com/pod-networks"]);
    keys.find(|key| pod.annotation(key).is_some()).map(Withheld::ProviderNetworks)
}
