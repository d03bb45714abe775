//! Why a container does not get a part of the plan.

use super::names::VOLUME_NAMES;
use crate::facts::PodSecurity;

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

/// Why a file does not reach a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRefusal {
    /// Images of the fabric have one of their own that must stay.
    Image,
    /// The container mounts something there, or above it.
    Mounted(String),
    /// Another container reads the same file and must not have the variable.
    Shared,
    /// It would be longer than 64 KiB, or the pod's annotations longer than 256 KiB.
    TooLarge,
    /// Volumes of the pod have every name that ours may have.
    NoName,
}

impl FileRefusal {
    /// In words, to follow the file's path.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Image => "belongs to the image, says the profile".to_owned(),
            Self::Mounted(path) => format!("lies behind the container's own mount at {path}"),
            Self::Shared => "is read by other containers of the pod too, which must not have it".to_owned(),
            Self::TooLarge => "would pass 64 KiB, or the pod's annotations 256 KiB".to_owned(),
            Self::NoName => format!("needs a volume, and {} are taken", VOLUME_NAMES.join(" and ")),
        }
    }
}
