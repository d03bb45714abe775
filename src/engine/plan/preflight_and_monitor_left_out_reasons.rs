//! Why a pod does not get one of our containers, or not all of it. `preflight_and_monitor` finds the reasons, and FAB821
//! reports them.

use super::left_out_reasons::FileRefusal;
use crate::pod::which_containers_webhook_added::MONITOR;

/// Why a pod does not get one of our containers, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InPodRefusal {
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

impl InPodRefusal {
    /// Whether the pod gets no monitor, or no annotations for it.
    #[must_use]
    pub fn is_of_monitor(&self) -> bool {
        match self {
            Self::Name(name) => *name == MONITOR,
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
