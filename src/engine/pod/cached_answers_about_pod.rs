//! Facts that follow from the fields of a pod, each kept where it was found first.

use super::place_index::PlaceIndex;
use super::quick_test_for_absent_variable::NameMarks;
use crate::nccl::NcclVersion;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Facts about a container.
#[derive(Debug, Default)]
pub struct CachedAnswersAboutContainer {
    /// Marks of the names of its variables.
    pub(super) variables: OnceCell<NameMarks>,
    /// Its variables by name.
    pub(super) by_variable: PlaceIndex,
    /// The values of its variables with references, by place; `None` for one that `env` does not show.
    pub(super) expanded_values: OnceCell<BTreeMap<usize, Option<String>>>,
    /// The version of NCCL by the name of its image.
    pub(super) nccl: OnceCell<Option<NcclVersion>>,
    /// Whether it has our `/etc/nccl.conf`; found by the plan.
    pub(crate) has_conf: OnceCell<bool>,
}

/// Where a pod has the preflight container that the webhook added.
#[derive(Debug, Clone, Copy)]
pub struct PlaceOfPreflightContainer {
    /// Among the init containers.
    pub(super) container: usize,
    /// The mount of its volume, among its mounts.
    pub(super) mount: Option<usize>,
}
