//! Which variables of a profile a container does not get, and why.

use super::left_out_reasons::{EnvRefusal, FileRefusal};

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
