//! The plan of a pod: changes in order, and the reason for each part left out.

use super::edit::Edit;
use super::in_pod_refusal_reasons::InPodRefusal;
use super::kept::Kept;
use super::nccl_conf::ConfFile;
use super::reason::Reason;
use super::refusals::{EnvRefusal, FileRefusal, IpcLockRefusal};
use super::target::{self, Target, WrongContainers};
use super::user_fabric_result::UserFabric;
use crate::demands::claimed::ClaimOn;
use crate::resolve::Missing;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Ordered changes, and the parts left out.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Intended edits. All edits of one container stand together, containers in order.
    pub changes: Vec<Change>,
    /// Containers that the profile is for.
    pub targets: Vec<Target>,
    /// Volume for `/dev/shm` of every app container without one: planned, or already there.
    pub shm_volume: Option<String>,
    /// Whole accelerators of the targets (count).
    pub accelerators: u32,
    /// Networks and resources of the profile that do not exist, if the pod would get them.
    pub missing: Vec<Missing>,
    /// Why the whole plan is empty although there is a profile.
    pub withheld: Option<Withheld>,
    /// Why a container does not get `IPC_LOCK`.
    pub ipc_lock_refusals: Vec<(usize, IpcLockRefusal)>,
    /// Variables of the profile that no carrier brings to a container.
    pub left_out: Vec<VariablesLeftOut>,
    /// Variables for certain versions of NCCL, in containers whose version is not known.
    pub unknown_version: Vec<(usize, String)>,
    /// Containers that do not get the profile's files, and why.
    pub file_refusals: Vec<(usize, FileRefusal)>,
    /// Interfaces of the profile's rails that the pod does not get.
    pub unused_interfaces: Vec<String>,
    /// Variables of containers that are not set because they name such an interface.
    pub without_interface: Vec<VariableWithoutInterface>,
    /// Variables that are not set because of the container's own settings.
    pub set_by_pod: Vec<VariableSetByPod>,
    /// Parts of the profile in whose place the pod's own fields count.
    pub kept: Vec<Kept>,
    /// Containers of our own that the pod does not get, or not wholly, and why.
    pub in_pod_refusals: Vec<InPodRefusal>,
    /// The pod's own networks and units, and the conclusion; `None` if they were not counted.
    pub user_fabric: Option<UserFabric>,
    /// What follows from the pod with the plan.
    pub(super) read_once: FinalFacts,
}

/// Facts about the pod with its plan, each found on first use: a file and an annotation are shared by containers.
#[derive(Debug, Clone, Default)]
pub(super) struct FinalFacts {
    /// The `nccl.conf`.
    pub(super) conf: OnceCell<ConfFile>,
    /// App containers for which the NRI plugin sets the memlock limit.
    pub(super) with_memlock: OnceCell<BTreeSet<usize>>,
}

/// Variables that a container does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariablesLeftOut {
    /// Container.
    pub container: usize,
    /// Why `env` cannot carry them.
    pub why: EnvRefusal,
    /// Their names.
    pub names: Vec<String>,
    /// Why `/etc/nccl.conf` cannot carry them; `None` if NCCL does not read any of them.
    pub file: Option<FileRefusal>,
}

/// A variable that is not set because it names the interface of a rail that the pod does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableWithoutInterface {
    /// Container.
    pub container: usize,
    /// Variable.
    pub name: String,
    /// Interface.
    pub interface: String,
}

/// A variable that is not set because of the container's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableSetByPod {
    /// Container.
    pub container: usize,
    /// Variable.
    pub name: String,
    /// What stands in its place.
    pub by: OwnSetting,
}

/// A setting of a container that stands in the place of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnSetting {
    /// The text of its command gives the variable a value, which would override `env`.
    Command,
    /// Its `env` takes the value from another object or a field (`valueFrom`).
    Reference,
    /// It names a plugin of NCCL, which brings a transport of its own.
    Plugin,
    /// The pod uses the node's network, and the variable names an interface of the pod's own.
    HostNetwork,
}

/// One edit and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What is edited.
    pub edit: Edit,
    /// The reason, in a few words. All containers share the text of a variable's reason.
    pub reason: Reason,
}

impl Plan {
    /// The target at an index of `spec.containers`. Targets are in the order of the list.
    #[must_use]
    pub fn target(&self, index: usize) -> Option<Target> {
        target::at(&self.targets, index)
    }

    /// Why a container does not get `IPC_LOCK`; `None` if it does.
    #[must_use]
    pub fn ipc_lock_refusal(&self, index: usize) -> Option<&IpcLockRefusal> {
        let at = self.ipc_lock_refusals.binary_search_by_key(&index, |(i, _)| *i).ok()?;
        self.ipc_lock_refusals.get(at).map(|(_, refusal)| refusal)
    }

    /// The parts left out and why, without the changes.
    #[must_use]
    pub fn without_changes(mut self) -> Self {
        self.changes.clear();
        self
    }

    /// The changes of the pod itself, which come first.
    pub(crate) fn of_pod(&self) -> &[Change] {
        let length = self.changes.partition_point(|c| c.edit.container().is_none());
        self.changes.get(..length).unwrap_or_default()
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
    /// A mirror pod of a static pod: the node runs it whatever the API server answers.
    Mirror,
    /// Networks of the profile do not exist.
    MissingNetworks,
    /// The networks annotation cannot be read, so nothing is added to it.
    Unreadable,
    /// The pod asks for a part of the rails that the profile does not have.
    UnknownRails(String),
    /// More containers than any node runs; the answer would have tens of megabytes.
    ManyContainers,
    /// More targets than the profile can be written for: the patch would be many times the size of the pod.
    ManyTargets {
        /// Targets of the pod (count).
        targets: usize,
        /// Most targets for this profile (count).
        most: usize,
    },
    /// A list of the pod is longer than in any real pod. FAB820 reports it.
    OverLimit,
    /// A container would list more resources than we read.
    ManyResources,
    /// The pod's annotations leave no room for ours, and the API server would refuse the pod.
    NoRoom,
    /// No app container requests accelerators.
    NoTarget,
    /// The pod names containers that cannot be targets of the profile.
    WrongContainers(WrongContainers),
    /// A quantity is not a number, such as `$GPUS`: it is not known what the pod would have. FAB201 reports it.
    UnreadQuantity,
    /// A claim of the pod, or its template, is not known: it may be for NICs.
    UnreadClaim(ClaimOn),
    /// Networks without known units are named so often that they may be the pod's rails.
    UnknownNetworks(usize),
    /// No node that the pod can run on has units for its own attachments beside the profile's rails.
    NodesTooSmall {
        /// Resource.
        resource: String,
        /// Units that the pod would request (count).
        wanted: i64,
    },
    /// The pod asks for the profile beside a unit of a fabric that cannot share a pod with it.
    Conflict(String),
    /// The profile's transport does not serve the pod's accelerators.
    NotServed,
}
