//! Kinds of changes, for counts.

use super::Edit;
use crate::text::push_number;
use std::fmt;

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The networks annotation.
    Networks,
    /// Another annotation.
    Annotation,
    /// A file, as an annotation.
    File,
    /// A volume.
    Volume,
    /// A label of the node selector, or a requirement of the node affinity.
    Placement,
    /// Units of an extended resource.
    Resource,
    /// A capability.
    Capability,
    /// A variable.
    Variable,
    /// A mount of a volume.
    Mount,
    /// An init container of our own.
    InitContainer,
}

impl ChangeKind {
    /// Every kind, in order.
    pub const ALL: [Self; 10] = [
        Self::Networks,
        Self::Annotation,
        Self::File,
        Self::Volume,
        Self::Placement,
        Self::Resource,
        Self::Capability,
        Self::Variable,
        Self::Mount,
        Self::InitContainer,
    ];

    /// The kind of an edit.
    #[must_use]
    pub fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Networks { .. } => Self::Networks,
            Edit::Annotation { .. } => Self::Annotation,
            Edit::File { .. } => Self::File,
            Edit::FilesVolume { .. } | Edit::ShmVolume { .. } | Edit::InPodVolume { .. } => Self::Volume,
            Edit::InitContainer { .. } => Self::InitContainer,
            Edit::NodeSelector { .. } | Edit::NodeRequirement { .. } => Self::Placement,
            Edit::Quantity { .. } => Self::Resource,
            Edit::Capability { .. } => Self::Capability,
            Edit::Env { .. } => Self::Variable,
            Edit::ShmMount { .. } | Edit::FileMount { .. } => Self::Mount,
        }
    }

    /// Its name in metrics and in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Networks => "networks",
            Self::Annotation => "annotation",
            Self::File => "file",
            Self::Volume => "volume",
            Self::Placement => "placement",
            Self::Resource => "resource",
            Self::Capability => "capability",
            Self::Variable => "variable",
            Self::Mount => "mount",
            Self::InitContainer => "init_container",
        }
    }

    /// The number of edits of each kind.
    #[must_use]
    pub fn counts<'e>(edits: impl Iterator<Item = &'e Edit>) -> ChangeCounts {
        let mut counts = ChangeCounts::default();
        for edit in edits {
            if let Some(count) = counts.0.get_mut(Self::of(edit) as usize) {
                *count += 1;
            }
        }
        counts
    }
}

/// The number of edits of each kind, shown as `networks=1 variable=3`: the kinds that occur, in their order.
#[derive(Debug, Default)]
pub struct ChangeCounts([usize; ChangeKind::ALL.len()]);

impl ChangeCounts {
    /// Writes them.
    pub(crate) fn write_to(&self, out: &mut String) {
        let found = ChangeKind::ALL.iter().zip(self.0).filter(|(_, count)| *count > 0);
        for (nth, (kind, count)) in found.enumerate() {
            out.push_str(if nth == 0 { "" } else { " " });
            out.push_str(kind.name());
            out.push('=');
            push_number(out, count);
        }
    }
}

impl fmt::Display for ChangeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_to(&mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_their_order_and_are_counted() {
        for (index, kind) in ChangeKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
        let variable = |index| Edit::Env { container: 0, name: "A".into(), value: "b".into(), index };
        let capability = Edit::Capability { container: 0, index: 0 };
        let edits = [variable(0), capability, variable(1)];
        assert_eq!(ChangeKind::counts(edits.iter()).to_string(), "capability=1 variable=2");
        assert_eq!(ChangeKind::counts([].iter()).to_string(), "");
    }
}
