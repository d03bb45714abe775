//! Rules. A folder per group, named as users see the group; in it a folder per rule with its declaration, checks, text
//! and examples. A file beside them has code that several rules of the group share.

mod all_rules;
mod attachments_for_variables;
mod cloud;
mod crd_fields;
mod device_plugin_config_fault_type;
mod devices_of_pod;
mod finding;
mod fix_for_wrong_type;
pub mod inputs;
pub mod json_in_text_fields;
mod memory_security;
mod misspelt_resource;
mod most_findings_per_rule;
mod nccl;
mod networks;
mod object_context;
mod object_kinds;
mod operators;
mod parse_page_of_rule;
mod place_in_json_text;
mod placement;
mod places_in_network_definition;
mod pod_context;
mod pointers_in_pod;
#[cfg(test)]
mod profile_object_tests;
mod profiles;
mod resources;
mod rule_declaration;
pub mod rules_in_cel;
mod shm_volumes;
mod sriov_policy_beside;
mod variables_of_pod;
pub mod which_findings_annotations_ignore;
mod which_rules_run;
mod workload_context;

pub use all_rules::{RULES, does_any_rule_check_kind, does_any_rule_judge_fields_of_kind, find};
pub use finding::{Finding, Findings, Severity, Spot, fold_by_other_object};
pub(crate) use most_findings_per_rule::MAX_PER_RULE;
pub use object_context::{Event, ObjectContext};
pub use parse_page_of_rule::Page;
pub use pod_context::{PodContext, Scope};
pub use profiles::NO_PROFILE;
pub use rule_declaration::{Files, Reach, Rule, Waiver};
pub use which_rules_run::{check_object, check_pod, check_workload};
pub use workload_context::{Asked, WorkloadContext, WorkloadTemplate};
