//! The plan of a pod: changes in order, and the reason for each part left out.

use super::edit_type::Edit;
use super::left_out_types::{
    AddedContainerRefusal, FileRefusal, IpcLockRefusal, OwnFieldKept, VariableSetByPod,
    VariableWithoutInterface, VariablesLeftOut,
};
use super::nccl_conf_format::ConfFile;
use super::reason_text::Reason;
use super::target_container_type::{self, Target};
use super::user_fabric_counts::UserFabric;
use super::why_pod_gets_nothing::WhyNothingPlanned;
use crate::resolve::MissingNetworkOrResource;
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
    pub missing: Vec<MissingNetworkOrResource>,
    /// Why the whole plan is empty although there is a profile.
    pub withheld: Option<WhyNothingPlanned>,
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
    pub kept: Vec<OwnFieldKept>,
    /// Containers of our own that the pod does not get, or not wholly, and why.
    pub in_pod_refusals: Vec<AddedContainerRefusal>,
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
        target_container_type::target_at_container_index(&self.targets, index)
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
    pub(crate) fn changes_of_pod_itself(&self) -> &[Change] {
        let length = self.changes.partition_point(|c| c.edit.container().is_none());
        self.changes.get(..length).unwrap_or_default()
    }

    /// The changes of one container, which stand together.
    #[must_use]
    pub fn changes_of_container(&self, index: usize) -> &[Change] {
        let start = self.changes.partition_point(|c| c.edit.container() < Some(index));
        let rest = self.changes.get(start..).unwrap_or_default();
        let length = rest.partition_point(|c| c.edit.container() <= Some(index));
        rest.get(..length).unwrap_or_default()
    }
}
