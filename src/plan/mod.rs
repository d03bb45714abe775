//! The plan: what would be set on a pod so that it fits a profile, and why. Only what is absent is set; a
//! value of the user's is never changed or removed. One file per kind of change.

mod annotations;
mod edit;
mod env;
mod files;
mod gke;
mod host_network;
mod injected;
mod ipc_lock;
mod nccl_conf;
mod networks;
mod node_selector;
pub mod overlay;
mod placement;
mod rails;
mod resources;
mod shm;
mod targets;
#[cfg(test)]
mod tests;
mod ulimits;

pub use edit::{Carrier, Edit, ResourceList};
pub(crate) use env::{Applies, applies, unused_interface};
pub(crate) use files::field_path as file_field_path;
pub use files::{FILE_ANNOTATION, FILES_PATH, FileRefusal, NCCL_CONF, NCCL_CONF_PATH};
pub(crate) use gke::GKE_DOMAIN;
pub(crate) use networks::serves_namespace;
pub use placement::TERMS_PATH;
pub use rails::RAILS_ANNOTATION;
pub use shm::{SHM_PATH, recommended as recommended_shm};
pub use targets::{CONTAINERS_ANNOTATION, Target, WrongContainers};
pub(crate) use ulimits::ULIMITS_ANNOTATION;

use crate::demands::Demands;
use crate::facts::{NamespaceFacts, PodSecurity};
use crate::multus::Networks;
use crate::pod::PodView;
use crate::profile::Profile;
use crate::profile::schema::{Attachment, Inject};
use crate::resolve::{Evidence, Missing, missing};
use crate::snapshot::Snapshot;

/// Containers of a pod that is injected. A node runs 110 pods by default (kubelet `maxPods`), of a few containers each; a
/// pod of more than this is no training pod, and its patch would be many times its size.
pub const MAX_CONTAINERS: usize = 1000;

/// Annotation by which a pod keeps itself as it is. It stops the plan, not the rules.
pub const INJECT_ANNOTATION: &str = "fabric-admission.dev/inject";

/// Ordered changes, and what was left undone.
#[derive(Debug, Default)]
pub struct Plan {
    /// Intended edits. All edits of one container stand together, containers in order.
    pub changes: Vec<Change>,
    /// Containers that the profile is for.
    pub targets: Vec<Target>,
    /// Volume that goes to `/dev/shm` of every app container without one: planned, or there already.
    pub shm_volume: Option<String>,
    /// Whole accelerators of the targets (count).
    pub accelerators: u32,
    /// What of the profile does not exist, where the pod would get it.
    pub missing: Vec<Missing>,
    /// Why the whole plan is empty although there is a profile.
    pub withheld: Option<Withheld>,
    /// Why a container does not get `IPC_LOCK`.
    pub ipc_lock_refusals: Vec<(usize, IpcLockRefusal)>,
    /// Variables of the profile that no carrier takes to a container.
    pub left_out: Vec<LeftOut>,
    /// Variables that are for some versions of NCCL, and containers whose version is not known.
    pub unknown_version: Vec<(usize, String)>,
    /// Containers that do not get the profile's files, and why.
    pub file_refusals: Vec<(usize, FileRefusal)>,
    /// Interfaces of the profile's rails that the pod does not get.
    pub unused_interfaces: Vec<String>,
    /// Variables of containers that are not set because they name such an interface.
    pub without_interface: Vec<WithoutInterface>,
}

/// Variables that a container does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Container.
    pub container: usize,
    /// Why not by `env`.
    pub why: EnvRefusal,
    /// Their names.
    pub names: Vec<String>,
    /// Why not by `/etc/nccl.conf`; `None` where only others than NCCL's are left, which do not read it.
    pub file: Option<FileRefusal>,
}

/// A variable that is not set because it names the interface of a rail that the pod does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutInterface {
    /// Container.
    pub container: usize,
    /// Variable.
    pub name: String,
    /// Interface.
    pub interface: String,
}

/// One edit and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What is edited.
    pub edit: Edit,
    /// Why, in a few words.
    pub reason: String,
}

impl Plan {
    /// The target at an index of `spec.containers`. Targets are in the order of the list.
    #[must_use]
    pub fn target(&self, index: usize) -> Option<Target> {
        let at = self.targets.binary_search_by_key(&index, |t| t.index).ok()?;
        self.targets.get(at).copied()
    }

    /// Why a container does not get `IPC_LOCK`, if it does not.
    #[must_use]
    pub fn ipc_lock_refusal(&self, index: usize) -> Option<&IpcLockRefusal> {
        let at = self.ipc_lock_refusals.binary_search_by_key(&index, |(i, _)| *i).ok()?;
        self.ipc_lock_refusals.get(at).map(|(_, refusal)| refusal)
    }

    /// What was left undone and why, without the changes.
    #[must_use]
    pub fn without_changes(mut self) -> Self {
        self.changes.clear();
        self
    }

    /// The changes of one container, which stand together.
    #[must_use]
    pub fn of_container(&self, index: usize) -> &[Change] {
        let start = self.changes.partition_point(|c| c.edit.container() < Some(index));
        let rest = self.changes.get(start..).unwrap_or_default();
        let length = rest.partition_point(|c| c.edit.container() <= Some(index));
        rest.get(..length).unwrap_or_default()
    }
}

/// Why nothing is planned for a pod that has a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// The pod asks to be left alone.
    OptedOut,
    /// The profile is for review only.
    ReviewOnly,
    /// The pod uses the node's network namespace, where no CNI plugin is called.
    HostNetwork,
    /// The pod has a network namespace of its own, and the profile's NICs are in the node's.
    OwnNetwork,
    /// The pod names networks of a cloud provider, whose own webhook serves it.
    ProviderNetworks(&'static str),
    /// A Windows pod.
    Windows,
    /// A mirror pod of a static pod: the node runs it whatever the API server says.
    Mirror,
    /// Networks of the profile do not exist.
    MissingNetworks,
    /// The networks annotation cannot be read, so nothing is built upon it.
    Unreadable,
    /// The pod asks for a part of the rails that the profile does not have.
    UnknownRails(String),
    /// More containers than any node runs; what each of them gets would make an answer of tens of megabytes.
    ManyContainers,
    /// A container would list more resources than are read.
    ManyResources,
    /// The pod's annotations leave no room for ours, and the API server would refuse the pod.
    NoRoom,
    /// The pod names containers that the profile cannot be for.
    WrongContainers(WrongContainers),
    /// A claim of the pod brings network devices: a DRA driver serves it.
    NetworkClaim,
}

/// Why a container does not get `IPC_LOCK`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IpcLockRefusal {
    /// The kernel drops it when the process is not root.
    NonRoot,
    /// The kernel asks for it in the user namespace of the node, and the pod has its own.
    UserNamespace,
    /// Pod Security of the namespace would reject the pod.
    PodSecurity(PodSecurity),
}

/// Why variables do not reach the ranks of a container by its `env`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvRefusal {
    /// It has `envFrom`, whose names are not in the pod and which `env` would override.
    EnvFrom,
    /// Its ranks are started over ssh, and sshd does not hand the container's variables on.
    Ssh,
}

impl EnvRefusal {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::EnvFrom => "envFrom may hold them, and env would win over it",
            Self::Ssh => "ranks are started over ssh",
        }
    }
}

/// What planning looks at.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The pod or pod template.
    pub pod: &'a PodView<'a>,
    /// What its containers ask of accelerators.
    pub demands: &'a Demands,
    /// Its networks annotation; an error where it cannot be read.
    pub networks: Option<&'a Result<Networks<'a>, crate::multus::AnnotationError>>,
    /// Its namespace.
    pub namespace: &'a str,
    /// What is known of the namespace.
    pub namespace_facts: Option<&'a NamespaceFacts>,
    /// Everything else that is known.
    pub snapshot: &'a Snapshot,
    /// Whether the pod's ranks are known to be started over ssh.
    pub ranks_over_ssh: bool,
    /// Whether the pod is kept to the profile's nodes even where the profile does not say so.
    pub pin: bool,
}

/// Plans a profile for a pod.
#[must_use]
pub fn plan(scene: Scene<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
    let mut plan = whole(scene, profile, evidence);
    if !resources::fit(scene, &plan) {
        let Plan { targets, accelerators, missing, .. } = plan;
        return Plan {
            targets,
            accelerators,
            missing,
            withheld: Some(Withheld::ManyResources),
            ..Plan::default()
        };
    }
    if annotations::fit(scene.pod, || plan.changes.iter().map(|c| &c.edit)) {
        injected::plan(scene, profile, &mut plan);
        return plan;
    }
    // Devices without their networks would be half a plan: all of it or nothing.
    let Plan { targets, accelerators, missing, .. } = plan;
    Plan { targets, accelerators, missing, withheld: Some(Withheld::NoRoom), ..Plan::default() }
}

fn whole(scene: Scene<'_>, profile: &Profile, evidence: &Evidence) -> Plan {
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
    let Some(rails) = rails::chosen(scene, profile, &plan) else {
        let name = scene.pod.annotation(RAILS_ANNOTATION).unwrap_or_default();
        plan.withheld = Some(Withheld::UnknownRails(name.to_owned()));
        return plan;
    };
    // No CNI plugin is called for a pod in the node's network namespace.
    let attached = match scene.pod.host_network() {
        true => Vec::new(),
        false => networks::plan(scene, profile, rails, evidence, &mut plan),
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
    match by_itself(scene.pod, profile) {
        Some(Withheld::OptedOut) => Some(Withheld::OptedOut),
        _ if profile.inject == Inject::Review => Some(Withheld::ReviewOnly),
        None if matches!(scene.networks, Some(Err(_))) => Some(Withheld::Unreadable),
        None if scene.demands.network_claim() => Some(Withheld::NetworkClaim),
        reason => reason,
    }
}

/// Why a pod would get nothing of a profile, as far as the two tell.
#[must_use]
pub fn by_itself(pod: &PodView<'_>, profile: &Profile) -> Option<Withheld> {
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
