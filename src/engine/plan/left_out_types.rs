//! Types only: the parts of a profile that a pod does not get, and the reasons. `ipc_lock`, `which_variables_to_add`,
//! `nccl_conf_and_small_files`, `which_rails_pod_gets` and `preflight_and_monitor` find the reasons. Findings word them:
//! FAB502 to FAB504 for IPC_LOCK, FAB821 for containers of our own, FAB819 and FAB805 for the rest.

use super::annotation_names_and_paths::FILES_VOLUME_NAMES;
use crate::facts::PodSecurity;
use crate::pod::which_containers_webhook_added::MONITOR_CONTAINER;

/// Why a container does not get `IPC_LOCK`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IpcLockRefusal {
    /// The kernel drops it when the process is not root.
    NonRoot,
    /// The kernel checks it in the user namespace of the node, and the pod has its own.
    UserNamespace,
    /// Pod Security of the namespace would reject the pod.
    PodSecurity(PodSecurity),
}

/// Why variables in a container's `env` do not reach its ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvRefusal {
    /// It has `envFrom`, whose names are not in the pod and which `env` would override.
    EnvFrom,
    /// Its ranks are started over ssh, and sshd does not pass the container's variables on.
    Ssh,
}

impl EnvRefusal {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::EnvFrom => "envFrom may set them, and env would override envFrom",
            Self::Ssh => "the ranks start over ssh",
        }
    }
}

/// Why a file does not reach a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRefusal {
    /// The profile says that its images have their own file, which must stay.
    Image,
    /// The container mounts something at that path, or above it.
    Mounted(String),
    /// Another container reads the same file and must not have the variable.
    Shared,
    /// The file would exceed 64 KiB, or the pod's annotations 256 KiB.
    TooLarge,
    /// Volumes of the pod have every name that our volumes may have.
    NoName,
}

impl FileRefusal {
    /// In words, to follow the file's path.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Image => "must stay as in the image (ncclConf: image)".to_owned(),
            Self::Mounted(path) => format!("is hidden by the container's mount at {path}"),
            Self::Shared => "is shared with containers that must not get the variables".to_owned(),
            Self::TooLarge => "would exceed 64 KiB, or make the pod's annotations exceed 256 KiB".to_owned(),
            Self::NoName => {
                format!(
                    "needs a volume, but the pod already uses the names {}",
                    FILES_VOLUME_NAMES.join(" and ")
                )
            }
        }
    }
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

/// A part of a profile in whose place the pod's own field counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFieldKept {
    /// The pod requests devices for fewer rails than the profile has.
    Rails {
        /// Rails that are not attached (count).
        left_out: usize,
        /// Rails that the profile has for the pod (count).
        rails: usize,
    },
    /// A container requests another quantity of a resource than the profile.
    Units {
        /// Container.
        container: usize,
        /// Resource.
        resource: String,
        /// Units that it requests.
        own: i64,
        /// Units by the profile.
        wanted: i64,
    },
    /// The pod has an annotation for GKE's networks with another value.
    GkeNetworks(&'static str),
    /// The pod names its node, and the scheduler does not read its affinity.
    NodeName,
    /// The pod's affinity has too many terms (count).
    NodeTerms(usize),
    /// The pod requires another value of a node label than its network.
    NodeLabel {
        /// Label.
        key: String,
        /// Value by the network.
        wanted: String,
    },
}

/// Why a pod does not get one of our containers, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedContainerRefusal {
    /// A container of the pod has the name of our container and is not our container.
    Name(&'static str),
    /// Volumes of the pod have every name that our volume may have.
    VolumeName,
    /// The pod asks for nodes of an architecture for which we build no program.
    Architecture(String),
    /// A target mounts something at our path, above it or below it: container, and its mount.
    Path(usize, String),
    /// The target has no image yet.
    NoImage(usize),
    /// The settings of the target are too long to be copied.
    LongSettings(usize),
    /// The text of the pod cannot be copied, because it is not known or has a key twice.
    Unreadable,
    /// The targets together request more resources than are read.
    ManyResources,
    /// Targets have other images: the first target, and the first one that differs from it. Preflight runs in the image of
    /// the first.
    Images(usize, usize),
    /// A target does not get `/etc/nccl.conf` with the facts of the pod.
    Conf(usize, FileRefusal),
    /// The pod uses the node's network, where another pod may have the port.
    HostNetwork,
    /// A container of the pod declares the port of the monitor: JSON pointer of the container.
    Port(String),
    /// The pod has its own annotations for Prometheus: the key of the first.
    Scrape(&'static str),
    /// The pod's annotations leave no room for those by which Prometheus finds the monitor.
    NoRoom,
}

impl AddedContainerRefusal {
    /// Whether the pod gets no monitor, or no annotations for it.
    #[must_use]
    pub fn is_of_monitor(&self) -> bool {
        match self {
            Self::Name(name) => *name == MONITOR_CONTAINER,
            Self::VolumeName
            | Self::Unreadable
            | Self::Architecture(_)
            | Self::HostNetwork
            | Self::Port(_)
            | Self::Scrape(_) => true,
            _ => false,
        }
    }
}
