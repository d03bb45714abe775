//! Rules. A folder per group, named as users see the group; in it a folder per rule with its declaration, checks, text
//! and examples. A file beside them has code that several rules of the group share.

mod all_rules;
mod attachments_for_variables;
mod cloud;
mod cni_config_of_network_definition;
mod device_plugin_config_fault_type;
mod devices_of_pod;
mod finding;
mod fix_for_decode_error;
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
mod other_sriov_policy_and_common_nodes;
mod parse_page_of_rule;
mod place_in_json_text;
mod placement;
mod pod_context;
mod pointers_in_pod;
#[cfg(test)]
mod profile_object_tests;
mod profiles;
mod report_fields_crd_refuses;
mod resources;
mod rule_declaration;
pub mod rules_in_cel;
mod shm_volumes;
mod variables_of_pod;
pub mod which_findings_annotations_ignore;
mod which_rules_run;
mod workload_context;

pub use all_rules::{
    RULES, does_any_object_rule_check_more_than_usability, does_any_object_rule_run_on_kind, find_rule,
};
pub use finding::{Finding, FindingsOfRule, LineAndColumn, Severity, fold_by_other_object};
pub(crate) use most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
pub use object_context::{ObjectContext, ObjectEvent};
pub use parse_page_of_rule::Page;
pub use pod_context::{PodContext, WhyPodIsChecked};
pub use profiles::NO_PROFILE;
pub use rule_declaration::{Files, MayBeIgnored, PodsChecked, Rule};
pub use which_rules_run::{run_rules_on_object, run_rules_on_pod, run_rules_on_workload};
pub(crate) use workload_context::NotChecked;
pub use workload_context::{FoundAboutTemplate, WorkloadContext, WorkloadTemplate};
