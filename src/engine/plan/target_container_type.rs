//! A container that the profile is for.

/// A container that the profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Index in `spec.containers`.
    pub index: usize,
    /// Whole accelerators it requests (count, at least 1); if the quantity is unknown, the accelerators of a whole
    /// node.
    pub accelerators: u32,
    /// Whether its accelerators use NCCL or RCCL, as all but AWS Neuron do.
    pub nccl: bool,
}

/// The target at an index of `spec.containers`. Targets are in the order of the list.
pub(super) fn target_at_container_index(targets: &[Target], index: usize) -> Option<Target> {
    let at = targets.binary_search_by_key(&index, |t| t.index).ok()?;
    targets.get(at).copied()
}

/// Whole accelerators of all targets (count).
pub(super) fn sum_of_accelerators(targets: &[Target]) -> u32 {
    targets.iter().fold(0, |sum, t| sum.saturating_add(t.accelerators))
}

/// Why the containers that a pod names cannot be targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongContainers {
    /// An item is empty.
    Empty,
    /// No container of `spec.containers` has the name. With the name that was probably meant.
    Unknown(String, Option<String>),
    /// It is the name of an init container.
    Init(String),
    /// It is the proxy of a mesh.
    Proxy(String),
    /// It is named twice.
    Twice(String),
    /// No container of the pod asks for accelerators.
    NoAccelerators,
}
