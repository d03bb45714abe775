//! `.fabric-admission.yaml`: settings of a review beside the files that they are for. The file nearest to an input counts
//! as a whole; nothing of those above it does, unless it names one with `extend`.

mod file;
mod glob;
mod groups;
mod ignore;

pub(super) use groups::{Choice, Group, groups};
pub(in crate::cli) use ignore::Ignores;
