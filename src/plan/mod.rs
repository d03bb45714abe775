//! The plan: what would be set on a pod so that it fits a profile, and why. Only what is absent is set; a
//! value of the user's is never changed or removed. One file per kind of change.

mod annotations;
mod attached;
mod brought;
pub mod counted;
mod edit;
mod env;
mod files;
mod gke;
mod host_network;
mod injected;
mod ipc_lock;
mod names;
mod nccl_conf;
mod networks;
mod node_selector;
mod ours;
mod outcome;
pub mod overlay;
mod placement;
mod rails;
mod refusals;
mod resources;
mod scene;
mod serves;
mod shm;
mod summary;
mod target;
mod targets;
#[cfg(test)]
mod tests;
mod ulimits;
mod variables;

pub use counted::{Brought, OtherFabric, Standing};
pub use edit::{Carrier, Edit, ResourceList};
pub(crate) use env::{Applies, applies, unused_interface};
pub(crate) use files::field_path as file_field_path;
pub(crate) use gke::GKE_DOMAIN;
pub use names::{
    CONTAINERS_ANNOTATION, FILE_ANNOTATION, FILES_PATH, INJECT_ANNOTATION, NCCL_CONF, NCCL_CONF_PATH,
    RAILS_ANNOTATION, SHM_PATH, TERMS_PATH,
};
pub use outcome::{Change, LeftOut, Plan, Withheld, WithoutInterface};
pub use refusals::{EnvRefusal, FileRefusal, IpcLockRefusal};
pub use scene::Scene;
pub(crate) use serves::serves_namespace;
pub use shm::recommended as recommended_shm;
pub use target::{Target, WrongContainers};
pub(crate) use ulimits::ULIMITS_ANNOTATION;

use crate::pod::PodView;
use crate::profile::Profile;
use crate::profile::schema::{Attachment, Inject, Transport};
use crate::resolve::{Evidence, Missing, missing};

/// Containers of a pod that is injected. A node runs 110 pods by default (kubelet `maxPods`), of a few containers each; a
/// pod of more than this is no training pod, and its patch would be many times its size.
pub const MAX_CONTAINERS: usize = 1000;

/// Plans a profile for a pod.
#[must_use]
pub fn plan(scene: Scene<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let mut plan = build(scene, profile, evidence);
    if !resources::fit(scene, &plan) {
        let Plan { targets, accelerators, missing, brought, .. } = plan;
        return Plan {
            targets,
            accelerators,
            missing,
            brought,
            withheld: Some(Withheld::ManyResources),
            ..Plan::default()
        };
    }
    if annotations::fit(scene.pod, || plan.changes.iter().map(|c| &c.edit)) {
        injected::plan(scene, profile, &mut plan);
        return plan;
    }
    // Devices without their networks would be half a plan: all of it or nothing.
    let Plan { targets, accelerators, missing, brought, .. } = plan;
    Plan { targets, accelerators, missing, brought, withheld: Some(Withheld::NoRoom), ..Plan::default() }
}

fn build(scene: Scene<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let (targets, wrong) = match targets::find(scene, profile) {
        Ok(targets) => (targets, None),
        Err(wrong) => (Vec::new(), Some(Withheld::WrongContainers(wrong))),
    };
    let accelerators = targets.iter().fold(0_u32, |sum, t| sum.saturating_add(t.accelerators));
    let mut plan = Plan { accelerators, targets, ..Plan::default() };
    plan.withheld = withheld(scene, profile).or(wrong);
    if plan.withheld.is_none() {
        plan.missing = missing(profile, scene.namespace, scene.snapshot);
        // A pod whose network does not exist never starts. A resource may come with a plugin that is still starting on
        // the first node of a pool: who waits for it stays Pending, and its peers get the same. Who reviews with a
        // profile of their choice wants to see what it does, wherever that is.
        let networks = plan.missing.iter().any(|what| matches!(what, Missing::Network(_)));
        plan.withheld = (networks && *evidence != Evidence::Flag).then_some(Withheld::MissingNetworks);
    }
    if plan.withheld.is_some() || plan.targets.is_empty() {
        return plan;
    }
    // The Neuron runtime has collectives of its own, over EFA: NCCL's networks and variables are nothing to it.
    if profile.transport != Transport::Efa && plan.targets.iter().all(|target| !target.nccl) {
        plan.withheld = Some(Withheld::NotServed);
        return plan;
    }
    let Some(rails) = rails::chosen(scene, profile, &plan) else {
        let name = scene.pod.annotation(RAILS_ANNOTATION).unwrap_or_default();
        plan.withheld = Some(Withheld::UnknownRails(name.to_owned()));
        return plan;
    };
    let room = match brought::count(scene, profile, rails, &plan) {
        Ok((brought, room)) => {
            plan.brought = Some(brought);
            room
        }
        Err(withheld) => {
            plan.withheld = Some(withheld);
            return plan;
        }
    };
    if plan.brought.as_ref().is_some_and(|b| b.other_fabric().is_some()) {
        // What serves every fabric: shared memory, and pinned memory where the profile has RDMA.
        if matches!(profile.inject, Inject::Full) {
            shm::plan_volume(scene, profile, &mut plan);
            let lifted = ulimits::plan(scene, profile, &mut plan);
            for index in 0..scene.pod.containers().len() {
                if let Some(target) = plan.target(index).filter(|_| !lifted.contains(&index)) {
                    ipc_lock::plan(scene, profile, target, &mut plan);
                }
                shm::plan_mount(scene, index, &mut plan);
            }
        }
        return plan;
    }
    // No CNI plugin is called for a pod in the node's network namespace.
    let attached = match scene.pod.host_network() {
        true => Vec::new(),
        false => networks::plan(scene, profile, rails, evidence, room, &mut plan),
    };
    gke::plan(scene, profile, evidence, &mut plan);
    if profile.inject == Inject::Annotations {
        return plan;
    }
    if profile.inject == Inject::Networks {
        node_selector::plan(scene, &mut plan);
        placement::plan(scene, profile, &mut plan);
        let wanted = resources::wanted(scene, profile, &plan, &attached);
        for target in plan.targets.clone() {
            resources::plan(scene, target, &wanted, &mut plan);
        }
        return plan;
    }
    shm::plan_volume(scene, profile, &mut plan);
    placement::plan(scene, profile, &mut plan);
    // Container by container, so that a patch and a reader find one container's edits together.
    let wanted = resources::wanted(scene, profile, &plan, &attached);
    let all = env::wanted(scene, profile, &mut plan);
    let files = files::plan(scene, profile, &all, &mut plan);
    let lifted = ulimits::plan(scene, profile, &mut plan);
    for (index, container) in scene.pod.containers().iter().enumerate() {
        // They are in the order of the containers.
        let variables = all.binary_search_by_key(&index, |v| v.container).ok();
        let variables = variables.and_then(|at| all.get(at));
        if let (Some(target), Some(variables)) = (plan.target(index), variables) {
            resources::plan(scene, target, &wanted, &mut plan);
            if !lifted.contains(&index) {
                ipc_lock::plan(scene, profile, target, &mut plan);
            }
            env::plan(scene, profile, variables, &files, &mut plan);
            files::plan_mounts(scene, profile, variables, &files, &mut plan);
            if let Some(refusal) = files::directory_refusal(scene, profile, container, &files) {
                plan.file_refusals.push((index, refusal));
            }
        }
        shm::plan_mount(scene, index, &mut plan);
    }
    plan
}

fn withheld(scene: Scene<'_>, profile: &Profile) -> Option<Withheld> {
    match pod_level_refusal(scene.pod, profile) {
        Some(Withheld::OptedOut) => Some(Withheld::OptedOut),
        _ if profile.inject == Inject::Review => Some(Withheld::ReviewOnly),
        None if matches!(scene.networks, Some(Err(_))) => Some(Withheld::Unreadable),
        reason => reason,
    }
}

/// Why the pod and the profile, without further facts, already rule out an injection.
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
    // hostNetwork is never added: it is a way out of the pod, and Pod Security's business.
    match (pod.host_network(), profile.attachment == Attachment::HostNetwork) {
        (true, false) => return Some(Withheld::HostNetwork),
        (false, true) => return Some(Withheld::OwnNetwork),
        _ => {}
    }
    let gke = Some("networking.gke.io/interfaces").filter(|_| profile.gke_networks.is_none());
    let mut keys = gke.into_iter().chain(["k8s.volcengine.com/pod-networks"]);
    keys.find(|key| pod.annotation(key).is_some()).map(Withheld::ProviderNetworks)
}
