//! `.fabric-admission.yaml`: settings of a review beside the files that they are for. The file nearest to an input counts
//! as a whole; nothing of those above it does, unless it names one with `extend`.

mod config_file;
mod path_patterns;
mod which_config_file;
mod which_findings_config_ignores;

pub(super) use which_config_file::{Choice, Group, groups};
pub(in crate::cli) use which_findings_config_ignores::Ignores;
