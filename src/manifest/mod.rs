//! Kubernetes manifests as people write them: streams of YAML or JSON documents, each with the source
//! position of every node.
//!
//! The standard is kubectl. It splits a file into documents itself, reads each through sigs.k8s.io/yaml (a go-yaml v2
//! fork: YAML 1.1) and sends JSON. A manifest must mean the same here and in the cluster, so the values are those
//! that kubectl reads, `on` and `0644` included. kubectl does not keep the position of a value, which a reader of our
//! findings needs.

mod catch_panic_of_yaml_parser;
mod document;
mod follow_many_pointers;
mod go_numbers;
mod input_error;
mod json_pointer;
mod mapping_entries_and_alias_budget;
mod node_tree;
mod position_inside_string_value;
mod read_documents;
mod read_fault;
mod read_json;
mod read_yaml;
mod repair_spellings_for_yaml_parser;
mod source_positions;
mod special_characters;
mod split_documents;
mod string_style;
mod write_flow_yaml;
mod write_json;
mod write_quoted_string;
mod write_yaml;
mod yaml_error_causes;
mod yaml_scalars;

pub use catch_panic_of_yaml_parser::install_quiet_panic_hook;
pub use catch_panic_of_yaml_parser::will_panic_become_input_error;
pub use document::{Document, DocumentOrError, DuplicateKey, Part};
pub use input_error::InputError;
pub use json_pointer::range_at_pointer;
pub use read_documents::{read_documents_of_file, read_part_of_file, why_no_document};
pub use source_positions::Position;
pub use special_characters::{BYTE_ORDER_MARK, begins_with_line_break};
pub use string_style::fits_into_log_of_ci_runner;
pub use write_yaml::to_yaml;
pub use yaml_error_causes::template_cause_in_message;
