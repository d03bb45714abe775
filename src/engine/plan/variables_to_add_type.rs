//! A type only: the variables that a target lacks, as `which_variables_to_add` finds them.

use super::{EnvRefusal, FileRefusal, VariableSetByPod, VariableWithoutInterface};
use crate::profile::EnvEntry;

/// The variables that a target lacks.
#[derive(Debug, Default)]
pub(super) struct VariablesOfTarget<'p> {
    pub(super) container: usize,
    /// Set in `env`.
    pub(super) by_env: Vec<&'p EnvEntry>,
    /// Lines of `/etc/nccl.conf`.
    pub(super) by_file: Vec<&'p EnvEntry>,
    /// Set nowhere.
    pub(super) left: Vec<&'p EnvEntry>,
    /// Variables of the profile that this container must not get: for another version of NCCL, beside a plugin,
    /// without their file, or with a user's value that the file would override for ranks over ssh.
    pub(super) never: Vec<&'p str>,
    /// Why `env` cannot carry them.
    pub(super) why: Option<EnvRefusal>,
    /// Why the file cannot carry them either.
    pub(super) file_refusal: Option<FileRefusal>,
    /// Names of variables for some versions of NCCL, where the version in the container is not known.
    pub(super) unknown_version: Vec<String>,
    /// Those that name an interface which the pod does not get.
    pub(super) without_interface: Vec<VariableWithoutInterface>,
    /// Those that the container's own settings replace.
    pub(super) set_by_pod: Vec<VariableSetByPod>,
}
