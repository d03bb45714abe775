//! Parts of a checked profile.

use super::schema::EnvPolicy;
use crate::multus::NetworkRef;
use crate::nccl::NcclVersion;
use std::sync::Arc;

/// A named part of the rails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subset {
    /// Name, as pods give it.
    pub name: String,
    /// Its rails, in the order of the profile.
    pub rails: Vec<Rail>,
}

/// One attachment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rail {
    /// Network.
    pub network: NetworkRef,
    /// Resource that hands out its device.
    pub resource: Option<String>,
    /// Interface in the pod.
    pub interface: String,
}

/// One variable. Its texts are shared with the changes of every pod that gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvEntry {
    /// Name.
    pub name: Arc<str>,
    /// Value; empty under `forbid`.
    pub value: Arc<str>,
    /// What a value of the user's own means.
    pub policy: EnvPolicy,
    /// First version of NCCL that it is for.
    pub from: Option<NcclVersion>,
    /// First NCCL version that no longer gets it.
    pub before: Option<NcclVersion>,
    /// Why.
    pub reason: Arc<str>,
}
