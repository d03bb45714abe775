//! Whether the plan adds a place of the final pod: a finding about it must not read as if the user had written it.

use super::{Edit, Plan};

impl Edit {
    /// Whether it adds a value where the user has none.
    #[must_use]
    pub fn is_new(&self) -> bool {
        match self {
            Self::Networks { present, .. }
            | Self::Annotation { present, .. }
            | Self::File { present, .. }
            | Self::Quantity { present, .. } => !present,
            Self::ShmVolume { .. }
            | Self::FilesVolume { .. }
            | Self::InPodVolume { .. }
            | Self::InitContainer { .. }
            | Self::NodeSelector { .. }
            | Self::NodeRequirement { .. }
            | Self::Capability { .. }
            | Self::Env { .. }
            | Self::FileMount { .. }
            | Self::ShmMount { .. } => true,
        }
    }
}

impl Plan {
    /// Whether the plan adds the value at a JSON pointer of the final pod, or an object around it.
    #[must_use]
    pub fn adds(&self, pointer: &str) -> bool {
        let within = |path: &str| {
            pointer.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.changes.iter().any(|change| change.edit.is_new() && within(&change.edit.path()))
    }
}
