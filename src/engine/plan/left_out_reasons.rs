//! Why a container does not get some part of the plan. Findings word the reasons: FAB502 to FAB504 for IPC_LOCK, FAB805 for
//! the rest.

use super::annotation_names_and_paths::VOLUME_NAMES;
use crate::facts::PodSecurity;

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
                format!("needs a volume, but the pod already uses the names {}", VOLUME_NAMES.join(" and "))
            }
        }
    }
}
