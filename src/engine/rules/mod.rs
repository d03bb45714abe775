//! Rules. A folder per group, named as users see the group; in it a folder per rule with its declaration, checks, text
//! and examples. A file beside them has code that several rules of the group share.

mod all_rules;
mod attachments;
pub mod cel;
mod cloud;
mod devices;
pub mod embedded;
mod fields;
mod finding;
pub mod inputs;
mod kinds;
mod memory_security;
mod misspelt_resource;
mod nccl;
mod network_definition;
mod networks;
mod object;
mod operators;
mod other_policy;
mod page;
mod paths;
mod place_in_json_text;
mod placement;
mod plugin_config;
mod pod;
#[cfg(test)]
mod profile_object_tests;
mod profiles;
mod resources;
mod rule;
mod shm_volumes;
pub mod suppression;
mod variables;
mod workload;
mod wrong_type;

pub use all_rules::{RULES, check_object, check_pod, check_workload, checks_kind, find, judges_kind};
pub(crate) use finding::MAX_PER_RULE;
pub use finding::{Finding, Findings, Severity, Spot, folded};
pub use object::{Event, ObjectContext};
pub use page::Page;
pub use pod::{PodContext, Scope};
pub use profiles::NO_PROFILE;
pub use rule::{Files, Reach, Rule, Waiver};
pub use workload::{Asked, WorkloadContext, WorkloadTemplate};
