//! Inputs of every offline command: manifests, profiles and facts about the cluster. YAML and JSON themselves are read
//! in `manifest`; what a command does with the objects is in its own file.

mod cluster_setting_flags;
pub(super) mod documents_to_objects;
mod errors_of_a_file;
mod facts_before_decisions;
pub(super) mod files;
mod input_flags;
pub(super) mod live;
mod loaded_batches;
mod parts_of_a_stream;
pub(super) mod profile_faults;
pub(super) mod profiles;
mod read_in_parallel;
mod report_unread;
mod text_read_again;
mod which_texts_may_hold_facts;

pub(super) use cluster_setting_flags::{ClusterSettingFlags, OPERATOR_NAMESPACES, ServerSettings};
pub(super) use errors_of_a_file::Problems;
pub(super) use facts_before_decisions::{
    Prepared, ProfilesAndFacts, facts_from_files, read_inputs_and_facts, read_inputs_with_given,
    read_profiles_and_fact_files,
};
pub(super) use input_flags::{Defaults, Files, Inputs, namespace};
pub(super) use loaded_batches::{Batch, File, Loaded, Ready, place, source};
pub(super) use report_unread::{report_unread, warn_of_duplicates, write_unread_facts};
