//! `.fabric-admission.yaml`: settings of a review beside the files that they are for. The file nearest to an input counts
//! as a whole; nothing of those above it does, unless it names one with `extend`.

mod config_file;
mod group_inputs_by_config_file;
mod join_or_refuse_outside_repository;
mod path_patterns;
mod paths_below_others;
mod which_findings_config_ignores;

pub(super) use group_inputs_by_config_file::{ConfigChoice, InputsOfOneConfig, group_inputs_by_config};
pub(in crate::cli) use which_findings_config_ignores::Ignores;
