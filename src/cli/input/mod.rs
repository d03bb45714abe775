//! Inputs of every offline command: manifests, profiles and facts about the cluster. YAML and JSON themselves are read
//! in `manifest`; what a command does with the objects is in its own file.

mod cluster_setting_flags;
pub(super) mod documents_to_objects;
mod errors_of_a_file;
pub(super) mod facts_of_live_cluster;
pub(super) mod hidden_files_of_directories;
mod input_flags;
mod items_of_lists;
pub(super) mod links_in_directories;
mod loaded_batches;
mod parts_of_a_stream;
pub(super) mod profile_faults;
pub(super) mod read_and_find_profiles;
pub(super) mod read_files_and_directories;
mod read_in_parallel;
mod read_profiles_facts_and_inputs;
mod report_unread;
mod spellings_of_manifest_keys;
mod text_read_again;
mod which_texts_may_hold_facts;

pub(super) use cluster_setting_flags::{ClusterSettingFlags, OPERATOR_NAMESPACES, ServerSettings};
pub(super) use errors_of_a_file::UnreadAndSkippedInputs;
pub(super) use input_flags::{FactFileFlags, InputDefaults, InputFlags, parse_namespace};
pub(super) use loaded_batches::{Batch, DecodedFile, Loaded, LoadedFile, place_of_value, source_of_object};
pub(super) use read_profiles_facts_and_inputs::{
    InputsAndSnapshot, SharedFacts, read_facts_for_server, read_inputs_and_facts,
    read_inputs_and_live_cluster, read_profiles_and_fact_files,
};
pub(super) use report_unread::{report_unread, warn_of_duplicates, write_fact_warnings_and_input_errors};
